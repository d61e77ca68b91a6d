"""Rows of a dictionary: as plain loops and multisets have them."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_bergamot.mentions.rows import Rows

ROW = st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 1))
ROWS = st.lists(ROW, max_size=12)
FLAGS = [st.lists(st.booleans(), min_size=n, max_size=n).map(np.array) for n in (3, 2)]


def rows_of(rows: list[tuple[int, int, int]]) -> Rows:
    kinds = (np.uint64, np.uint16, np.uint16)
    columns = zip(*rows, strict=True) if rows else ((), (), ())
    return Rows(*(np.array(of, dtype=kind) for of, kind in zip(columns, kinds, strict=True)))


def plain(rows: Rows) -> list[tuple[int, int, int]]:
    return list(zip(*(column.tolist() for column in rows), strict=True))


@given(ROWS, st.lists(st.integers(0, 5), max_size=6), *FLAGS)
def test_the_first_allowed_row_of_a_key_is_found(rows, keys, languages, groups):
    ordered = rows_of(rows).ordered()
    assert plain(ordered) == sorted(rows, key=lambda row: row[0])
    expected = [
        next((n for n, (key, language, group) in enumerate(plain(ordered))
              if key == asked and languages[language] and groups[group]), -1)
        for asked in keys
    ]  # fmt: skip
    found = ordered.find(np.array(keys, dtype=np.uint64), languages=languages, groups=groups)
    assert found.tolist() == expected


@given(ROWS, ROWS)
def test_rows_are_joined_and_taken_away_as_often_as_they_are_there(one, other):
    both = Rows.joined([rows_of(one), rows_of(other)])
    assert plain(both) == [*one, *other]
    assert Counter(plain(rows_of(one).without(rows_of(other)))) == Counter(one) - Counter(other)
    assert sorted(plain(both.without(rows_of(other)))) == sorted(one)
    assert plain(both.of(both.distinct())) == list(dict.fromkeys([*one, *other]))
    assert plain(Rows.joined([])) == []
