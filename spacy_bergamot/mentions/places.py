"""Places of names in a text: which of those that were found are marked."""

import re
from bisect import bisect_left

import numpy as np
from spacy.tokens import Doc

from spacy_bergamot.mentions.capitals import Capitals
from spacy_bergamot.mentions.language import stop_words
from spacy_bergamot.mentions.not_mentions import no_abbreviations, no_names
from spacy_bergamot.mentions.usual_short_forms import usual_short_forms
from spacy_bergamot.name_keys import ABBREVIATION
from spacy_bergamot.text import half_width

_NEAR = 8  # characters before a heading in which its line begins
_LINE = re.compile(r"(?:\A|\n)[^\w\n]*\Z")
_COLON = re.compile(r"[ \t]*[:：]")
# The word alone: "Allergic rhinitis: mild" is a finding.
_ALLERGIES = re.compile(
    r"(?:al+er[gjž]|аллерг|алерг|αλλεργ|אלרג)[^\W\d_]{0,5}|[过過]敏史?|アレルギー歴?|알레르기|알러지"
    "|แพ้ยา|dị ứng|حساسية",
    re.IGNORECASE,
)

Place = tuple[int, int, str]
"""Start and end in characters, and label."""

ANATOMY = "ANAT"
"""The semantic group of organs and other parts of the body."""

NAMES_INSIDE = "bergamot_names_inside"
"""The group of `doc.spans` with the names that longer mentions stand for."""


def without_stop_words(
    places: dict[tuple[int, int], str], text: str, languages: list[str]
) -> dict[tuple[int, int], str]:
    """Leave out the places of stop words, and of others that are no names, but for capitals.

    In capitals they are abbreviations, unless they are long ("COMPLICATIONS: none"), the text
    around them is in capitals too, or they mostly mean what is no disorder: "PTCA".

    places (dict): Labels by start and end.
    text (str): Of the document.
    languages (list[str]): That it is in, or may be in.
    """
    stops = stop_words(tuple(languages)) | no_names(tuple(languages))
    others = no_abbreviations()
    shouted = Capitals(text).hold(np.array([start for start, _ in places], dtype=np.int64))
    kept = {}
    for ((start, end), label), is_shouted in zip(places.items(), shouted, strict=True):
        name = text[start:end]
        is_abbreviation = name.isupper() and len(name) <= ABBREVIATION and not is_shouted
        if name not in others and (is_abbreviation or name.lower() not in stops):
            kept[start, end] = label
    return kept


def without_headings(
    places: dict[tuple[int, int], str], text: str, languages: list[str]
) -> dict[tuple[int, int], str]:
    """Leave out abbreviations that head a line ("HPI: …"), and what heads something else.

    Abbreviations by which notes mean a disorder stay ("COPD: stable"); organs before a colon never
    do ("Lungs: clear", "… NECK: supple. HEART: …"), nor do allergies: "Allergies: none".

    places (dict): Labels by start and end.
    text (str): Of the document.
    languages (list[str]): That it is in, or may be in.
    """
    usual = {short for language in languages for short in usual_short_forms(language)}
    kept = {}
    for (start, end), label in places.items():
        is_usual = half_width(text[start:end]) in usual
        heads = label == ANATOMY or _ALLERGIES.fullmatch(text, start, end) is not None
        is_heading = heads and _COLON.match(text, end) is not None
        if is_usual or not (is_heading or _is_abbreviated_heading(text, start, end)):
            kept[start, end] = label
    return kept


def _is_abbreviated_heading(text: str, start: int, end: int) -> bool:
    """Tell whether a place is short, in capitals, and alone before the colon of a line."""
    if end - start > ABBREVIATION or not text[start:end].isupper():
        return False
    return bool(_LINE.search(text, max(0, start - _NEAR), start) and _COLON.match(text, end))


def longest_first(found: list[Place]) -> list[Place]:
    """Keep places that do not overlap, in order: the longest of all first, then from left to right.

    Of "refiere dolor torácico" it keeps "dolor torácico", though "refiere dolor" begins before it.

    found (list[Place]): In any order.
    """
    taken = bytearray(max((end for _, end, _ in found), default=0))
    kept = []
    for start, end, label in sorted(found, key=lambda place: (place[0] - place[1], place[0])):
        # A longer place that covers a part of this one covers its first or its last character.
        if not (taken[start] or taken[end - 1]):
            taken[start:end] = b"\1" * (end - start)
            kept.append((start, end, label))
    return sorted(kept)


def free(found: list[Place], doc: Doc) -> list[Place]:
    """Leave out places that overlap an entity of the document.

    found (list[Place]): In order.
    doc (Doc): The document.
    """
    ents = [(ent.start_char, ent.end_char) for ent in doc.ents]
    starts = [start for start, _ in ents]
    kept = []
    for place in found:
        before = bisect_left(starts, place[1]) - 1  # the last that starts before its end
        if before < 0 or ents[before][1] <= place[0]:
            kept.append(place)
    return kept
