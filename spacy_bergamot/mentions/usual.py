"""Usual words of all languages: what is one is no misspelt name of a disease.

word_pieces.txt.xz has the pieces of XLM-R's vocabulary (Conneau et al. 2020, MIT licence), which
were learned from the web in 100 languages, in scripts with spaces: those that begin words, an empty
line, those that go on. `assets/word_pieces.py` makes it. A word that is one piece, or two, is
usual: so are 19 of 20 running words, and few misspelt ones.
"""

import lzma
from functools import cache, lru_cache
from pathlib import Path

LEAST = 3
"""Letters of a piece that begins a usual word of two."""


@lru_cache(maxsize=100_000)
def is_usual(word: str) -> bool:
    """Tell whether a word is a usual one of any language.

    word (str): In normal form, without accents (`spacy_bergamot.folding.plain_word`).
    """
    begin, go_on = _pieces()
    return word in begin or any(
        word[:end] in begin and word[end:] in go_on for end in range(LEAST, len(word))
    )


@cache
def _pieces() -> tuple[frozenset[str], frozenset[str]]:
    """Return the pieces that begin words, and those that go on."""
    with lzma.open(Path(__file__).with_name("word_pieces.txt.xz"), "rt", encoding="utf8") as lines:
        begin, go_on = lines.read().split("\n\n")
    return frozenset(begin.split("\n")), frozenset(go_on.split("\n"))
