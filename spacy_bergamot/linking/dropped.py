"""What filters drop, for explanations."""

from collections.abc import Iterable
from typing import NamedTuple


class Dropped(NamedTuple):
    """A concept that a generator found and a filter dropped."""

    concept_id: str
    alias: str
    generator: str
    score: float
    reason: str


def each_once(found: Iterable[Dropped]) -> list[Dropped]:
    """Return each concept once, by its best name, the best concepts first.

    found (Iterable[Dropped]): In any order.
    """
    best: dict[str, Dropped] = {}
    for entry in sorted(found, key=lambda entry: -entry.score):
        best.setdefault(entry.concept_id, entry)
    return list(best.values())
