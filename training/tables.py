"""A knowledge base in any form that the project reads, as a concept table; names of two of them."""

from pathlib import Path

import polars as pl

from spacy_bergamot.kb.concept_table import KIND, ConceptTable
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


def concepts_of(table: ConceptTable) -> pl.DataFrame:
    """Return concept_id and name of every concept, in the order of the table."""
    return pl.DataFrame(pl.from_arrow(table.concepts.select(["concept_id", "name"])))


def names_of(table: ConceptTable) -> pl.DataFrame:
    """Return the names of concepts: concept_id, alias, language; each once."""
    ids = concepts_of(table)["concept_id"]
    names = pl.DataFrame(pl.from_arrow(table.aliases.select(["concept", "alias", "language"])))
    return names.select(
        "alias",
        concept_id=ids.gather(names["concept"]),
        language=pl.col("language").cast(pl.String),
    )


def with_a_name_in_common(one: ConceptTable, other: ConceptTable) -> pl.Series:
    """Return the ids that have one alias, whatever its case, in both tables."""
    lower = pl.col("alias").str.to_lowercase()
    first, second = (names_of(table).with_columns(lower) for table in (one, other))
    both = first.join(second, on=["concept_id", "alias"], how="semi")
    return both["concept_id"].unique()
