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

_ROW, _TEXT = pa.int32(), pa.large_string()
_LABEL = pa.dictionary(pa.int16(), pa.string())  # of few distinct values


def filled(**types: pa.DataType) -> list[pa.Field]:
    """Return columns that have a value in every row.

    types (pa.DataType): Their types by name.
    """
    return [pa.field(name, kind, nullable=False) for name, kind in types.items()]


SCHEMAS = {
    "concepts": pa.schema([*filled(concept_id=_TEXT, name=_TEXT), pa.field("definition", _TEXT)]),
    "aliases": pa.schema(
        filled(concept=_ROW, alias=_TEXT, language=_LABEL, source=_LABEL, term_type=_LABEL)
    ),
    "types": pa.schema(filled(concept=_ROW, type=_LABEL, group=_LABEL)),
    "codes": pa.schema(filled(concept=_ROW, source=_LABEL, code=_TEXT)),
    "relations": pa.schema(filled(head=_ROW, rel=_LABEL, rela=_LABEL, tail=_ROW, source=_LABEL)),
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
