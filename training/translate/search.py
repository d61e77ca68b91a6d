"""Mentions looked for in a translated sentence, where a translator cannot carry marks."""

from collections.abc import Sequence

from training.translate.marks import Span

LEAST = 80
"""Percent of likeness (rapidfuzz's partial ratio) from which a mention is found."""


def find_all(mentions: Sequence[str], text: str) -> list[Span | None]:
    """Return where each mention is in a text, exactly or nearly; no two are at the same place."""
    taken: list[Span] = []
    found: list[Span | None] = [None] * len(mentions)
    # The longest first, so that a short one does not take a place inside of it.
    for row in sorted(range(len(mentions)), key=lambda row: -len(mentions[row])):
        span = _exact(mentions[row], text, taken) or _near(mentions[row], text, taken)
        if span is not None:
            taken.append(span)
        found[row] = span
    return found


def find(mention: str, text: str) -> Span | None:
    """Return where a mention is in a text, exactly or nearly."""
    return find_all([mention], text)[0]


def _exact(mention: str, text: str, taken: Sequence[Span]) -> Span | None:
    """Return the first free place, whole words first; case is ignored."""
    folded, wanted = text.lower(), mention.strip().lower()
    if not wanted or len(folded) != len(text):  # lower case of some letters is longer
        folded, wanted = text, mention.strip()
    places = []
    start = folded.find(wanted) if wanted else -1
    while start >= 0:
        places.append((start, start + len(wanted)))
        start = folded.find(wanted, start + 1)
    free = [place for place in places if place not in taken]
    return min(
        free,
        key=lambda place: (_inside_word(text, place), _overlaps(place, taken), place),
        default=None,
    )


def _near(mention: str, text: str, taken: Sequence[Span]) -> Span | None:
    from rapidfuzz.fuzz import partial_ratio_alignment

    if not mention.strip() or len(mention) > len(text):
        return None
    folded = text.lower() if len(text.lower()) == len(text) else text
    best = partial_ratio_alignment(mention.strip().lower(), folded, score_cutoff=LEAST)
    if best is None:
        return None
    start, end = best.dest_start, best.dest_end
    while start > 0 and text[start - 1].isalnum() and text[start : start + 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
        end += 1
    inside = text[start:end]
    start, end = end - len(inside.lstrip()), start + len(inside.rstrip())
    return (start, end) if start < end and (start, end) not in taken else None


def _overlaps(place: Span, taken: Sequence[Span]) -> bool:
    return any(place[0] < end and start < place[1] for start, end in taken)


def _inside_word(text: str, place: Span) -> bool:
    start, end = place
    before = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    return before or (end < len(text) and text[end].isalnum() and text[end - 1].isalnum())
