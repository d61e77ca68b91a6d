"""Rows of a dictionary: a key, a language and a semantic group each."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spacy_bergamot.hashing import find_keys


class Rows(NamedTuple):
    """Rows of the dictionary: key (uint64), language and group (uint16 numbers)."""

    keys: np.ndarray
    languages: np.ndarray
    groups: np.ndarray

    def find(self, keys: np.ndarray, *, languages: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """Return the first row of every key that is allowed, int64; -1 where there is none.

        keys (uint64 (n,)): Keys.
        languages (bool (l,)), groups (bool (g,)): Which of the numbers are allowed.
        """
        rows = find_keys(self.keys, keys)
        asked = np.flatnonzero(rows >= 0)
        while len(asked):
            at = rows[asked]
            fits = languages[self.languages[at]] & groups[self.groups[at]]
            asked, after = asked[~fits], np.minimum(at[~fits] + 1, len(self.keys) - 1)
            same = (self.keys[after] == keys[asked]) & (after > at[~fits])
            rows[asked] = np.where(same, after, -1)
            asked = asked[same]
        return rows

    def of(self, rows: np.ndarray) -> "Rows":
        """Return some of the rows.

        rows (int64 (n,)): Numbers of the rows.
        """
        return Rows(*(column[rows] for column in self))

    def distinct(self) -> np.ndarray:
        """Return which rows are the first of their kind, int64, in their order."""
        order = np.lexsort((np.arange(len(self.keys)), self.groups, self.languages, self.keys))
        same = [column[order][1:] == column[order][:-1] for column in self]
        first = order[np.concatenate([[True], ~np.logical_and.reduce(same)])[: len(order)]]
        return np.sort(first)

    def ordered(self) -> "Rows":
        """Return the rows in the order of their keys; equal keys stay in theirs."""
        return self.of(np.argsort(self.keys, kind="stable"))

    def without(self, other: "Rows") -> "Rows":
        """Return the rows less those of another, as often as it has them.

        other (Rows): Rows, in any order.
        """
        both = Rows.joined([self, other])
        order = np.lexsort((both.groups, both.languages, both.keys))
        same = [column[order][1:] == column[order][:-1] for column in both]
        new = np.concatenate([[True], ~np.logical_and.reduce(same)])[: len(order)]
        kinds = np.empty(len(order), dtype=np.int64)
        kinds[order] = np.cumsum(new) - 1
        gone = np.bincount(kinds[len(self.keys) :], minlength=len(order))
        left = order[order < len(self.keys)]
        kind = kinds[left]
        place = np.arange(len(left)) - np.searchsorted(kind, kind)
        return self.of(np.sort(left[place >= gone[kind]]))

    @classmethod
    def joined(cls, parts: "Sequence[Rows]") -> "Rows":
        """Return rows behind one another, whatever their number.

        parts (Sequence[Rows]): Rows; none where it is empty.
        """
        empty = cls(*(np.empty(0, dtype=kind) for kind in (np.uint64, np.uint16, np.uint16)))
        return cls(*map(np.concatenate, zip(empty, *parts, strict=True)))
