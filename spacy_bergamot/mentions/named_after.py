"""What is named after a disorder and is none: "influenza swab", "vaccin contre la grippe".

named_after.tsv has, by language, the words that stand before or after the name of such a test,
vaccine, ward, group or leaflet.
"""

import csv
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from spacy_bergamot.languages import lat
from spacy_bergamot.mentions.language import coordinators
from spacy_bergamot.mentions.not_mentions import Stretch
from spacy_bergamot.scripts import UNSPACED, lacks_spaces

DISORDER = "DISO"
"""The semantic group of disorders."""
_TABLE = "named_after.tsv"
_REACH = 60  # characters before a name in which the words may stand
_GAP = r"[ \t\u00a0]?-?[ \t\u00a0]?"
_ARTICLE = r"(?:(?:the|la|le|les|el|los|las|il|lo|gli|o|a|das|die|den|der|de|het) |l['’])?"
_WORD = rf"[^\W{UNSPACED}]{{1,20}}"
_OTHER = rf"(?:{_WORD}(?:[ -]{_WORD})?|[{UNSPACED}]{{1,5}})"
"""A name that is joined with one: "influenza and RSV swabs"."""


class _Beside(NamedTuple):
    """Patterns of words beside a name: they end where it begins, or begin where it ends."""

    before: re.Pattern[str]
    after: re.Pattern[str]


def named_after(text: str, places: Iterable[Stretch], languages: Sequence[str]) -> set[Stretch]:
    """Return the places of names after which something is named.

    text (str): Of the document.
    places (Iterable[Stretch]): Where names are.
    languages (Sequence[str]): That the text is in, or may be in.
    """
    beside = _beside(tuple(map(lat, languages)))
    return {
        (start, end)
        for start, end in places
        if beside.after.match(text, end)
        or beside.before.search(text, max(0, start - _REACH), start)
    }


@cache
def _beside(languages: tuple[str, ...]) -> _Beside:
    sides = {"before": [r"(?!)"], "after": [r"(?!)"]}
    for language in languages:
        for where, words in _by_language().get(language, ()):
            is_open = lacks_spaces(words)  # other letters may be beside them
            first, last = ("", "") if is_open else (r"(?<!\w)", r"(?!\w)")
            sides[where].append(f"{first}{re.escape(words)}{last}")
    joints = "|".join(["[/&、]", *map(re.escape, sorted(coordinators(languages)))])
    joint = rf"[ \t]*(?:{joints})[ \t]*"
    before, after = ("|".join(of) for of in sides.values())
    return _Beside(
        re.compile(rf"(?:{before}){_GAP}(?:{_OTHER}{joint}{_ARTICLE})?\Z", re.IGNORECASE),
        re.compile(rf"(?:{joint}{_OTHER})?{_GAP}(?:{after})", re.IGNORECASE),
    )


@cache
def _by_language() -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    with Path(__file__).with_name(_TABLE).open(encoding="utf8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            found.setdefault(row["language"], []).append((row["where"], row["words"]))
    return found
