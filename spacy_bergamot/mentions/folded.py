"""Mentions that are written otherwise than a name: inflected, reordered, with other hyphens.

The key of a name's folded form is the sum of its words' keys modulo 2⁶⁴, so that their order means
nothing and all windows of a text have theirs by the differences of one running sum.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from spacy.tokens import Doc

from spacy_bergamot.folding import folded_words
from spacy_bergamot.hashing import string_key
from spacy_bergamot.mentions.units import lacks_spaces

LEAST = 4
"""Letters and digits of a folded form below which it says too little."""

_MOST = 12  # words of a window, articles and the like among them
_JOINS = re.compile(r"[\s\-\u2010-\u2013/'’]{1,3}")
_APOSTROPHES = "'’"


class Windows(NamedTuple):
    """Windows of a text: characters (int64 (n,)), and the key of its folded form (uint64 (n,))."""

    starts: np.ndarray
    ends: np.ndarray
    keys: np.ndarray


def folded_key(name: str, language: str) -> int:
    """Return the key of a name's folded form; 0 if it has none, or one that says too little.

    language (str): As in MRCONSO.RRF.
    """
    if lacks_spaces(name):
        return 0
    words = [word.folded for word in folded_words(name, language)]
    if sum(map(len, words)) < LEAST:
        return 0
    return sum(map(_word_key, words)) % 2**64


def folded_windows(doc: Doc, language: str, *, max_words: int) -> Windows:
    """Return every run of words whose folded form says enough and that may be a mention.

    It begins and ends at a token's border or behind an apostrophe, with no article, and nothing but
    spaces, hyphens, slashes and apostrophes parts its words.

    max_words (int): Longest run, articles and the like not counted.
    """
    text = doc.text
    words = [word for word in folded_words(text, language) if not lacks_spaces(word.folded)]
    if not words:
        return Windows(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, np.uint64)))
    starts = np.array([word.start for word in words], dtype=np.int64)
    ends = np.array([word.end for word in words], dtype=np.int64)
    keys = np.array([_word_key(word.folded) for word in words], dtype=np.uint64)
    sizes = np.array([len(word.folded) for word in words], dtype=np.int64)
    parted = [
        _JOINS.fullmatch(text, end, start) is None and end < start
        for end, start in zip(ends[:-1].tolist(), starts[1:].tolist(), strict=True)
    ]
    runs = np.concatenate([[0], np.cumsum(parted)]).astype(np.int64)
    begin, stop = _borders(doc, text, starts, ends)
    begin &= sizes > 0
    stop &= sizes > 0
    sums, letters, counts = (
        np.concatenate([np.zeros(1, dtype=of.dtype), np.cumsum(of)])
        for of in (keys, sizes, (sizes > 0).astype(np.int64))
    )
    parts = []
    for first, last in _pairs(np.flatnonzero(begin), len(words)):
        fits = stop[last] & (runs[first] == runs[last])
        fits &= letters[last + 1] - letters[first] >= LEAST
        fits &= counts[last + 1] - counts[first] <= max_words
        first, last = first[fits], last[fits]
        parts.append(Windows(starts[first], ends[last], sums[last + 1] - sums[first]))
    return Windows(*map(np.concatenate, zip(*parts, strict=True)))


def _pairs(first: np.ndarray, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for more in range(_MOST):
        inside = first[first + more < count]
        yield inside, inside + more


def _borders(
    doc: Doc, text: str, starts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Say which words may begin a mention, and which may end one."""
    tokens = np.fromiter((token.idx for token in doc), dtype=np.int64, count=len(doc))
    behind = np.array([start > 0 and text[start - 1] in _APOSTROPHES for start in starts.tolist()])
    begin = np.isin(starts, tokens) | behind
    return begin, np.isin(ends, tokens + doc.to_array("LENGTH").astype(np.int64))


@lru_cache(maxsize=100_000)
def _word_key(folded: str) -> int:
    """Return the key of a folded word; 0 for one that does not count."""
    return string_key(folded) if folded else 0
