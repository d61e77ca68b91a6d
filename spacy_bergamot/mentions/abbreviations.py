"""Short forms that a text defines: "chronic obstructive pulmonary disease (COPD)".

Schwartz and Hearst 2003, in any script that has parentheses: every character of the short form must
be found in the long form in order, from the right, the first of them at the start of a word.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from spacy_bergamot.languages import lat

_PAIRS = re.compile(r"[(（]([^()（）]{1,120})[)）]")
_WORD = re.compile(r"\S+")
_CLOSING = "\"'”’»*,"
_MOST_WORDS = 2
_REACH = 400  # characters in which a long form is sought


class Definition(NamedTuple):
    """A short form, and where its long form begins and ends in the text that defines it."""

    short: str
    start: int
    end: int


def definitions(text: str) -> dict[str, Definition]:
    """Return what a text defines, by short form; the first definition counts."""
    found: dict[str, Definition] = {}
    for definition in _definitions(text):
        found.setdefault(definition.short, definition)
    return found


def find_abbreviations(text: str) -> dict[str, str]:
    """Return {short form: long form} as a text defines them; the first definition counts."""
    return {short: text[start:end] for short, start, end in definitions(text).values()}


def _definitions(text: str) -> Iterator[Definition]:
    for match in _PAIRS.finditer(text):
        inner = re.split(r"[;,；，]\s|[;；，]", match.group(1))[0].strip()
        end = _end_before(text, match.start())
        # The whole of what stands before, for every pair of parentheses, would take quadratic time.
        before = text[max(0, end - _REACH) : end]
        if _is_short_form(inner):
            long_form = _long_form(inner, before)
            if long_form:
                yield Definition(inner, end - len(long_form), end)
            continue
        # The other way round: COPD (chronic obstructive pulmonary disease).
        last = before.rsplit(None, 1)[-1] if before.split() else ""
        short = last.strip("([{\"'“„«")
        if _is_short_form(short) and _long_form(short, inner) == inner:
            start = text.index(inner, match.start())
            yield Definition(short, start, start + len(inner))


def _end_before(text: str, end: int) -> int:
    """Return where ends what stands before a place, white space and closing quotes left out."""
    while end and (text[end - 1].isspace() or text[end - 1] in _CLOSING):
        end -= 1
    return end


def _is_short_form(text: str) -> bool:
    """2 to 10 characters, at most two words, a letter, and a letter or digit in front."""
    return (
        2 <= len(text) <= 10
        and len(text.split()) <= _MOST_WORDS
        and any(character.isalpha() for character in text)
        and text[0].isalnum()
        and (any(c.isupper() or c.isdigit() for c in text) or not text.isascii())
    )


def _long_form(short: str, before: str) -> str | None:
    """Return the shortest end of `before` that holds the short form's characters in order."""
    most = min(len(short) + 5, 2 * len(short))
    words = list(_WORD.finditer(before[-_REACH:]))[-most:]
    if not words:
        return None
    window = before[-_REACH:][words[0].start() :]
    place = len(window) - 1
    for number in range(len(short) - 1, -1, -1):
        character = short[number].lower()
        if not character.isalnum():
            continue
        while place >= 0 and (
            window[place].lower() != character
            or (number == 0 and place > 0 and window[place - 1].isalnum())
        ):
            place -= 1
        if place < 0:
            return None
        place -= 1
    start = place + 1
    long_form = window[start:].strip()
    if len(long_form) <= len(short) or short.lower() in long_form.lower().split():
        return None
    return long_form


def known_forms(table: Mapping[str, str | Mapping[str, str]], language: str) -> dict[str, str]:
    """Return the long forms of a table that hold for a language: those of all, then its own."""
    forms = {short: long for short, long in table.items() if isinstance(long, str)}
    for code, own in table.items():
        if not isinstance(own, str) and lat(code) == lat(language):
            forms.update(own)
    return forms
