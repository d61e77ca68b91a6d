"""LinkerParts: what a linker carries in files, and the readers of them.

encoder/ is a language model, index/ an alias index; reranker/ is there if the reranker learned,
changes/ and calibration/ if the linker was updated or calibrated. The bytes of the files are the
truth and are mapped into memory.
"""

import shutil
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import srsly

from spacy_bergamot.encoder.lm_folder import LM_FIELDS, LM_KIND, LM_VERSION
from spacy_bergamot.encoder.text_encoder import TextEncoder
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.index.changes import Changes
from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.linking.calibration import Calibration, Groups
from spacy_bergamot.linking.candidates import CandidateGenerator
from spacy_bergamot.linking.errors import BergamotError, Errors
from spacy_bergamot.linking.rerank import Reranker
from spacy_bergamot.linking.settings import LinkerSettings
from spacy_bergamot.linking.unexplained import Unexplained
from spacy_bergamot.linking.updated_generator import UpdatedGenerator, make_generator
from spacy_bergamot.storage.bundle import FileBundle
from spacy_bergamot.storage.manifest import checked_manifest

ENCODER, INDEX, RERANKER = "encoder", "index", "reranker"
CHANGES, CALIBRATION = "changes", "calibration"
NEEDED = (ENCODER, INDEX)
ALL = (*NEEDED, RERANKER, CHANGES, CALIBRATION)


class LinkerParts:
    """Files, checked against each other, and their readers: built now, so that forks share pages.

    bundles (dict[str, FileBundle]): By the names of the parts.
    encoder (TextEncoder), index (AliasIndex), changes (Changes | None), calibration
        (Calibration | None), reranker (Reranker | None), kb (KnowledgeBase), unexplained
        (Unexplained), generator: What reads them.
    scoring (str): What scores depend on, in words.
    """

    def __init__(
        self,
        bundles: Mapping[str, FileBundle],
        settings: LinkerSettings,
        *,
        name: str,
        before: "LinkerParts | None" = None,
    ) -> None:
        self.bundles = dict(bundles)
        self.name = name
        paths = {part: bundle.path for part, bundle in bundles.items()}
        read = (before.encoder, before.index) if before else _opened(paths, settings, name)
        self.encoder: TextEncoder = read[0]
        self.index: AliasIndex = read[1]
        checks = {"checksums": settings.verify}
        self.changes = None
        if CHANGES in paths:
            self.changes = Changes.open(paths[CHANGES], self.index, **checks)
        self.reranker = _reranker(settings, paths.get(RERANKER), self.index, name)
        self.scoring = settings.scored_by(self.reranker)
        self.calibration = None
        if CALIBRATION in paths:
            self.calibration = Calibration.open(
                paths[CALIBRATION], index=self.index.fingerprint, scoring=self.scoring
            )
        elif settings.min_probability is not None:
            raise BergamotError(Errors.B055, name=name)
        self.kb = KnowledgeBase(self.index, self.changes)
        self.unexplained = Unexplained(self.kb)
        self.groups = Groups(*self.kb.tables)
        settings.allowed.check(*self.kb.tables, name=name)
        self._settings = settings
        self.generator = self.hiding(None)

    def hiding(self, aliases: np.ndarray | None) -> CandidateGenerator | UpdatedGenerator:
        """Return the generator as if some aliases of the index (bool) were not there."""
        return make_generator(
            self.encoder,
            self.index,
            self._settings.allowed,
            generator=self._settings.generator,
            changes=self.changes,
            hidden=aliases,
        )

    def with_part(self, part: str, bundle: FileBundle, settings: LinkerSettings) -> "LinkerParts":
        """Return the same with another part: reranker, changes or calibration.

        part (str): Its name.
        bundle (FileBundle): Its files.
        settings (LinkerSettings): Of the linker.
        """
        return LinkerParts({**self.bundles, part: bundle}, settings, name=self.name, before=self)

    @classmethod
    def from_disk(
        cls,
        path: str | Path,
        settings: LinkerSettings,
        *,
        name: str,
        exclude: Iterable[str] = (),
    ) -> "LinkerParts":
        """Map the parts in a folder.

        path (str | Path): The folder.
        settings (LinkerSettings): Of the linker.
        name (str): Of the component, for errors.
        exclude (Iterable[str]): Names of parts that are left out.
        RAISES (BergamotError): If one is missing or damaged.
        """
        folder = Path(path)
        there = [p for p in ALL if p in NEEDED or ((folder / p).is_dir() and p not in exclude)]
        return cls({part: FileBundle(folder / part) for part in there}, settings, name=name)

    @classmethod
    def from_bytes(cls, data: bytes, settings: LinkerSettings, *, name: str) -> "LinkerParts":
        """Restore parts into temporary folders of their own.

        data (bytes): What `to_bytes` returned.
        settings (LinkerSettings): Of the linker.
        name (str): Of the component, for errors.
        RAISES (BergamotError): B035 for other bytes.
        """
        try:
            parts = srsly.msgpack_loads(data)
            there = [part for part in ALL if part in NEEDED or part in parts]
            bundles = {part: FileBundle.from_bytes(parts[part]) for part in there}
        except (ValueError, KeyError, TypeError, AttributeError) as reason:
            raise BergamotError(
                Errors.B035, path="The bytes", name=name, reason=repr(reason)
            ) from None
        return cls(bundles, settings, name=name)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save each part whole or not at all, and remove optional parts that are there no more.

        path (str | Path): The folder.
        exclude (Iterable[str]): Names of parts that are left out.
        """
        for part in ALL:
            if part in self.bundles and part not in exclude:
                self.bundles[part].copy_to(Path(path) / part)
            elif part not in NEEDED:
                shutil.rmtree(Path(path) / part, ignore_errors=True)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the parts as msgpack.

        exclude (Iterable[str]): Names of parts that are left out.
        """
        parts = {
            part: bundle.to_bytes(name=self.name)
            for part, bundle in self.bundles.items()
            if part not in exclude
        }
        return srsly.msgpack_dumps(parts)

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """What every linked document says of where its links come from."""
        manifest = self.index.manifest
        facts = {
            "written_by": manifest["written_by"],
            "lm": manifest["lm_fingerprint"],
            "index": self.index.fingerprint,
            "concepts": len(self.kb),
            "aliases": sum(self.kb.aliases_by_language().values()),
            "sources": {entry["source"]: entry["version"] for entry in manifest["release"]},
        }
        if self.changes is not None:
            facts["changes"] = self.changes.counts
        return facts


