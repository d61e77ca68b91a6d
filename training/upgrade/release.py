"""The next release of a knowledge base: its concept table, and what became of retired concepts."""

import shutil
import zipfile
from pathlib import Path
from typing import Any

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.filters import Filters
from spacy_bergamot.kb_import.release import find_table
from training.tables import concept_table_of

MRCUI = "MRCUI"


def release_table(release: Path, old: ConceptTable, target: Path) -> Path:
    """Return the folder of a release's concept table, filtered as the old one was.

    release (Path): RRF folder or archive, ontologies, or a concept table, which is taken as it is.
    target (Path): Where the table of the others is made.
    """
    options = dict(old.manifest.get("options", {}))
    inverses = bool(options.pop("add_inverses", False))
    said: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in options.items()}
    return concept_table_of(release, target, filters=Filters(**said), add_inverses=inverses)


def mrcui_of(release: Path, scratch: Path) -> Path | None:
    """Return the file of a release that says what retired concepts became; None without one.

    scratch (Path): Folder that it is unpacked into, where the release is an archive.
    """
    may_have = release.is_dir() or zipfile.is_zipfile(release)
    source = find_table(release, MRCUI) if may_have else None
    if source is None or source.member is None:
        return source.path if source else None
    unpacked = scratch / f"{MRCUI}.RRF"
    with source.open() as stream, unpacked.open("wb") as out:
        shutil.copyfileobj(stream, out)
    return unpacked
