"""Why mentions are missed: how far retrieval came, and what is special about the mention."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from training.corpora.schema import GoldMention
from training.evaluate.hierarchy import Hierarchy
from training.evaluate.metrics import NEVER, gold_ranks
from training.evaluate.ranking import Ranked

OUTCOMES = ("not retrieved", "ranked low", "ambiguous alias")
"""Exclusive: no gold concept among those kept; behind another alias; of the very alias found."""
TRAITS = ("parent predicted", "child predicted", "wrong type", "abbreviation", "multi-word")
"""May go together; the first three need a concept table."""
_ABBREVIATION = re.compile(r"(?=(?:.*[^\W\d_]){2})[^\W_]{2,6}")


@dataclass(frozen=True)
class Miss:
    """A mention whose first concept is wrong.

    query (int): Its number. rank (int | None): Of the gold concept from 1; None if not retrieved.
    gold (str): The gold concept nearest to the prediction, or any.
    predicted, alias (str): The first concept and the alias found; empty if nothing was.
    """

    query: int
    outcome: str
    traits: tuple[str, ...]
    rank: int | None
    gold: str
    predicted: str
    alias: str
    score: float


def misses(
    queries: Sequence[GoldMention],
    ranked: Sequence[Ranked],
    golds: str,
    hierarchy: Hierarchy | None = None,
) -> list[Miss]:
    """Return every mention whose first concept is wrong, with outcome and traits."""
    found = []
    ranks = gold_ranks(queries, ranked, golds)
    for number, concept, name in zip(*(column.tolist() for column in ranks), strict=True):
        if concept == 0:
            continue
        query, entry = queries[number], ranked[number]
        outcome = OUTCOMES[0 if concept == NEVER else 2 if name == 0 else 1]
        predicted = entry.concepts[0] if entry.concepts else ""
        gold, near = _relation(query, predicted, hierarchy)
        found.append(
            Miss(
                number,
                outcome,
                (*near, *mention_traits(query.mention)),
                None if concept == NEVER else concept + 1,
                gold,
                predicted,
                entry.names[0] if entry.names else "",
                entry.scores[0] if entry.scores else 0.0,
            )
        )
    return found


def mention_traits(mention: str) -> Iterator[str]:
    """Yield "abbreviation" (2 to 6 characters, mostly capitals) and "multi-word" (3 or more)."""
    word = mention.strip()
    capitals = sum(character.isupper() for character in word)
    if _ABBREVIATION.fullmatch(word) and 2 * capitals > sum(map(str.isalpha, word)):
        yield "abbreviation"
    if len(word.split()) >= 3:
        yield "multi-word"


def _relation(
    query: GoldMention, predicted: str, hierarchy: Hierarchy | None
) -> tuple[str, tuple[str, ...]]:
    """Return the gold concept to show, and what the prediction is to it."""
    golds = sorted(query.concepts)
    if hierarchy is None or not predicted:
        return golds[0], ()
    for gold in golds:
        if predicted in hierarchy.parents(gold):
            return gold, ("parent predicted",)
        if predicted in hierarchy.children(gold):
            return gold, ("child predicted",)
    types = hierarchy.types(predicted)
    known = set().union(*(hierarchy.types(gold) for gold in golds))
    return golds[0], ("wrong type",) if types and known and not types & known else ()
