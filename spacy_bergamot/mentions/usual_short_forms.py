"""Short forms that clinical notes use without saying what they mean: "HTN", "BPCO", "ХОБЛ".

usual_short_forms.tsv has disorders that notes of a language mostly mean by one, with their English
names, which most knowledge bases have. Left out is what means several things in notes, such as
"RA" in English (room air, rheumatoid arthritis).
"""

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from spacy_bergamot.folding import plain_word
from spacy_bergamot.languages import NO_LANGUAGE, OTHER_SCRIPTS, lat
from spacy_bergamot.mentions.usual import is_usual

_TABLE = "usual_short_forms.tsv"
_LEAST = 3  # characters of a short form that means the same in several languages, or in any case
_VOWELS = frozenset("aeiouyаеёиоуыэюяіїє")


def usual_short_forms(language: str) -> Mapping[str, str]:
    """Return English long forms by short form, as notes write it: "HTN", "Htn" and "htn".

    language (str): Of the notes, as GER or de; in other scripts than the Latin one English short
        forms stand too. Where it is not known ("" or xx), those that mean the same in all languages
        that have them: English ones, and those of two languages.
    """
    return _of_no_language() if language in NO_LANGUAGE else _of(lat(language))


@cache
def _of(language: str) -> dict[str, str]:
    english = _by_language()["ENG"] if language in OTHER_SCRIPTS else {}
    return {**english, **_by_language().get(language, {})}


@cache
def _of_no_language() -> dict[str, str]:
    said: dict[str, list[str]] = {}
    for forms in _by_language().values():
        for short, long in forms.items():
            said.setdefault(short, []).append(long)
    english = _by_language()["ENG"]
    return {
        short: longs[0]
        for short, longs in said.items()
        if len(short) >= _LEAST and len(set(longs)) == 1 and (short in english or len(longs) > 1)
    }


@cache
def _by_language() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    with Path(__file__).with_name(_TABLE).open(encoding="utf8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            found.setdefault(row["language"], {})[row["short_form"]] = row["long_form"]
    return {language: {**_in_other_cases(forms), **forms} for language, forms in found.items()}


def _in_other_cases(forms: Mapping[str, str]) -> dict[str, str]:
    """Return what is listed in capitals in small letters and with the first one alone in capitals.

    Not what is a word then ("ALL", "AIDS"); three letters with a vowel may be a name too ("Doe").
    """
    return {
        other: long
        for short, long in forms.items()
        if short.isupper() and short.isalnum() and not _is_word(short.lower())
        for other in (short.lower(), short.capitalize())
    }


def _is_word(text: str) -> bool:
    is_short = len(text) < _LEAST or (len(text) == _LEAST and not _VOWELS.isdisjoint(text))
    return is_short or is_usual(plain_word(text))
