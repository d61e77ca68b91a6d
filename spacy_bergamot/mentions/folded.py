"""Mentions that are written otherwise than a name: inflected, reordered, with other hyphens."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from spacy_bergamot.folding import FoldedWord, folded_words, joined_words
from spacy_bergamot.mentions.reading import Reading
from spacy_bergamot.name_keys import LEAST, word_key
from spacy_bergamot.scripts import lacks_spaces, letters

_VOUCHING = 4
"""Letters and digits of the words beside a doubtful correction that make it likely."""

_MOST = 12  # words of a window, articles and the like among them
_JOINS = re.compile(r"[\s\-\u2010-\u2013'’/]{1,3}")
_APOSTROPHES = "'’"


class Windows(NamedTuple):
    """Windows of a text: characters of the document, and the keys of their folded forms.

    starts, ends (int64 (n,)). keys (uint64 (n,)).
    """

    starts: np.ndarray
    ends: np.ndarray
    keys: np.ndarray


class Corrected(NamedTuple):
    """The words of a text as they are taken to be meant (n,).

    keys (uint64): Of their folded forms.
    changed (bool): Whether they are misspelt.
    doubtful (bool): Whether they may be other words as well, such as names of people.
    """

    keys: np.ndarray
    changed: np.ndarray
    doubtful: np.ndarray


class FoldedText:
    """The words of a text by the rules of a language, and the runs of them that may be mentions.

    reading (Reading): The text.
    language (str): As in MRCONSO.RRF.
    words (list[FoldedWord]): Those of scripts with spaces. keys (uint64 (n,)): Of their forms.
    """

    def __init__(self, reading: Reading, language: str, words: list[FoldedWord]) -> None:
        text = reading.text
        self.language = language
        self.reading = reading
        self.words = [word for word in words if not lacks_spaces(word.folded)]
        self.keys = np.array([word_key(word.folded) for word in self.words], dtype=np.uint64)
        self._starts = np.array([word.start for word in self.words], dtype=np.int64)
        self._ends = np.array([word.end for word in self.words], dtype=np.int64)
        self._sizes = np.array([letters(word.folded) for word in self.words], dtype=np.int64)
        parted = [
            _JOINS.fullmatch(text, end, start) is None and end < start
            for end, start in zip(self._ends[:-1].tolist(), self._starts[1:].tolist(), strict=True)
        ]
        self._runs = np.cumsum([0, *parted])[: len(self.words)]
        begin, stop = _borders(reading, self._starts, self._ends)
        self._begin, self._stop = (found & (self._sizes > 0) for found in (begin, stop))

    @classmethod
    def of(cls, reading: Reading, language: str) -> "list[FoldedText]":
        """Return a text as it stands, and with compounds as one word where hyphens part some.

        reading (Reading): The text.
        language (str): As in MRCONSO.RRF.
        """
        words = [read(reading.text, language) for read in (folded_words, joined_words)]
        return [cls(reading, language, of) for of in words if of]

    def windows(self, max_words: int, corrected: Corrected | None = None) -> Windows:
        """Return every run of words whose folded form says enough and that may be a mention.

        It begins and ends at a token's border or behind an apostrophe, with no article, and nothing
        but spaces, hyphens, apostrophes and slashes parts its words.

        max_words (int): Longest run, articles and the like not counted.
        corrected (Corrected | None): Return the runs with a corrected word instead, by the keys
            that they have then; a doubtful correction needs another word beside it.
        """
        begin, keys = self._begin, self.keys
        nothing = np.zeros(len(keys), dtype=bool)
        changed, doubtful = nothing, nothing
        if corrected is not None:
            keys, changed, doubtful = corrected
            behind = _sums(changed)[np.minimum(np.arange(len(keys)) + _MOST, len(keys))]
            begin = begin & (behind > _sums(changed)[:-1])
        vouching = np.where(changed, 0, self._sizes)
        sums = [_sums(of) for of in (keys, self._sizes, self._sizes > 0)]
        marks = [_sums(of) for of in (changed, doubtful, vouching)]
        parts = [_NOTHING]
        for first, last in _pairs(np.flatnonzero(begin), len(keys)):
            key, size, count = (of[last + 1] - of[first] for of in sums)
            fits = self._stop[last] & (self._runs[first] == self._runs[last])
            fits &= (size >= LEAST) & (count <= max_words)
            if corrected is not None:
                changes, doubts, vouched = (of[last + 1] - of[first] for of in marks)
                fits &= (changes > 0) & ((doubts == 0) | (vouched >= _VOUCHING))
            places = self.reading.places(self._starts[first[fits]], self._ends[last[fits]])
            parts.append(Windows(*places, key[fits]))
        return Windows(*map(np.concatenate, zip(*parts, strict=True)))


_NOTHING = Windows(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, np.uint64)))


def _sums(values: np.ndarray) -> np.ndarray:
    """Return the sum of all values before every place, and of all."""
    kind = np.uint64 if values.dtype == np.uint64 else np.int64
    return np.concatenate([np.zeros(1, dtype=kind), np.cumsum(values, dtype=kind)])


def _pairs(first: np.ndarray, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for more in range(_MOST):
        inside = first[first + more < count]
        yield inside, inside + more


def _borders(
    reading: Reading, starts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Say which words may begin a mention, and which may end one."""
    apostrophes = (
        start > 0 and reading.text[start - 1] in _APOSTROPHES for start in starts.tolist()
    )
    behind = np.fromiter(apostrophes, dtype=bool, count=len(starts))
    begin = np.isin(starts, reading.token_starts) | behind
    return begin, np.isin(ends, reading.token_ends)
