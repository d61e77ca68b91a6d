"""PartsPipe: a component whose knowledge is the files of `LinkerParts`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from spacy.pipeline import Pipe
from spacy.vocab import Vocab

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.linking.candidates import CandidateGenerator
from spacy_bergamot.linking.settings import LinkerSettings
from spacy_bergamot.linking.updated_generator import UpdatedGenerator
from spacy_bergamot.pipeline.dictionaries import check_dictionaries
from spacy_bergamot.pipeline.parts import LinkerParts
from spacy_bergamot.storage.bundle import FileBundle


class PartsPipe(Pipe):
    """Saves, loads and pickles the parts of a component.

    settings (LinkerSettings): What makes, with vocab and name, a component like this one.
    home (weakref | None): The pipeline that the component is in.
    """

    def __init__(self, vocab: Vocab, name: str, settings: LinkerSettings) -> None:
        self.vocab = vocab
        self.name = name
        self.settings = settings
        self.home: Any = None
        self._parts: LinkerParts | None = None

    @property
    def parts(self) -> LinkerParts:
        """Language model, index and what belongs to them.

        RAISES (BergamotError): B030.
        """
        if self._parts is None:
            raise BergamotError(Errors.B030, name=self.name)
        return self._parts

    @property
    def kb(self) -> KnowledgeBase:
        """The knowledge base of the index.

        RAISES (BergamotError): B030 if there is none.
        """
        return self.parts.kb

    @property
    def generator(self) -> CandidateGenerator | UpdatedGenerator:
        """The candidate generator.

        RAISES (BergamotError): B030 if nothing is loaded.
        """
        return self.parts.generator

    def set_parts(self, parts: LinkerParts) -> "PartsPipe":
        """Take language model, index and what belongs to them.

        parts (LinkerParts): Files and their readers.
        """
        self._parts = parts
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save every part whole or not at all. Settings live in the config.

        path (str | Path): Folder.
        exclude (Iterable[str]): Names of parts that are left out.
        """
        self.parts.to_disk(path, exclude=exclude)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "PartsPipe":
        """Map the parts from a folder and check them against each other.

        path (str | Path): Folder.
        exclude (Iterable[str]): Names of parts that are left out.
        """
        parts = LinkerParts.from_disk(path, self.settings, name=self.name, exclude=exclude)
        return self.set_parts(check_dictionaries(self, parts))

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the parts as msgpack.

        exclude (Iterable[str]): Names of parts that are left out.
        """
        return self.parts.to_bytes(exclude=exclude)

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "PartsPipe":
        """Restore the parts into temporary folders of the component's own.

        data (bytes): What `to_bytes` returned.
        exclude (Iterable[str]): Unused: the bytes say what they hold.
        """
        parts = LinkerParts.from_bytes(data, self.settings, name=self.name)
        return self.set_parts(check_dictionaries(self, parts))

    def __reduce__(self) -> tuple:
        """Pickle the files: Pipe is a Cython class and ignores __getstate__."""
        bundles = self._parts.bundles if self._parts is not None else None
        return _unpickle, (type(self), self.vocab, self.name, self.settings, bundles)


def _unpickle(
    kind: type[Any],
    vocab: Vocab,
    name: str,
    settings: LinkerSettings,
    bundles: dict[str, FileBundle] | None,
) -> Any:
    pipe = kind(vocab, name, settings=settings)
    if bundles is not None:
        pipe.set_parts(LinkerParts(bundles, settings, name=name))
    return pipe
