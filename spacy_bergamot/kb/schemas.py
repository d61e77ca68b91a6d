"""The tables of a concept table and their columns; each is a file NAME.arrow.

- concepts    concept_id, name (preferred), definition (nullable); sorted by concept_id. The row of
  a concept is its node in the graph.
- aliases     concept (row), alias, language, source, term_type; sorted by concept; one row per
  distinct (concept, language, alias), with the source and term type that rank first.
- types       concept (row), type (TUI), group; sorted by concept.
- codes       concept (row), source, code; sorted by concept.
- relations   head (row), rel, rela, tail (row), source; sorted by head. Head is MRREL's CUI1 and
  tail its CUI2: `rel` and `rela` say what the tail is to the head.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

SCHEMAS = {
    "concepts": pa.schema(
        [
            pa.field("concept_id", pa.large_string(), nullable=False),
            pa.field("name", pa.large_string(), nullable=False),
            pa.field("definition", pa.large_string()),
        ]
    ),
    "aliases": pa.schema(
        [
            pa.field("concept", pa.int32(), nullable=False),
            pa.field("alias", pa.large_string(), nullable=False),
            pa.field("language", pa.dictionary(pa.int16(), pa.string()), nullable=False),
            pa.field("source", pa.dictionary(pa.int16(), pa.string()), nullable=False),
            pa.field("term_type", pa.dictionary(pa.int16(), pa.string()), nullable=False),
        ]
    ),
    "types": pa.schema(
        [
            pa.field("concept", pa.int32(), nullable=False),
            pa.field("type", pa.dictionary(pa.int16(), pa.string()), nullable=False),
            pa.field("group", pa.dictionary(pa.int16(), pa.string()), nullable=False),
        ]
    ),
    "codes": pa.schema(
        [
            pa.field("concept", pa.int32(), nullable=False),
            pa.field("source", pa.dictionary(pa.int16(), pa.string()), nullable=False),
            pa.field("code", pa.large_string(), nullable=False),
        ]
    ),
    "relations": pa.schema(
        [
            pa.field("head", pa.int32(), nullable=False),
            pa.field("rel", pa.dictionary(pa.int16(), pa.string()), nullable=False),
            pa.field("rela", pa.dictionary(pa.int16(), pa.string()), nullable=False),
            pa.field("tail", pa.int32(), nullable=False),
            pa.field("source", pa.dictionary(pa.int16(), pa.string()), nullable=False),
        ]
    ),
}


def tables_of(rows: Mapping[str, Sequence[tuple[Any, ...]]]) -> dict[str, pa.Table]:
    """Return all tables of a concept table, made of rows.

    rows (dict[str, list[tuple]]): Rows by the name of their table, each with its fields in the
        order of `SCHEMAS`, sorted as above; a table that is not named has none.
    """
    tables = {}
    for name, schema in SCHEMAS.items():
        columns = zip(*rows[name], strict=True) if rows.get(name) else [()] * len(schema)
        arrays = [
            pa.array(column).cast(field.type) for field, column in zip(schema, columns, strict=True)
        ]
        tables[name] = pa.table(arrays, schema=schema)
    return tables
