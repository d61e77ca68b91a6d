"""Windows: every run of units that may be a mention, and the rows of a dictionary for them."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from spacy_bergamot.hashing import WindowKeys
from spacy_bergamot.mentions.capitals import Capitals
from spacy_bergamot.mentions.dictionary import MentionKeys
from spacy_bergamot.mentions.reading import Reading
from spacy_bergamot.mentions.units import Units, units_of
from spacy_bergamot.name_keys import ABBREVIATION, CAPITALS
from spacy_bergamot.text import lowered, unify

_WORD = 3  # what a word takes of a mention's length; a character of an unspaced script takes 1
_FOREIGN, _FOREIGN_ENGLISH, _FOREIGN_SCRIPT = 9, 7, 4
"""Characters of a name from which on it is no word of another language by accident; of an English
one, which notes in any language have; and of one in Latin letters in a text of another script:
"rash" in Korean."""
_BLOCK = 1 << 15  # units whose windows are in memory together


class Found(NamedTuple):
    """Windows that are aliases: characters of the document, and the row of the dictionary (n,)."""

    starts: np.ndarray
    ends: np.ndarray
    rows: np.ndarray


def find_names(
    reading: Reading,
    known: MentionKeys,
    *,
    max_tokens: int,
    min_length: int,
    languages: np.ndarray,
    others: np.ndarray,
    groups: np.ndarray,
    latin: bool = True,
) -> Found:
    """Return every window of a text that is an alias, in time linear in the text.

    max_tokens, min_length: See `BergamotMentions`. languages, groups: See `Rows.find`.

    reading (Reading): The text.
    known (MentionKeys): The dictionary.
    others (bool (l,)): Languages of names that are marked too unless they are short words, which
        are likely to be words of the text's own language: Dutch "long" in English.
    latin (bool): Whether the text's language is written in Latin letters.
    """
    units = units_of(reading)
    written, gaps = _written(reading.text, units), _gaps(reading.text, units)
    normal = _Line(list(map(lowered, written)), gaps)
    capitals = _Line(written, gaps)
    least = np.where(units.dense, 2, min_length)
    is_latin = np.array([form.isascii() for form in written], dtype=bool)
    in_capitals = Capitals(reading.text).hold(units.starts)
    english = known.of_languages(["ENG"])
    parts = []
    for first, last in _windows(units, _WORD * max_tokens):
        fits = units.ends[last] - units.starts[first] >= least[first]
        fits &= normal.lengths(first, last) <= known.longest
        first, last = first[fits], last[fits]
        keys = normal.keys(first, last)
        rows = known.rows.find(keys, languages=languages, groups=groups)
        if others.any():
            lengths = normal.lengths(first, last)
            anyway = units.unspaced[first] | units.unspaced[last]  # "2型糖尿病"
            if not latin:
                anyway |= is_latin[first] & is_latin[last] & (lengths >= _FOREIGN_SCRIPT)
            for of, least_of in ((others & english, _FOREIGN_ENGLISH), (others, _FOREIGN)):
                more = np.flatnonzero((rows < 0) & (anyway | (lengths >= least_of)))
                rows[more] = known.rows.find(keys[more], languages=of, groups=groups)
        is_short = capitals.lengths(first, last) <= ABBREVIATION
        short = np.flatnonzero(is_short & ~in_capitals[first])
        keys = WindowKeys.behind(CAPITALS, capitals.keys(first[short], last[short]))
        found = known.rows.find(keys, languages=languages | others, groups=groups)
        rows[short] = np.maximum(rows[short], found)
        hit = rows >= 0
        places = reading.places(units.starts[first[hit]], units.ends[last[hit]])
        parts.append(Found(*places, rows[hit]))
    return Found(*map(np.concatenate, zip(*parts, strict=True))) if parts else Found(*_NOTHING)


_NOTHING = [np.empty(0, dtype=np.int64)] * 3


class _Line:
    """The forms of units, one after another, with keys of any run of them."""

    def __init__(self, forms: list[str], gaps: list[str]) -> None:
        before = np.fromiter(map(len, gaps), dtype=np.int64, count=len(gaps))
        sizes = np.fromiter(map(len, forms), dtype=np.int64, count=len(forms))
        self._ends = np.cumsum(before + sizes)
        self._starts = self._ends - sizes
        line = "".join(part for pair in zip(gaps, forms, strict=True) for part in pair)
        self._keys = WindowKeys(line)

    def lengths(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return the characters of runs from a unit to another, both included."""
        return self._ends[last] - self._starts[first]

    def keys(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return the keys of runs from a unit to another, both included."""
        return self._keys(self._starts[first], self._ends[last])


def _written(text: str, units: Units) -> list[str]:
    """Return units in normal form, but with their case.

    A unit by itself has the form that it has in the text: none begins with a mark that joins what
    stands before.
    """
    parts = [text[a:b] for a, b in zip(units.starts.tolist(), units.ends.tolist(), strict=True)]
    forms = {part: unify(part) for part in set(parts)}
    return [forms[part] for part in parts]


def _gaps(text: str, units: Units) -> list[str]:
    """Return what stands before every unit in normal form: a space, or nothing."""
    before = np.concatenate([[0], units.ends[:-1]])[: len(units.starts)]
    gaps = [""] * len(before)
    for unit in np.flatnonzero(units.starts > before).tolist():
        between = text[before[unit] : units.starts[unit]]
        if any(map(str.isspace, between)):
            gaps[unit] = " "
    return gaps


def _windows(units: Units, most: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the first and the last unit of every window, block by block."""
    taken = np.concatenate([[0], np.cumsum(np.where(units.unspaced, 1, _WORD))])
    behind = np.searchsorted(taken, taken[:-1] + most, side="right") - 1
    for start in range(0, len(behind), _BLOCK):
        firsts = np.arange(start, min(start + _BLOCK, len(behind)))
        counts = behind[firsts] - firsts
        first = np.repeat(firsts, counts)
        yield first, first + np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
