"""Linked documents against gold ones: mentions that were found, and concepts of documents.

- strict: the same spans and the same concept (xMEN, BioCreative).
- partial: spans that share a character, and the same concept; each annotation is matched once.
- document: the distinct (document, concept) pairs, wherever the mentions are.
- strict_mention, partial_mention: the spans alone.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from training.errors import BergamotError, Errors

NIL = "NIL"


class Link(NamedTuple):
    """A mention with its concept; start and end in characters. A NIL mention has no concept."""

    start: int
    end: int
    concept_id: str


class Counts(NamedTuple):
    """True positives, predicted and gold annotations."""

    right: int
    predicted: int
    gold: int


def score_documents(
    predicted: Sequence[Iterable[Link]], gold: Sequence[Iterable[Link]]
) -> dict[str, dict[str, float]]:
    """Return {measure: {"p", "r", "f"}} in percent, summed over documents (micro).

    Equal annotations of a document count once. NIL links count for the mention measures alone.
    RAISES (BergamotError): T144 if there are not as many documents on both sides.
    """
    if len(predicted) != len(gold):
        raise BergamotError(Errors.T144.format(predicted=len(predicted), gold=len(gold)))
    totals: dict[str, list[Counts]] = {}
    for guesses, golds in zip(predicted, gold, strict=True):
        mentions = [sorted({(*link[:2], "") for link in links}) for links in (guesses, golds)]
        links = [sorted({link for link in side if link[2] != NIL}) for side in (guesses, golds)]
        concepts = [sorted({link[2] for link in side}) for side in links]
        for name, counts in (
            ("strict", _same(*links)),
            ("partial", _overlapping(*links)),
            ("document", _same(*concepts)),
            ("strict_mention", _same(*mentions)),
            ("partial_mention", _overlapping(*mentions)),
        ):
            totals.setdefault(name, []).append(counts)
    return {name: _rates(counts) for name, counts in totals.items()}


def _same(guesses: Sequence, golds: Sequence) -> Counts:
    return Counts(len(set(guesses) & set(golds)), len(guesses), len(golds))


def _overlapping(guesses: Sequence, golds: Sequence) -> Counts:
    """Match each annotation at most once: exact spans first, then by falling overlap."""
    pairs = [
        (min(g[1], h[1]) - max(g[0], h[0]), g == h, i, j)
        for i, g in enumerate(guesses)
        for j, h in enumerate(golds)
        if g[2] == h[2] and min(g[1], h[1]) > max(g[0], h[0])
    ]
    pairs.sort(key=lambda pair: (not pair[1], -pair[0], pair[2], pair[3]))
    used: tuple[set[int], set[int]] = (set(), set())
    for _, _, i, j in pairs:
        if i not in used[0] and j not in used[1]:
            used[0].add(i)
            used[1].add(j)
    return Counts(len(used[0]), len(guesses), len(golds))


def _rates(counts: list[Counts]) -> dict[str, float]:
    right, predicted, gold = (sum(column) for column in zip(*counts, strict=True))
    precision = 100 * right / predicted if predicted else 0.0
    recall = 100 * right / gold if gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return {"p": precision, "r": recall, "f": f1, "right": right, "n": gold, "found": predicted}
