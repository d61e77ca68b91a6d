import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.preprocess.ids import row_finder

CUIS = st.text("0123456789", min_size=7, max_size=7).map("C".__add__)
STRANGE = st.one_of(CUIS, st.text(max_size=9), st.text("CDc09:/\x7fé", min_size=8, max_size=8))


def rows(ids: list[str], asked: list[str]) -> list[int]:
    finder = row_finder(pl.Series(ids, dtype=pl.String))
    frame = pl.LazyFrame({"id": asked}, schema={"id": pl.String})
    found = frame.select(row=finder("id")).collect(engine="streaming")
    assert found["row"].dtype == pl.Int32
    return found["row"].to_list()


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
