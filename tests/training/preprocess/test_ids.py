import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_bergamot.kb_import.ids import row_finder

CUIS = st.text("0123456789", min_size=7, max_size=7).map("C".__add__)
STRANGE = st.one_of(CUIS, st.text(max_size=9), st.text("CDc09:/\x7fé", min_size=8, max_size=8))


def rows(ids: list[str], asked: list[str]) -> list[int]:
    found = row_finder(pl.Series(ids, dtype=pl.String))(pa.array(asked, pa.large_string()))
    assert found.dtype == np.int32
    return found.tolist()


def expected(ids: list[str], asked: list[str]) -> list[int]:
    return [ids.index(text) if text in ids else -1 for text in asked]


@given(st.lists(CUIS, unique=True), st.lists(STRANGE), st.data())
def test_rows_of_ids_like_those_of_umls(ids: list[str], others: list[str], data) -> None:
    own = data.draw(st.lists(st.sampled_from(ids))) if ids else []
    assert rows(ids, own + others) == expected(ids, own + others)


@given(st.lists(st.text(max_size=9), unique=True), st.lists(st.text(max_size=9)))
def test_rows_of_any_ids(ids: list[str], others: list[str]) -> None:
    assert rows(ids, ids + others) == expected(ids, ids + others)


@pytest.mark.parametrize(
    "near", ["C000001:", "C00000/1", "B0000001", "c0000001", "C0000002", "C9999999", "C000001é"]
)
def test_what_is_almost_an_id_has_no_row(near: str) -> None:
    assert rows(["C0000001", "C0000010"], [near, "C0000010", "C0000001"]) == [-1, 1, 0]


def test_ids_whose_hashes_collide_are_told_apart(monkeypatch) -> None:
    hashed = pl.Series.hash
    monkeypatch.setattr(pl.Series, "hash", lambda self, seed=0: hashed(self, seed) * (seed > 1))
    assert rows(["a", "b", "c"], ["c", "a", "b", "d"]) == [2, 0, 1, -1]


def test_what_has_the_hash_of_an_id_is_not_taken_for_it(monkeypatch) -> None:
    monkeypatch.setattr(
        pl.Series, "hash", lambda self, seed=0: self.str.len_bytes().cast(pl.UInt64)
    )
    assert rows(["a", "bb"], ["a", "x", "bb", "yy"]) == [0, -1, 1, -1]
