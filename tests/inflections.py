"""One other form of a mention by simple rules: a plural, or a case where the language has them.

Not every form is one that a speaker would write, but each ends as words of the language do.
"""

import re

_RULES: dict[str, list[tuple[str, str]]] = {
    # Plurals.
    "ENG": [("(?<=[^aeiou])y$", "ies"), ("(x|ch|sh)$", r"\1es"), ("(?<=[^s])$", "s")],
    "SPA": [("ión$", "iones"), ("z$", "ces"), ("(?<=[aeoéá])$", "s"), ("(?<=[lrndj])$", "es")],
    "FRE": [("(?<=[^e])al$", "aux"), ("(?<=[^sxz])$", "s")],
    "ITA": [("(?<=[cg])a$", "he"), ("a$", "e"), ("io$", "i"), ("[oe]$", "i")],
    "POR": [("ão$", "ões"), ("m$", "ns"), ("al$", "ais"), ("(?<=[aeoêéá])$", "s"), ("r$", "res")],
    "DUT": [("(?<=[^aeiou][aeiou])([bdfgklmprt])$", r"\1\1en"), ("ie$", "ieën"),
            ("(?<=ing)$|(?<=[aeiou]{2}[bdfgklmnprt])$", "en"), ("e$", "es")],
    # A plural, or a genitive.
    "GER": [("e$", "en"), ("(ung|heit|keit|ion)$", r"\1en"), ("(e[rln]|um)$", r"\1s"),
            ("(?<=[bdfgkptm])$", "es")],
    # The accusative of feminines, the genitive of others.
    "RUS": [("ая$", "ую"), ("яя$", "юю"), ("[ыо]й$", "ого"), ("ий$", "его"), ("ия$", "ию"),
            ("а$", "у"), ("я$", "ю"), ("(?<=[бвгджзклмнпрстфхцчшщ])(?<!ом|ем)$", "а")],
    "CZE": [("á$", "ou"), ("ý$", "ého"), ("a$", "u"), ("(?<=[bdfghklmnprtvz])$", "u")],
    "POL": [("a$", "ę"), ("y$", "ego"), ("(?<=[bdfghklmnprtwz])$", "u")],
}  # fmt: skip
_AGREE = frozenset({"SPA", "FRE", "ITA", "POR"})
"""Languages whose adjectives stand behind the noun, and end as it does."""
_ADJECTIVES = {"RUS": re.compile("(?:ая|яя|[ыио]й)$"), "CZE": re.compile("[áý]$"),
               "POL": re.compile("y$")}  # fmt: skip
_PREPOSITION = re.compile(
    r"\b(?:of|in|on|with|de|del|della|di|du|do|da|dos|das|en|em|al|au|aux|à|no|na|van|tipo|type)"
    r"\b|\bd'|\d"
)
"""What ends the part of a mention that is inflected."""


def inflected(mention: str, language: str) -> str:
    """Return a mention in another form; itself where no rule fits, and in capitals.

    language (str): As in MRCONSO.RRF.
    """
    found = _PREPOSITION.search(mention)
    head = mention[: found.start()].rstrip() if found else mention
    if not head or head.isupper():
        return mention
    words, changed = head.split(" "), 0
    for number in _inflected_words(words, language):
        word = words[number]
        for pattern, instead in _RULES.get(language, ()):
            if word.isalpha() and not word.isupper() and re.search(pattern, word):
                words[number] = re.sub(pattern, instead, word, count=1)
                changed += 1
                break
    return " ".join(words) + mention[len(head) :] if changed else mention


def _inflected_words(words: list[str], language: str) -> range:
    """Return the noun and what agrees with it."""
    if language in _AGREE:
        return range(len(words))
    if language in _ADJECTIVES:
        nouns = (n for n, word in enumerate(words) if not _ADJECTIVES[language].search(word))
        return range(next(nouns, len(words) - 1) + 1)
    return range(len(words) - 1, len(words))
