"""By which keys names are found: as they are written, and by their folded form.

The key of a folded form is the sum of its words' keys modulo 2⁶⁴, so that their order means
nothing and all windows of a text have theirs by the differences of one running sum.
"""

from functools import lru_cache

from spacy_bergamot.folding import FoldedWord, folded_words
from spacy_bergamot.hashing import string_key
from spacy_bergamot.scripts import lacks_spaces, letters
from spacy_bergamot.text import normalize, unify

ABBREVIATION = 5  # characters; up to here a name in capitals is matched in capitals only
CAPITALS = "="  # stands before these in the text that has their key
LEAST = 4
"""Letters and digits of a folded form below which it says too little."""


def keyed(alias: str) -> str:
    """Return the text whose key an alias has: its normal form, or a short one's capitals.

    alias (str): As it is written.
    """
    written = " ".join(unify(alias).split())
    if len(written) <= ABBREVIATION and written.isupper():
        return CAPITALS + written
    return normalize(alias)


def folded_name(name: str, language: str) -> list[FoldedWord]:
    """Return the words of a name's folded form; none if it has none, or one that says too little.

    language (str): As in MRCONSO.RRF.
    """
    if lacks_spaces(name):
        return []
    words = [word for word in folded_words(name, language) if word.folded]
    return words if sum(letters(word.folded) for word in words) >= LEAST else []


def folded_key(words: list[FoldedWord]) -> int:
    """Return the key of a folded form; 0 for none.

    words (Sequence[str]): The words of the folded form.
    """
    return sum(word_key(word.folded) for word in words) % 2**64


@lru_cache(maxsize=100_000)
def word_key(folded: str) -> int:
    """Return the key of a folded word; 0 for one that does not count."""
    return string_key(folded) if folded else 0