def _reranker(
    settings: LinkerSettings, folder: Path | None, index: AliasIndex, name: str
) -> Reranker | None:
    """Return the reranker, with its files if it has learned.

    RAISES (BergamotError): B146 without its files, B148 if it has learned with other generators.
    """
    rerank = settings.rerank
    if rerank is None or not hasattr(rerank, "opened"):
        return rerank
    if folder is None:
        raise BergamotError(Errors.B146, name=name)
    opened = rerank.opened(folder, index=index.fingerprint)
    trained = getattr(opened, "generator", settings.generation)
    if trained != settings.generation:
        raise BergamotError(Errors.B148, name=name, trained=trained, found=settings.generation)
    return opened


def _opened(
    paths: dict[str, Path], settings: LinkerSettings, name: str
) -> tuple[TextEncoder, AliasIndex]:
    """Open language model and index.

    RAISES (BergamotError): B031 if they do not fit.
    """
    verify = settings.verify
    kind: dict[str, Any] = {"kind": LM_KIND, "version": LM_VERSION, "fields": LM_FIELDS}
    with checked_manifest(paths[ENCODER], **kind, checksums=verify) as lm:
        index = AliasIndex.open(paths[INDEX], ef_search=settings.ef_search, checksums=verify)
    found, expected = index.manifest["lm_fingerprint"], lm["fingerprint"]
    if found != expected:
        raise BergamotError(Errors.B031, name=name, found=found[:12], expected=expected[:12])
    encoder = TextEncoder.open(
        paths[ENCODER], device=settings.device, precision=settings.precision, verify=False
    )
    return encoder, index
