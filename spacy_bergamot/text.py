"""Normal form of names: what counts as the same string."""

import re
import unicodedata

CONTROLS = r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]"
"""Control characters that are no white space, as a regular expression: no name has any, so that
where one stands the input is damaged."""

_BROKEN = re.compile(rf"{CONTROLS}|[\ud800-\udfff]")
_LINE_END = re.compile(r"(?<=[^\W\d_])([-\u2010])\r?\n[ \t]*(?=([^\W\d_]))")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))


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
    return unicodedata.normalize("NFKC", name.translate(_INVISIBLE))


def lowered(name: str) -> str:
    """Return a name from `unify` in lower case, still in NFKC.

    name (str): In NFKC.
    """
    lower = name.lower()
    # A letter with its mark may be one character in lower case alone, as H̱ is.
    return lower if lower.isascii() else unicodedata.normalize("NFKC", lower)


def unbroken(text: str) -> str:
    r"""Return a text with words whole that the end of a line breaks; a capital keeps its hyphen.

    text (str): As it is written.

    >>> unbroken("pneu-\nmonia, Non-\nHodgkin")
    'pneumonia, Non-Hodgkin'
    """
    return _LINE_END.sub(lambda found: found[1] if found[2].isupper() else "", text)


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
