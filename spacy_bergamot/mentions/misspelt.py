"""Misspelt words: one that is one edit away from a name's word is taken for it.

An edit is a letter too many, too few, or another one, or two neighbours swapped (Damerau 1964). It
is looked up as in SymSpell (Garbe 2012), from both sides, but with a sign in the place of the
letter that differs instead of nothing, so that what is equal is one edit away and no text need be
kept to compare. First letters are right; a last one is no other, as that would be inflection
(*leukemic*, *leukemia*). Words with digits are never corrected, nor usual ones of any language
(`spacy_bergamot.mentions.usual`), unless another word of the name stands beside them.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from spacy_bergamot.folding import FoldedWord, plain_word
from spacy_bergamot.hashing import find_keys, string_keys
from spacy_bergamot.mentions.folded import Corrected, FoldedText
from spacy_bergamot.mentions.usual import is_usual

LEAST = 6
"""Letters of a word that is corrected, and of what it is taken for."""

LEAST_STEM, MOST_ENDING = 8, 3
"""Letters of a word without its ending from which on it is compared too, and of the ending at most:
shorter ones, or what remains of longer endings, are near to too many others."""

MOST = 48
"""Letters of a word beyond which it is left alone; its edits would be many and long."""

_ANY = "?"
_KNOWN = "="
_BEGINS = re.compile(r"(?:\A|[\n:;!?•*)]|(?:\w{4}|\d)\.)[\s\-–(]*\Z")
_NEAR = 12  # characters before a word that tell whether it begins a sentence
_CAPITAL_NOUNS = ("GER",)

_BLOCK = 1 << 12  # words whose edits are in memory together

Word = tuple[str, str, str]
"""Language, plain form and folded form of a name's word."""
_Forms = tuple[str, str]  # the plain and the folded form of a text's word


def counted_words(name: str, words: Sequence[FoldedWord], language: str) -> Iterator[Word]:
    """Yield the words of a name by which misspelt ones are corrected.

    words (list[FoldedWord]): See `spacy_bergamot.mentions.folded.folded_name`.
    language (str): MRCONSO.RRF's code.
    """
    for start, end, folded in words:
        if name[start:end].isalpha():
            yield language, plain_word(name[start:end]), folded


