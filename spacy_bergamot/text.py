"""Normal form of names: what counts as the same string."""

import unicodedata

_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))


def normalize(name: str) -> str:
    """Return NFKC, lower case, single spaces, without invisible breaks (soft hyphen and kin).

    >>> normalize("  Crohn’s\\u00a0 DISEASE ")
    'crohn’s disease'
    """
    return " ".join(unify(name).lower().split())


def unify(name: str) -> str:
    """Return NFKC without invisible breaks; case and spaces stay."""
    if name.isascii():
        return name
    return unicodedata.normalize("NFKC", name.translate(_INVISIBLE))


def has_letters(name: str) -> bool:
    """Tell whether a name has a letter or a digit in any script; others name nothing."""
    return any(character.isalnum() for character in name)
