"""Units: what mentions consist of. A token, and in scripts without spaces a part of one."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from spacy_bergamot.mentions.reading import Reading

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_HIRAGANA = "\u3041-\u309f"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_THAI = "\u0e01-\u0e4f"
_PUNCTUATION = (  # wide, so that tokenizers which know spaces only leave it inside of tokens
    "\u3001-\u3004\u3008-\u3020\u3030\u303d\u30a0\u30fb\ufe30-\ufe4f"
    "\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
_UNSPACED = f"{_HAN}{_HIRAGANA}{_KATAKANA}{_THAI}"
_MARKS = "\u0300-\u036f\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef"
_JOINERS = "\u200c\u200d"
_HANGUL = re.compile("[\uac00-\ud7a3]")
_NEEDS_PARTS = re.compile(f"[{_UNSPACED}{_PUNCTUATION}]")
# A run of Katakana is a word. A Thai vowel that is written after its consonant, or before it, is
# never parted from it, nor are marks from what they stand on.
_PARTS = re.compile(
    f"(?P<unspaced>[{_KATAKANA}]+[{_MARKS}]*"
    "|[\u0e40-\u0e44]?[\u0e01-\u0e2e][\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]*[\u0e30\u0e32\u0e33\u0e45]?"
    f"|[{_UNSPACED}][{_MARKS}]*)"
    rf"|[^\W{_UNSPACED}](?:[^\W{_UNSPACED}]|[{_MARKS}]|[{_JOINERS}](?=[^\W{_UNSPACED}]))*"
    "|.",
    re.DOTALL,
)


class Units(NamedTuple):
    """Parts of a text in order.

    starts, ends (int64 (n,)): Characters of the text.
    unspaced (bool (n,)): Whether it is of a script without spaces.
    dense (bool (n,)): Whether two of its characters are enough for a name: those, and Korean ones.
    """

    starts: np.ndarray
    ends: np.ndarray
    unspaced: np.ndarray
    dense: np.ndarray


def lacks_spaces(text: str) -> bool:
    """Tell whether a text has a script without spaces, or its punctuation, so that it has parts.

    text (str): Any text.
    """
    return not text.isascii() and _NEEDS_PARTS.search(text) is not None


def units_of(reading: Reading) -> Units:
    """Return the units of a text; white space is none.

    reading (Reading): The text.
    """
    found = np.array(list(_units(reading)), dtype=np.int64).reshape(-1, 4)
    return Units(found[:, 0], found[:, 1], found[:, 2].astype(bool), found[:, 3].astype(bool))


def letters(word: str) -> int:
    """Return how many letters a word has; a Korean syllable counts as two, of two or three.

    word (str): Any word.
    """
    return len(word) + (0 if word.isascii() else len(_HANGUL.findall(word)))


def _units(reading: Reading) -> Iterator[tuple[int, int, bool, bool]]:
    starts, ends = reading.token_starts.tolist(), reading.token_ends.tolist()
    for start, end in zip(starts, ends, strict=True):
        token = reading.text[start:end]
        if not lacks_spaces(token):
            if not token.isspace():
                yield start, end, False, _HANGUL.match(token) is not None
            continue
        for part in _PARTS.finditer(token):
            unspaced = part.lastgroup is not None
            dense = unspaced or _HANGUL.match(part[0]) is not None
            yield start + part.start(), start + part.end(), unspaced, dense
