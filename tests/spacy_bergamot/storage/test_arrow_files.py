"""Tables come back from their files as they were, in one piece."""

from pathlib import Path

import pyarrow as pa
import pytest

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.storage.arrow_files import read_arrow, write_arrow


def test_a_table_in_chunks_comes_back_in_one_with_one_dictionary(tmp_path: Path):
    chunks = [pa.array(words).dictionary_encode() for words in (["a", "b"], ["c", "a"])]
    table = pa.table({"word": pa.chunked_array(chunks), "number": [1, 2, 3, 4]})
    write_arrow(tmp_path / "t.arrow", table)
    read = read_arrow(tmp_path / "t.arrow")
    assert read.to_pylist() == table.to_pylist()
    assert [read.column(name).num_chunks for name in read.column_names] == [1, 1]


def test_an_empty_table_keeps_its_columns(tmp_path: Path):
    schema = pa.schema([("word", pa.string())])
    write_arrow(tmp_path / "t.arrow", schema.empty_table())
    assert read_arrow(tmp_path / "t.arrow").schema == schema


def test_a_missing_file_and_another_form_are_named(tmp_path: Path):
    with pytest.raises(BergamotError, match=r"B001.*t\.arrow"):
        read_arrow(tmp_path / "t.arrow")
    (tmp_path / "t.arrow").write_text("no table")
    with pytest.raises(BergamotError, match=r"B002.*t\.arrow"):
        read_arrow(tmp_path / "t.arrow")
