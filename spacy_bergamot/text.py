"""Normal form of names: what counts as the same string."""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

CONTROLS = r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]"
"""Control characters that are no white space, as a regular expression: no name has any, so that
where one stands the input is damaged."""

_BROKEN = re.compile(rf"{CONTROLS}|[\ud800-\udfff]")
_SOFT_HYPHEN = "\u00ad"
_INVISIBLE = f"{_SOFT_HYPHEN}\u200b\u2060\ufeff"
_NOTHING = dict.fromkeys(map(ord, _INVISIBLE))
_MARKS = "\u0300-\u036f"
_BREAKS = re.compile(
    rf"[-\u2010{_SOFT_HYPHEN}][ \t]*\r?\n[ \t]*(?=[^\W\d_])|[{_INVISIBLE}]+|[{_MARKS}]+"
)
_HALF_WIDTH = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}
_PART = 2  # letters of a part of a word, at least: "x-ray" and "T-cell" are written with a hyphen


def normalize(name: str) -> str:
    r"""Return the normal form of a name; that of a normal form is itself.

    name (str): As it is written.
    RETURNS (str): NFKC, lower case, single spaces, no invisible breaks (soft hyphen and kin).

    >>> normalize("  Crohn’s\u00a0 DISEASE ")
    'crohn’s disease'
    """
    return " ".join(lowered(unify(name)).split())


def unify(name: str) -> str:
    """Return a name in NFKC without invisible breaks; case and spaces stay.

    name (str): As it is written.
    """
    if name.isascii():
        return name
    return unicodedata.normalize("NFKC", name.translate(_NOTHING))


def half_width(text: str) -> str:
    """Return a text with full-width letters, digits and signs as ASCII; it keeps its length.

    text (str): As it is written.

    >>> half_width("ＣＯＰＤ")
    'COPD'
    """
    return text.translate(_HALF_WIDTH)


def lowered(name: str) -> str:
    """Return a name from `unify` in lower case, still in NFKC.

    name (str): In NFKC.
    """
    lower = name.lower()
    if lower.isascii():
        return lower
    # A letter with its mark may be one character in lower case alone, as H̱ is; that of Turkish İ
    # would be i with a dot more.
    return unicodedata.normalize("NFKC", lower).replace("i\u0307", "i")


class Break(NamedTuple):
    """A stretch of a text (characters), and what is read instead."""

    start: int
    end: int
    instead: str


def breaks(text: str, *, whole: bool) -> Iterator[Break]:
    r"""Yield what breaks the words of a text: ends of lines, and characters that nobody sees.

    A letter and its marks, two characters, are one that both stand for.

    text (str): As it is written.
    whole (bool): Whether a hyphen goes too where a line ends: "pneu-\nmonia". It stays beside a
        single letter ("T-\ncell"), and before a capital ("Non-\nHodgkin") unless all are capitals.
    """
    for found in _BREAKS.finditer(text):
        start, end = found.span()
        if text[start] in _INVISIBLE and not text[end - 1].isspace():
            yield Break(start, end, "")
        elif not text[max(0, start - 1) : start].isalpha():
            continue
        elif text[end - 1].isspace():
            before, behind = text[max(0, start - _PART) : start], text[end : end + _PART]
            gone = text[start] == _SOFT_HYPHEN or (whole and _is_one_word(before, behind))
            yield Break(start if gone else start + 1, end, "")
        else:
            yield Break(start - 1, end, unicodedata.normalize("NFC", text[start - 1 : end]))


def _is_one_word(before: str, behind: str) -> bool:
    """Tell whether two parts of a word, their letters at a line's end, make one without hyphen."""
    letters = before + behind
    capitals = letters.isupper() or not behind[0].isupper()
    return len(letters) == 2 * _PART and letters.isalpha() and capitals


def unbroken(text: str) -> str:
    r"""Return a text with words whole that the end of a line breaks (`breaks`).

    text (str): As it is written.

    >>> unbroken("pneu-\nmonia, Non-\nHodgkin")
    'pneumonia, Non-Hodgkin'
    """
    parts, behind = [], 0
    for start, end, instead in breaks(text, whole=True):
        parts += [text[behind:start], instead]
        behind = end
    return "".join([*parts, text[behind:]])


def comma_separated(text: str) -> tuple[str, ...]:
    """Return the parts of an option such as ENG,SPA, without blank ones.

    text (str): As it is given.
    """
    return tuple(filter(None, (part.strip() for part in text.split(","))))


def has_letters(name: str) -> bool:
    """Tell whether a name has a letter or a digit in any script; others name nothing.

    name (str): In any form.
    """
    return any(character.isalnum() for character in name)


def broken_character(name: str) -> str:
    """Return the first character that no name has, such as "U+0000", or an empty string.

    Such are the control characters of `CONTROLS`, and halves of surrogate pairs, which no file can
    hold.

    name (str): In any form.
    """
    found = _BROKEN.search(name)
    return f"U+{ord(found[0]):04X}" if found else ""
