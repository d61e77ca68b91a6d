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

LEAST_STEM = 8
"""The same of words without their endings; shorter ones are near to too many others."""

MOST = 48
"""Letters of a word beyond which it is left alone; its edits would be many and long."""

_ANY = "?"
_KNOWN = "="
_BEGINS = re.compile(r"(?:\A|[\n:;!?•*)]|(?:\w{4}|\d)\.)[\s\-–(]*\Z")
_NEAR = 12  # characters before a word that tell whether it begins a sentence
_CAPITAL_NOUNS = ("GER",)

Word = tuple[str, str, str]
"""Language, plain form and folded form of a name's word."""


def counted_words(name: str, words: Sequence[FoldedWord], language: str) -> Iterator[Word]:
    """Yield the words of a name by which misspelt ones are corrected.

    words (list[FoldedWord]): See `spacy_bergamot.mentions.folded.folded_name`.
    """
    for start, end, folded in words:
        if name[start:end].isalpha():
            yield language, plain_word(name[start:end]), folded


class Spellings(NamedTuple):
    """Spellings of the words of names, sorted by their keys, the most frequent word first.

    keys (uint64): Of a spelling, in a language. words (uint64): Keys of the folded word that is
        meant. counts (int32): Names that have it.
    """

    keys: np.ndarray
    words: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, words: Counter[Word]) -> "Spellings":
        """Return the spellings of words, by the number of names that have each."""
        texts = [list(_spellings(*word)) for word in words]
        sizes = [len(of) for of in texts]
        meant = string_keys(folded for _, _, folded in words)
        counts = np.fromiter(words.values(), dtype=np.int32, count=len(words))
        keys = string_keys(text for of in texts for text in of)
        return cls._settled(keys, np.repeat(meant, sizes), np.repeat(counts, sizes))

    def plus(self, other: "Spellings") -> "Spellings":
        """Return the spellings of the names of both."""
        return self._settled(*map(np.concatenate, zip(self, other, strict=True)))

    def minus(self, other: "Spellings") -> "Spellings":
        """Return the spellings less those of some of the names."""
        return self.plus(other._replace(counts=-other.counts))

    @classmethod
    def _settled(cls, keys: np.ndarray, words: np.ndarray, counts: np.ndarray) -> "Spellings":
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

    def corrected(self, text: FoldedText, languages: Sequence[str]) -> Corrected:
        """Return the words of a text as they are taken to be meant, by the names of its language.

        languages (list[str]): All that the text may be in; a word of one of them is no mistake.
        """
        changed = np.zeros(len(text.words), dtype=bool)
        doubtful, keys = changed.copy(), text.keys.copy()
        places: dict[tuple[str, str], list[int]] = {}
        for place, (start, end, folded) in enumerate(text.words):
            if folded and LEAST <= end - start <= MOST and text.text[start:end].isalpha():
                word = plain_word(text.text[start:end])
                places.setdefault((word, folded), []).append(place)
        known = self._known(list(places), languages)
        unknown = [word for word, is_known in zip(places, known, strict=True) if not is_known]
        for (word, folded), (meant, alike) in self._meant(unknown, text.language).items():
            at = places[word, folded]
            keys[at], changed[at] = meant, True
            doubtful[at] = not alike and is_usual(word)
        if text.language not in _CAPITAL_NOUNS and not _in_capitals(text.text):
            for place in np.flatnonzero(changed & ~doubtful).tolist():
                doubtful[place] = _may_be_a_name(text.text, text.words[place].start)
        return Corrected(keys, changed, doubtful)

    def _known(
        self, words: Sequence[tuple[str, str]], languages: Sequence[str]
    ) -> np.ndarray:
        """Tell which words are those of names, inflected or not."""
        found = np.zeros(len(words), dtype=bool)
        for code in {*languages, ""}:
            asked = string_keys(f"{code} {_KNOWN}{folded}" for _, folded in words)
            found |= find_keys(self.keys, asked) >= 0
        return found

    def _meant(
        self, words: Sequence[tuple[str, str]], language: str
    ) -> dict[tuple[str, str], tuple[int, bool]]:
        """Return the keys of the words that are meant, and whether only accents differ."""
        texts = [
            (number, text, form == word and edits == 0)
            for number, (word, folded) in enumerate(words)
            for form in _forms(word, folded)
            for edits, text in _edits(form)
        ]
        found: dict[tuple[str, str], tuple[int, int, int]] = {}
        for code in (language, ""):
            rows = find_keys(self.keys, string_keys(f"{code} {text}" for _, text, _ in texts))
            for at in np.flatnonzero(rows >= 0).tolist():
                number, _, alike = texts[at]
                row = rows[at]
                best = (int(alike), int(self.counts[row]), int(self.words[row]))
                found[words[number]] = max(found.get(words[number], best), best)
        return {word: (meant, bool(alike)) for word, (alike, _, meant) in found.items()}


def _forms(word: str, folded: str) -> Iterator[str]:
    """Yield the forms of a word that are compared."""
    if LEAST <= len(word) <= MOST:
        yield word
    if LEAST_STEM <= len(folded) <= MOST and folded != word:
        yield folded


def _spellings(language: str, word: str, folded: str) -> Iterator[str]:
    """Yield what is stored of a name's word."""
    yield f"{language} {_KNOWN}{folded}"
    for form in _forms(word, folded):
        yield f"{language} {form}"
        for at in range(1, len(form) - 1):
            yield f"{language} {form[:at]}{_ANY}{form[at + 1 :]}"


def _edits(word: str) -> Iterator[tuple[int, str]]:
    """Yield a word, and what is stored of words that are one edit away; with the edits."""
    yield 0, word
    for at in range(1, len(word)):
        yield 1, f"{word[:at]}{_ANY}{word[at:]}"
    for at in range(1, len(word) - 1):
        yield 1, f"{word[:at]}{_ANY}{word[at + 1 :]}"
        yield 1, f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}"
        if len(word) > LEAST:
            yield 1, f"{word[:at]}{word[at + 1 :]}"


def _in_capitals(text: str) -> bool:
    """Tell whether most of a text's letters are capitals, so that they mean nothing."""
    return sum(map(str.isupper, text)) > sum(map(str.islower, text))


def _may_be_a_name(text: str, start: int) -> bool:
    """Tell whether a word may be a name of somebody: its capital stands in mid-sentence."""
    return text[start].isupper() and _BEGINS.search(text[max(0, start - _NEAR) : start]) is None
