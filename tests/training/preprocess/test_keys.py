import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_bergamot.kb_import.keys import (
    combined,
    first_rows,
    interned,
    separated,
    sorted_distinct,
    sorted_ids,
)
from training.preprocess.hashing import string_hashes

TRIPLES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 2**31 - 1)))
SIZES = (5, 3, 2**31)


STRINGS = st.lists(st.text(st.characters(codec="utf-8"), max_size=3))


@given(STRINGS)
def test_interned_strings_are_distinct_and_in_order_of_appearance(strings: list[str]) -> None:
    array = pa.array(strings, pa.large_string())
    examples, rows = interned(array, string_hashes(array))
    distinct = [strings[row] for row in examples]
    assert distinct == list(dict.fromkeys(strings))
    assert [distinct[row] for row in rows] == strings


@given(STRINGS)
def test_sorted_ids_are_in_bytewise_order(strings: list[str]) -> None:
    distinct, rows = sorted_ids(pa.array(strings, pa.large_string()))
    assert distinct.to_list() == sorted(set(strings), key=str.encode)
    assert [distinct[int(row)] for row in rows] == strings


@given(st.lists(st.text(["C", "0", "1", "\x7f"], min_size=6, max_size=6)))
def test_sorted_ids_of_eight_bytes_are_in_bytewise_order(texts: list[str]) -> None:
    strings = [text[:3] + "é" + text[3:] for text in texts]
    distinct, rows = sorted_ids(pa.array(strings, pa.large_string()))
    assert distinct.to_list() == sorted(set(strings), key=str.encode)
    assert [distinct[int(row)] for row in rows] == strings


@given(st.lists(st.tuples(st.integers(0, 2), st.text("ab", max_size=1))))
def test_first_rows_are_the_first_alike(rows: list[tuple[int, str]]) -> None:
    frame = pl.DataFrame(rows, schema={"a": pl.Int32, "b": pl.String}, orient="row")
    assert first_rows(frame).tolist() == [rows.index(row) for row in rows]


def test_rows_whose_hashes_collide_are_told_apart(monkeypatch) -> None:
    hashed = pl.DataFrame.hash_rows

    def colliding(self: pl.DataFrame, seed: int = 0) -> pl.Series:
        return hashed(self, seed) * (seed > 1)

    monkeypatch.setattr(pl.DataFrame, "hash_rows", colliding)
    assert first_rows(pl.DataFrame({"a": ["x", "y", "x", "z"]})).tolist() == [0, 1, 0, 3]
    strings = pa.array(["b", "a", "b", "c"], pa.large_string())
    examples, rows = interned(strings, np.zeros(4, dtype=np.uint64))
    assert (examples.tolist(), rows.tolist()) == ([0, 1, 3], [0, 1, 0, 2])


def test_hashes_of_equal_upper_bits_are_told_apart(monkeypatch) -> None:
    values = {"x": 5 << 32, "y": (5 << 32) + 1, "z": 7 << 32}

    def hashed(self: pl.DataFrame, seed: int = 0) -> pl.Series:
        return self["a"].replace_strict(values, return_dtype=pl.UInt64)

    monkeypatch.setattr(pl.DataFrame, "hash_rows", hashed)
    assert first_rows(pl.DataFrame({"a": [*"zyxxyz"]})).tolist() == [0, 1, 2, 2, 1, 0]


@given(TRIPLES)
def test_combined_columns_sort_as_their_rows_and_come_apart_again(rows: list[tuple]) -> None:
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    keys = combined(columns, SIZES)
    assert np.argsort(keys, kind="stable").tolist() == sorted(
        range(len(rows)), key=rows.__getitem__
    )
    assert np.array_equal(separated(keys, SIZES), columns)


@given(st.lists(st.integers(-5, 5)))
def test_sorted_distinct(numbers: list[int]) -> None:
    assert sorted_distinct(np.array(numbers, dtype=np.int64)).tolist() == sorted(set(numbers))


def test_what_has_no_number_is_refused():
    column = np.array([0], dtype=np.int64)
    combined([column] * 3, [1 << 20, 1 << 21, 1 << 21])
    with pytest.raises(OverflowError):
        combined([column] * 3, [1 << 21] * 3)
