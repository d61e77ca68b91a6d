"""Rows of several lengths, as by plain loops."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_bergamot.ragged import expand, ranges


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 4)), max_size=6))
def test_one_range_stands_after_another(pairs: list[tuple[int, int]]):
    starts, sizes = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    expected = [number for start, size in pairs for number in range(start, start + size)]
    assert ranges(starts, sizes).tolist() == expected


@given(st.lists(st.lists(st.integers(0, 9), max_size=4), min_size=1), st.data())
def test_rows_of_a_csr_array_are_expanded(rows: list[list[int]], data: st.DataObject):
    asked = data.draw(st.lists(st.integers(0, len(rows) - 1)))
    indptr = np.cumsum([0, *map(len, rows)])
    values = np.array([value for row in rows for value in row], dtype=np.int32)
    found, owners = expand(indptr, values, np.array(asked, dtype=np.int64))
    assert found.tolist() == [value for row in asked for value in rows[row]]
    assert owners.tolist() == [number for number, row in enumerate(asked) for _ in rows[row]]
    assert found.dtype == np.int32
