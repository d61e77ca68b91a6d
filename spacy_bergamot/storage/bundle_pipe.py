"""BundlePipe: a component whose knowledge is files in a folder, mapped and never changed."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import srsly
from spacy.pipeline import Pipe
from spacy.vocab import Vocab

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.storage.bundle import FileBundle


class BundlePipe(Pipe, ABC):
    """Saves, loads and pickles the files of a component.

    settings (dataclass): The arguments, besides vocab and name, that make a component like this
        one.
    """

    def __init__(self, vocab: Vocab, name: str, settings: Any) -> None:
        self.vocab = vocab
        self.name = name
        self.settings = settings
        self.bundle: FileBundle | None = None

    @abstractmethod
    def set_files(self, bundle: FileBundle) -> "BundlePipe":
        """Take files.

        bundle (FileBundle): The files that the component reads from now on.
        """

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the files.

        path (str | Path): Folder.
        exclude (Iterable[str]): Unused: the files are one whole.
        RAISES (BergamotError): B030 if there are none.
        """
        self._saved().copy_to(Path(path))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "BundlePipe":
        """Map the files.

        path (str | Path): Folder.
        exclude (Iterable[str]): Unused: the files are one whole.
        RETURNS (BundlePipe): The component.
        """
        return self.set_files(FileBundle(Path(path)))

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the files as msgpack.

        exclude (Iterable[str]): Unused: the files are one whole.
        RAISES (BergamotError): B030 if there are none, B034 beyond 4 GiB.
        """
        return srsly.msgpack_dumps(self._saved().to_bytes(name=self.name))

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "BundlePipe":
        """Restore the files.

        data (bytes): What `to_bytes` returned.
        exclude (Iterable[str]): Unused: the files are one whole.
        RETURNS (BundlePipe): The component.
        RAISES (BergamotError): B035 for other bytes.
        """
        try:
            bundle = FileBundle.from_bytes(srsly.msgpack_loads(data))
        except (ValueError, TypeError, AttributeError) as reason:
            raise BergamotError(
                Errors.B035, path="The bytes", name=self.name, reason=repr(reason)
            ) from None
        return self.set_files(bundle)

    def __reduce__(self) -> tuple:
        return _unpickle, (type(self), self.vocab, self.name, vars(self.settings), self.bundle)

    def _saved(self) -> FileBundle:
        if self.bundle is None:
            raise BergamotError(Errors.B030, name=self.name)
        return self.bundle


def _unpickle(
    kind: type[Any], vocab: Vocab, name: str, settings: dict[str, Any], bundle: FileBundle | None
) -> Any:
    pipe = kind(vocab, name, **settings)
    if bundle is not None:
        pipe.set_files(bundle)
    return pipe
