"""Linked documents against gold ones: mentions that were found, and concepts of documents.

- strict: the same spans and the same concept (xMEN, BioCreative).
- partial: spans that share a character, and the same concept; each annotation is matched once.
- document: the distinct (document, concept) pairs, wherever the mentions are.
- strict_mention, partial_mention: the spans alone.
- nil: predicted against gold NIL, at the gold mentions that were found with the same span.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from training.errors import BergamotError, Errors
from training.evaluate.statistics import ratio_interval

NIL = "NIL"
Rates = dict[str, float | None]
Pair = tuple[int, int]
"""Numbers of a predicted and a gold annotation."""


class Link(NamedTuple):
    """A mention with its concept; start and end in characters.

    concept_id (str): `C1|C2` where any of them is right; NIL of a mention without a concept.
    """

    start: int
    end: int
    concept_id: str


class Counts(NamedTuple):
    """True positives, predicted and gold annotations."""

    right: int
    predicted: int
    gold: int


def score_documents(
    predicted: Sequence[Iterable[Link]],
    gold: Sequence[Iterable[Link]],
    languages: Sequence[str] = (),
) -> dict[str, Any]:
    """Score documents, of which there must be one at least.

    Equal annotations of a document count once. NIL links count for the mention measures and nil
    alone.

    languages (Sequence[str]): Of the documents, where the scores are wanted by language.
    RETURNS (dict): "documents", their number; {measure: rates} over all of them (micro), see
        `rates_of`; "languages", the same by language.
    RAISES (BergamotError): T146 if there are not as many documents on both sides.
    """
    if len(predicted) != len(gold):
        reason = f"there are {len(predicted)} predicted and {len(gold)} gold ones"
        raise BergamotError(Errors.T146, reason=reason)
    counts = [count_document(*sides) for sides in zip(predicted, gold, strict=True)]
    groups: dict[str, list[dict[str, Counts]]] = {}
    for language, document in zip(languages, counts, strict=bool(languages)):
        groups.setdefault(language, []).append(document)
    by_language = {language: rates_of(groups[language]) for language in sorted(groups)}
    return rates_of(counts) | {"languages": by_language}


def count_document(predicted: Iterable[Link], gold: Iterable[Link]) -> dict[str, Counts]:
    """Return the counts of every measure in a document."""
    both = list(predicted), list(gold)
    spans = [sorted({link[:2] for link in side}) for side in both]
    links = [sorted({link for link in side if link.concept_id != NIL}) for side in both]
    concepts = [sorted({link.concept_id for link in side}) for side in links]
    nils = [{link[:2] for link in side if link.concept_id == NIL} for side in both]
    found = set(spans[0]) & set(spans[1])
    right = [
        (i, j)
        for i, j in _overlapping(*links)
        if _agree(links[0][i].concept_id, links[1][j].concept_id)
    ]
    exact = [(i, j) for i, j in right if links[0][i][:2] == links[1][j][:2]]
    pairs = [(i, j) for i, a in enumerate(concepts[0]) for j, b in enumerate(concepts[1])
             if _agree(a, b)]  # fmt: skip
    return {
        "strict": Counts(_matched(exact), *map(len, links)),
        "partial": Counts(_matched(right), *map(len, links)),
        "document": Counts(_matched(pairs), *map(len, concepts)),
        "strict_mention": Counts(len(found), *map(len, spans)),
        "partial_mention": Counts(_matched(_overlapping(*spans)), *map(len, spans)),
        "nil": Counts(len(nils[0] & nils[1]), len(nils[0] & found), len(nils[1] & found)),
    }


def rates_of(documents: Sequence[dict[str, Counts]]) -> dict[str, Any]:
    """Sum the counts of documents.

    RETURNS (dict): "documents", their number; for every measure p, r and f in percent, 0 where
        nothing was predicted or is to find; each with the bounds p_low, p_high and so on of its
        95 % interval by the bootstrap over documents, None where there is none; the counts right,
        n (gold) and found (predicted).
    """
    rates = {
        name: _rates(np.array([counts[name] for counts in documents])) for name in documents[0]
    }
    return {"documents": len(documents), **rates}


def _rates(counts: np.ndarray) -> Rates:
    right, predicted, gold = counts.T
    rates: Rates = {}
    # F1 is a ratio of sums too: 2 right / (predicted + gold).
    for name, sums, sizes in (
        ("p", right, predicted),
        ("r", right, gold),
        ("f", 2 * right, predicted + gold),
    ):
        rates[name] = 100 * float(sums.sum() / sizes.sum()) if sizes.any() else 0.0
        for end, bound in ratio_interval(sums, sizes)._asdict().items():
            rates[f"{name}_{end}"] = None if math.isnan(bound) else 100 * bound
    totals = {"right": right, "n": gold, "found": predicted}
    return rates | {name: int(column.sum()) for name, column in totals.items()}


def _agree(one: str, other: str) -> bool:
    return not set(one.split("|")).isdisjoint(other.split("|"))


def _overlapping(guesses: Sequence[tuple], golds: Sequence[tuple]) -> list[Pair]:
    """Return the pairs that share a character: of the same span first, then by falling overlap."""
    pairs = [
        (g[:2] != h[:2], max(g[0], h[0]) - min(g[1], h[1]), i, j)
        for i, g in enumerate(guesses)
        for j, h in enumerate(golds)
        if min(g[1], h[1]) > max(g[0], h[0])
    ]
    return [(i, j) for *_, i, j in sorted(pairs)]


def _matched(pairs: Iterable[Pair]) -> int:
    """Count pairs in their order, each annotation at most once."""
    guesses: set[int] = set()
    golds: set[int] = set()
    for i, j in pairs:
        if i not in guesses and j not in golds:
            guesses.add(i)
            golds.add(j)
    return len(guesses)
