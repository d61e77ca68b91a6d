import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.preprocess.keys import combined, interned, separated, sorted_distinct

TRIPLES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 2**31 - 1)))
SIZES = (5, 3, 2**31)


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=3)))
def test_interned_strings_are_distinct_and_in_bytewise_order(strings: list[str]) -> None:
    distinct, rows = interned(pl.Series(strings, dtype=pl.String))
    assert distinct.to_list() == sorted(set(strings), key=str.encode)
    assert [distinct[int(row)] for row in rows] == strings


def test_interned_strings_whose_hashes_collide_are_told_apart(monkeypatch) -> None:
    hashed = pl.Series.hash

    def colliding(self: pl.Series, seed: int = 0) -> pl.Series:
        return hashed(self, seed) * (seed > 1)

    monkeypatch.setattr(pl.Series, "hash", colliding)
    distinct, rows = interned(pl.Series(["b", "a", "b", "c"]))
    assert distinct.gather(rows).to_list() == ["b", "a", "b", "c"]


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