class Spellings(NamedTuple):
    """Spellings of the words of names, sorted by their keys, the most frequent word first.

    keys (uint64): Of a spelling, in a language.
    words (uint64): Keys of the folded word that is meant.
    counts (int32): Names that have it.
    """

    keys: np.ndarray
    words: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, words: Counter[Word]) -> "Spellings":
        """Return the spellings of words, by the number of names that have each."""
        keys = string_keys(text for word in words for text in _spellings(*word))
        sizes = [sum(1 for _ in _spellings(*word)) for word in words]
        meant = string_keys(folded for _, _, folded in words)
        counts = np.fromiter(words.values(), dtype=np.int32, count=len(words))
        return cls._sorted(keys, np.repeat(meant, sizes), np.repeat(counts, sizes))

    def plus(self, other: "Spellings") -> "Spellings":
        """Return the spellings of the names of both.

        other (Spellings): Those of other names.
        """
        return self._sorted(*map(np.concatenate, zip(self, other, strict=True)))

    def minus(self, other: "Spellings") -> "Spellings":
        """Return the spellings less those of some of the names.

        other (Spellings): Those of some of the names.
        """
        return self.plus(other._replace(counts=-other.counts))

    @classmethod
    def _sorted(cls, keys: np.ndarray, words: np.ndarray, counts: np.ndarray) -> "Spellings":
        """Return one row for each spelling and word, in order; what no name has is gone."""
        order = np.lexsort((words, keys))
        keys, words, counts = keys[order], words[order], counts[order]
        same = (keys[1:] == keys[:-1]) & (words[1:] == words[:-1])
        first = np.flatnonzero(np.concatenate([[True], ~same])[: len(keys)])
        sums = np.add.reduceat(counts, first) if len(first) else counts
        keys, words = keys[first], words[first]
        left = np.flatnonzero(sums > 0)
        order = left[np.lexsort((words[left], -sums[left], keys[left]))]
        return cls(keys[order], words[order], sums[order].astype(np.int32))

    def corrected(
        self, text: FoldedText, *, own: Sequence[str], languages: Sequence[str]
    ) -> Corrected:
        """Return the words of a text as they are taken to be meant.

        own (list[str]): Languages of the names that may be meant.
        languages (list[str]): All that the text may be in; a word of a name of them is no mistake.
        """
        changed = np.zeros(len(text.words), dtype=bool)
        doubtful, keys = changed.copy(), text.keys.copy()
        places: dict[_Forms, list[int]] = {}
        for place, (start, end, folded) in enumerate(text.words):
            if folded and LEAST <= end - start <= MOST and text.reading.text[start:end].isalpha():
                word = plain_word(text.reading.text[start:end])
                places.setdefault((word, folded), []).append(place)
        words = list(places)
        capitals = text.language not in _CAPITAL_NOUNS and not _in_capitals(text.reading.text)
        for start in range(0, len(words), _BLOCK):
            block = words[start : start + _BLOCK]
            for forms, meant, alike in self._meant(block, own, languages):
                at = places[forms]
                keys[at], changed[at] = meant, True
                if not alike:
                    doubtful[at] = is_usual(forms[0]) or [
                        capitals and _may_be_a_name(text.reading.text, text.words[place].start)
                        for place in at
                    ]
        return Corrected(keys, changed, doubtful)

    def _meant(
        self, words: Sequence[_Forms], own: Sequence[str], languages: Sequence[str]
    ) -> Iterator[tuple[_Forms, int, bool]]:
        """Yield the words that are misspelt, keys of what is meant, and whether accents alone are.

        Of several words that may be meant, it is the one that most names have.
        """
        is_known = np.zeros(len(words), dtype=bool)
        for code in languages:
            asked = string_keys(f"{code} {_KNOWN}{folded}" for _, folded in words)
            is_known |= find_keys(self.keys, asked) >= 0
        edits = [
            (number, text, alike)
            for number in np.flatnonzero(~is_known).tolist()
            for text, alike in _edits(*words[number])
        ]
        best: dict[int, tuple[bool, int, int]] = {}
        for code in own:
            rows = find_keys(self.keys, string_keys(f"{code} {text}" for _, text, _ in edits))
            for at in np.flatnonzero(rows >= 0).tolist():
                number, _, alike = edits[at]
                found = (alike, int(self.counts[rows[at]]), int(self.words[rows[at]]))
                best[number] = max(best.get(number, found), found)
        for number, (alike, _, meant) in best.items():
            yield words[number], meant, alike


def _forms(word: str, folded: str) -> Iterator[str]:
    """Yield the forms of a word that are compared."""
    if LEAST <= len(word) <= MOST:
        yield word
    short_ending = 0 < len(word) - len(folded) <= MOST_ENDING
    if LEAST_STEM <= len(folded) <= MOST and short_ending:
        yield folded


def _spellings(language: str, word: str, folded: str) -> Iterator[str]:
    """Yield what is stored of a name's word."""
    yield f"{language} {_KNOWN}{folded}"
    for form in _forms(word, folded):
        yield f"{language} {form}"
        for at in range(1, len(form) - 1):
            yield f"{language} {form[:at]}{_ANY}{form[at + 1 :]}"


def _edits(word: str, folded: str) -> Iterator[tuple[str, bool]]:
    """Yield what is stored of words that are alike but for accents, and of those one edit away."""
    for form in _forms(word, folded):
        yield form, form == word
        for at in range(1, len(form)):
            yield f"{form[:at]}{_ANY}{form[at:]}", False
        for at in range(1, len(form) - 1):
            yield f"{form[:at]}{_ANY}{form[at + 1 :]}", False
            yield f"{form[:at]}{form[at + 1]}{form[at]}{form[at + 2 :]}", False
            if len(form) > LEAST:
                yield f"{form[:at]}{form[at + 1 :]}", False


def _in_capitals(text: str) -> bool:
    """Tell whether most of a text's letters are capitals, so that they mean nothing."""
    return sum(map(str.isupper, text)) > sum(map(str.islower, text))


def _may_be_a_name(text: str, start: int) -> bool:
    """Tell whether a word may be a name of somebody: its capital stands in mid-sentence."""
    return text[start].isupper() and _BEGINS.search(text[max(0, start - _NEAR) : start]) is None
