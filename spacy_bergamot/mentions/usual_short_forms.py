"""Short forms that clinical notes use without saying what they mean: "HTN", "BPCO", "ХОБЛ".

usual_short_forms.tsv has what notes of a language mostly mean by one, a disorder, drug, procedure
or measure, by its English name, which most knowledge bases have. Left out is what means several
things in notes, such as "RA" in English (room air, rheumatoid arthritis). Those marked any_case are
no words in small letters, as "ALL" is, nor three letters with a vowel, which may be a name ("Doe").
"""

import csv
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path

from spacy_bergamot.languages import NO_LANGUAGE, OTHER_SCRIPTS, lat

_TABLE = "usual_short_forms.tsv"
_LEAST = 3  # characters of a short form that means the same in several languages


def usual_short_forms(language: str) -> Mapping[str, str]:
    """Return English long forms by short form, as notes write it: "HTN", "Htn" and "htn".

    language (str): Of the notes, as GER or de; in other scripts than the Latin one English short
        forms stand too. Where it is not known ("" or xx), those that mean the same in all languages
        that have them: English ones, and those of two languages.
    """
    return _of_no_language() if language in NO_LANGUAGE else _of(lat(language))


@cache
def usual_lengths(language: str) -> Mapping[str, Collection[int]]:
    """Return how long the usual short forms are, by the character that they begin with.

    language (str): As of `usual_short_forms`.
    """
    return lengths_of(usual_short_forms(language))


def lengths_of(short_forms: Iterable[str]) -> dict[str, set[int]]:
    """Return how long short forms are, by the character that they begin with.

    short_forms (Iterable[str]): None of them empty.
    """
    found: dict[str, set[int]] = {}
    for short in short_forms:
        found.setdefault(short[0], set()).add(len(short))
    return found


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
    """Return long forms by language and short form; some stand in small letters and titled too."""
    found: dict[str, dict[str, str]] = {}
    with Path(__file__).with_name(_TABLE).open(encoding="utf8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            short, forms = row["short_form"], found.setdefault(row["language"], {})
            forms[short] = row["long_form"]
            if row["any_case"]:
                for other in (short.lower(), short.capitalize()):
                    forms.setdefault(other, row["long_form"])
    return found
