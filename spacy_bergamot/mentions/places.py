"""Places of names in a text: which of those that were found are marked."""

from bisect import bisect_left

from spacy.tokens import Doc

from spacy_bergamot.mentions.language import stop_words

Place = tuple[int, int, str]
"""Start and end in characters, and label."""


def without_stop_words(
    places: dict[tuple[int, int], str], text: str, languages: list[str]
) -> dict[tuple[int, int], str]:
    """Leave out the places of stop words that are not in capitals.

    places (dict): Labels by start and end.
    text (str): Of the document.
    languages (list[str]): That it is in, or may be in.
    """
    stops = stop_words(tuple(languages))
    return {
        (start, end): label
        for (start, end), label in places.items()
        if text[start:end].lower() not in stops or text[start:end].isupper()
    }


def longest_first(found: list[Place]) -> list[Place]:
    """Keep places that do not overlap: from left to right, the longest that starts at each.

    found (list[Place]): In any order.
    """
    kept: list[Place] = []
    for place in sorted(found, key=lambda place: (place[0], -place[1])):
        if not kept or place[0] >= kept[-1][1]:
            kept.append(place)
    return kept


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
