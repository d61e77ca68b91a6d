"""Units: what mentions consist of. A token, and in scripts without spaces a part of one."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from spacy_bergamot.mentions.reading import Reading
from spacy_bergamot.scripts import HANGUL, JOINERS, KATAKANA, MARKS, UNSPACED, lacks_spaces

# A run of Katakana is a word. A Thai vowel that is written after its consonant, or before it, is
# never parted from it, nor are marks from what they stand on.
_PARTS = re.compile(
    f"(?P<unspaced>[{KATAKANA}]+[{MARKS}]*"
    "|[\u0e40-\u0e44]?[\u0e01-\u0e2e][\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]*[\u0e30\u0e32\u0e33\u0e45]?"
    f"|[{UNSPACED}][{MARKS}]*)"
    rf"|[^\W{UNSPACED}](?:[^\W{UNSPACED}]|[{MARKS}]|[{JOINERS}](?=[^\W{UNSPACED}]))*"
    "|.",
    re.DOTALL,
)

# What tokenizers leave whole: "fever(-)", "L'IRM" (Ukrainian "м'яз" is one word), Korean particles
# behind Latin letters ("CT에서"), what stands close behind a value and a comma ("2.3,TSH"), and
# "POChP." at the end of a sentence.
_SPACED = re.compile(
    r"[()]|[A-Za-zÀ-ÿ]{1,5}['’](?=[^\W\d_]{2})|[A-Za-z][A-Za-z0-9/+-]*(?=[가-힣])"
    r"|[\d.]+[,;](?=[^\W\d_]{2})|[^()]+"
)
_ENDED = re.compile(r"(?:\w\w|[↑↓])\.\Z")
_END = 3  # characters of what ends so


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


def units_of(reading: Reading) -> Units:
    """Return the units of a text; white space is none.

    reading (Reading): The text.
    """
    found = np.array(list(_units(reading)), dtype=np.int64).reshape(-1, 4)
    return Units(found[:, 0], found[:, 1], found[:, 2].astype(bool), found[:, 3].astype(bool))


def _units(reading: Reading) -> Iterator[tuple[int, int, bool, bool]]:
    starts, ends = reading.token_starts.tolist(), reading.token_ends.tolist()
    for start, end in zip(starts, ends, strict=True):
        token = reading.text[start:end]
        if not lacks_spaces(token):
            if token.isspace():
                continue
            last = end - 1 if _ENDED.search(token, max(0, len(token) - _END)) else end
            for part in _SPACED.finditer(token, 0, last - start):
                dense = HANGUL.match(part[0]) is not None
                yield start + part.start(), start + part.end(), False, dense
            if last < end:
                yield last, end, False, False
            continue
        for part in _PARTS.finditer(token):
            unspaced = part.lastgroup is not None
            dense = unspaced or HANGUL.match(part[0]) is not None
            yield start + part.start(), start + part.end(), unspaced, dense
