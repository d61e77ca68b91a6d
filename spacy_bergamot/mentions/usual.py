"""Usual words of all languages: what is one is no misspelt word of a name.

word_pieces.txt.xz has the pieces of XLM-R's vocabulary (Conneau et al. 2020, MIT licence) in
scripts with spaces, which were learned from the web in 100 languages: those that begin words, an
empty line, those that end them. `assets/word_pieces.py` makes it. A word of one piece, or of two,
is usual; what is misspelt mostly falls into more.
"""

import lzma
from functools import cache, lru_cache
from pathlib import Path

LEAST, MOST = 3, 5
"""Letters of the piece that begins a usual word of two, at least, and of the other, at most."""


@lru_cache(maxsize=100_000)
def is_usual(word: str) -> bool:
    """Tell whether a word is a usual one of any language.

    word (str): In normal form, without accents (`spacy_bergamot.folding.plain_word`).
    """
    begin, end = _pieces()
    first = max(LEAST, len(word) - MOST)
    return word in begin or any(
        word[:at] in begin and word[at:] in end for at in range(first, len(word))
    )


@cache
def _pieces() -> tuple[frozenset[str], frozenset[str]]:
    """Return the pieces that begin words, and those that end them."""
    with lzma.open(Path(__file__).with_name("word_pieces.txt.xz"), "rt", encoding="utf8") as lines:
        begin, end = lines.read().split("\n\n")
    return frozenset(begin.split("\n")), frozenset(end.split("\n"))
