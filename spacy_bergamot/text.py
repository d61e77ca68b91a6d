"""Normal form of names: what counts as the same string."""

import unicodedata

_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))


def normalize(name: str) -> str:
    """Return NFKC, lower case, single spaces, without invisible breaks (soft hyphen and kin).

    >>> normalize("  Crohn’s\\u00a0 DISEASE ")
    'crohn’s disease'
    """
    if name.isascii():
        return " ".join(name.lower().split())
    folded = unicodedata.normalize("NFKC", name.translate(_INVISIBLE)).lower()
    return " ".join(folded.split())


def has_letters(name: str) -> bool:
    """Tell whether a name has a letter or a digit in any script; others name nothing."""
    return any(character.isalnum() for character in name)
