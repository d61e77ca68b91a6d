"""The one writer of RRF: what it writes, the reader reads."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_bergamot.kb_import.errors import BergamotError
from spacy_bergamot.kb_import.release import find_table
from spacy_bergamot.kb_import.rrf import COLUMNS, RrfTable
from spacy_bergamot.kb_import.rrf_writer import rrf_line, write_rrf

VALUES = st.text(st.characters(exclude_characters="|\r\n", exclude_categories=["Cs"]), min_size=1)


@pytest.mark.parametrize("table", COLUMNS)
def test_rows_come_back_by_their_columns(tmp_path: Path, table: str):
    columns = COLUMNS[table].split()
    whole = {column: f"{column} of {table}" for column in columns}
    sparse = dict.fromkeys(reversed(columns[:-2]), "x")
    assert write_rrf(tmp_path, {table: iter([whole, sparse])}) == {table: 2}
    source = find_table(tmp_path, table)
    assert source is not None
    read = RrfTable(table, source).frame(*columns).to_dicts()
    assert read == [whole, {**dict.fromkeys(columns, ""), **sparse}]


@given(VALUES)
def test_any_other_text_is_a_value(value: str):
    line = rrf_line("MRCONSO", {"CUI": "C1", "STR": value})
    fields = line.split("|")
    assert (len(fields), fields[0], fields[14]) == (19, "C1", value)


@pytest.mark.parametrize("value", ["a|b", "a\nb", "a\rb"])
def test_what_a_field_cannot_hold_is_refused_and_nothing_is_written(tmp_path: Path, value: str):
    rows = [{"CUI": "C1", "STR": "a"}, {"CUI": "C2", "STR": value}]
    with pytest.raises(BergamotError, match=r"T360.*MRCONSO.*C2"):
        write_rrf(tmp_path, {"MRCONSO": rows})
    assert not list(tmp_path.iterdir())
