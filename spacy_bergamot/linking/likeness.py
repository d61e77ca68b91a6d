"""How an alias is like a mention, where it is not the same: in which ways writing varies."""

from functools import lru_cache

from spacy_bergamot.languages import lat
from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.mention import Mention
from spacy_bergamot.mentions.misspelt import LEAST
from spacy_bergamot.name_keys import folded_name
from spacy_bergamot.scripts import lacks_spaces
from spacy_bergamot.text import normalize


def likeness(candidate: Candidate, mention: Mention) -> tuple[float, float]:
    """Say whether an alias has the mention's folded form, and else whether that is misspelt.

    candidate (Candidate): With the alias. mention (Mention): What it was found for.
    RETURNS (tuple[float, float]): 1 or 0 each.
    """
    language = candidate.language
    form = _folded_form(candidate.alias, language)
    if form and form == _folded_form(mention.text, mention.language or language):
        return 1.0, 0.0
    return 0.0, float(_is_misspelt(mention.text, normalize(candidate.alias)))


def _is_misspelt(text: str, name: str) -> bool:
    """Tell whether texts differ in one word, which is one edit away from the other's.

    Both words have letters alone and enough of them: "type 1" is no misspelt "type 2".
    """
    words, others = text.split(), name.split()
    if len(words) != len(others):
        return False
    differ = [pair for pair in zip(words, others, strict=True) if pair[0] != pair[1]]
    if len(differ) != 1 or not all(map(_may_be_misspelt, differ[0])):
        return False
    return _one_edit(*differ[0])


def _one_edit(word: str, other: str) -> bool:
    """Tell whether words differ by one letter, or by two neighbours swapped."""
    begin = _alike_from_start(word, other)
    word, other = word[begin:][::-1], other[begin:][::-1]
    end = _alike_from_start(word, other)
    word, other = word[end:], other[end:]
    swapped = len(word) == 2 and word == other[::-1]
    return swapped or max(len(word), len(other)) == 1


def _alike_from_start(word: str, other: str) -> int:
    """Return how many letters words have in common before the first that differs."""
    pairs = enumerate(zip(word, other, strict=False))
    return next((at for at, (one, two) in pairs if one != two), min(len(word), len(other)))


def _may_be_misspelt(word: str) -> bool:
    return len(word) >= LEAST and word.isalpha() and not lacks_spaces(word)


@lru_cache(maxsize=100_000)
def _folded_form(name: str, language: str) -> tuple[str, ...]:
    return tuple(sorted(word.folded for word in folded_name(name, lat(language))))
