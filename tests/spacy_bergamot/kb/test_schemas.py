"""Tables of rows: every table is there, in its schema, with what was given."""

import pytest

from spacy_bergamot.kb.schemas import SCHEMAS, tables_of


def test_rows_are_in_their_columns_and_other_tables_are_empty():
    rows = {
        "concepts": [("C1", "fever", None), ("C2", "cough", "A reflex.")],
        "types": [(0, "T184", "DISO"), (1, "T184", "DISO")],
        "codes": [],
    }
    tables = tables_of(rows)
    assert {name: table.schema for name, table in tables.items()} == SCHEMAS
    for name, table in tables.items():
        assert [tuple(row.values()) for row in table.to_pylist()] == rows.get(name, [])


def test_a_row_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="shorter"):
        tables_of({"concepts": [("C1", "fever")]})
