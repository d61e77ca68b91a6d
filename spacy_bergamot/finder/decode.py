"""Tags of units to mentions: the likeliest sequence in which no inside follows an outside."""

from typing import NamedTuple

import numpy as np


class Found(NamedTuple):
    """A run of units (first, and one behind the last), the number of its label, and how likely."""

    first: int
    stop: int
    label: int
    probability: float


def decode(scores: np.ndarray) -> list[Found]:
    """Return the mentions of the likeliest sequence of tags.

    scores (float (units, tags)): Log probabilities; tags in the order of `tags_of`.
    """
    found: list[Found] = []
    tags = _likeliest(scores)
    units = np.flatnonzero(tags)
    for unit in units.tolist():
        tag = int(tags[unit])
        probability = float(np.exp(scores[unit, tag]))
        if tag % 2 == 0:  # inside: what it continues stands last
            first, _, label, sum_ = found.pop()
            found.append(Found(first, unit + 1, label, sum_ + probability))
        else:
            found.append(Found(unit, unit + 1, tag // 2, probability))
    return [mention._replace(probability=mention.probability / (mention.stop - mention.first))
            for mention in found]  # fmt: skip


def _likeliest(scores: np.ndarray) -> np.ndarray:
    """Return the likeliest allowed tags, int64 (units,): Viterbi's algorithm."""
    count, kinds = scores.shape
    allowed = np.ones((kinds, kinds), dtype=bool)  # from, to
    for inside in range(2, kinds, 2):
        allowed[:, inside] = False
        allowed[[inside - 1, inside], inside] = True
    barred = np.where(allowed, 0.0, -np.inf)
    best = np.where(np.arange(kinds) % 2 | (np.arange(kinds) == 0), 0.0, -np.inf)
    from_ = np.zeros((count, kinds), dtype=np.int64)
    for unit in range(count):
        if unit:
            ways = best[:, None] + barred
            from_[unit] = ways.argmax(0)
            best = ways.max(0)
        best = best + scores[unit]
    tags = np.zeros(count, dtype=np.int64)
    tag = int(best.argmax()) if count else 0
    for unit in range(count - 1, -1, -1):
        tags[unit] = tag
        tag = int(from_[unit, tag])
    return tags
