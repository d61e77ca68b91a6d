"""A knowledge base in any form that the project reads, as a concept table."""

from pathlib import Path

from spacy_bergamot.kb.concept_table import KIND
from spacy_bergamot.kb_import.build import make_concept_table
from spacy_bergamot.kb_import.filters import Filters
from spacy_bergamot.storage.files import MANIFEST

_HEAD = 1000


def concept_table_of(
    source: Path, target: Path, *, filters: Filters | None = None, add_inverses: bool = False
) -> Path:
    """Return the folder of a concept table: the source itself if it is one.

    source (Path): Concept table, RRF folder or archive, ontology or table.
    target (Path): Where the table of the others is made.
    filters (Filters | None), add_inverses (bool): As `make_concept_table` takes them.
    RAISES (BergamotError): As reading the source does.
    """
    if is_concept_table(source):
        return source
    make_concept_table([source], target, filters=filters or Filters(), add_inverses=add_inverses)
    return target


def is_concept_table(path: Path) -> bool:
    """Return whether a folder is a concept table."""
    manifest = path / MANIFEST
    return manifest.is_file() and f'"{KIND}"' in manifest.read_text(encoding="utf8")[:_HEAD]
