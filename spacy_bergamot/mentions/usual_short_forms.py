"""Short forms that clinical notes use without saying what they mean: "HTN", "BPCO", "ХОБЛ".

usual_short_forms.tsv has disorders that notes of a language mostly mean by one, with their English
names, which most knowledge bases have. Left out is what means several things in notes, such as
"RA" in English (room air, rheumatoid arthritis).
"""

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from spacy_bergamot.languages import lat

_TABLE = "usual_short_forms.tsv"


def usual_short_forms(language: str) -> Mapping[str, str]:
    """Return English long forms by short form, as it is written.

    language (str): Of the notes, as GER or de; for one without any, nothing is returned.
    """
    return _by_language().get(lat(language), {}) if language else {}


@cache
def _by_language() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    with Path(__file__).with_name(_TABLE).open(encoding="utf8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            found.setdefault(row["language"], {})[row["short_form"]] = row["long_form"]
    return found
