"""Tags of units to mentions: the likeliest sequence in which no inside follows an outside."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from spacy_bergamot.finder.joints import DOUBT, EDGE_DOUBT, Joints


class Found(NamedTuple):
    """A run of units (first, and one behind the last), the number of its label, and how likely."""

    first: int
    stop: int
    label: int
    probability: float


def decode(scores: np.ndarray, joints: Joints | None = None) -> list[Found]:
    """Return the mentions of the likeliest sequence of tags, without joints that it doubts.

    scores (float (units, tags)): Log probabilities; tags in the order of `tags_of`.
    joints (Joints | None): Units that may be outside.
    """
    found: list[Found] = []
    tags = _likeliest(scores)
    inside = np.exp(scores[np.arange(len(tags)), tags])
    for first, stop in _runs(tags):
        for start, end in (
            [(first, stop)] if joints is None else _parts(first, stop, scores, joints)
        ):
            probability = float(inside[start:end].mean())
            found.append(Found(start, end, (int(tags[first]) - 1) // 2, probability))
    return found


def _runs(tags: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the first unit of every mention, and one behind its last."""
    firsts = np.flatnonzero(tags % 2)
    goes_on = (tags > 0) & (tags % 2 == 0)
    ends = np.flatnonzero(~np.append(goes_on, False))
    for first in firsts.tolist():
        yield first, int(ends[np.searchsorted(ends, first + 1)])


def _parts(first: int, stop: int, scores: np.ndarray, joints: Joints) -> Iterator[tuple[int, int]]:
    """Yield the parts of a mention between joints, without those at their ends."""
    stop = first + _closed(joints.depth[first:stop].tolist())
    outside = np.exp(scores[first:stop, 0])
    cut = joints.between[first:stop] & (outside >= DOUBT)
    loose = joints.loose[first:stop] & (outside >= EDGE_DOUBT)
    borders = [-1, *np.flatnonzero(cut).tolist(), stop - first]
    for before, behind in pairwise(borders):
        kept = np.flatnonzero(~loose[before + 1 : behind]) + before + 1
        if len(kept):
            yield first + int(kept[0]), first + int(kept[-1]) + 1


def _closed(depth: list[int]) -> int:
    """Return how many units there are before the first bracket without its partner."""
    opened: list[int] = []
    for unit, step in enumerate(depth):
        if step > 0:
            opened.append(unit)
        elif step < 0:
            if not opened:
                return unit
            opened.pop()
    return opened[0] if opened else len(depth)


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
