"""What probabilities of links are worth: errors, and the thresholds that reach a precision."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

_BINS = 10


class Observation(NamedTuple):
    """The best candidate of a mention, and whether it is right; like mentions have one key."""

    key: str
    values: tuple[float, ...]
    keys: tuple[str, str, str]
    right: bool


def expected_calibration_error(probabilities: np.ndarray, right: np.ndarray) -> float:
    """Return the mean distance of confidence and accuracy over bins (Naeini et al. 2015).

    There are ten bins of equal width, weighted by their sizes.

    probabilities (float (n,)): That a link is right.
    right (float (n,)): Whether it is.
    """
    bins = np.minimum((probabilities * _BINS).astype(int), _BINS - 1)
    error = 0.0
    for number in range(_BINS):
        inside = bins == number
        if inside.any():
            error += inside.mean() * abs(probabilities[inside].mean() - right[inside].mean())
    return float(error)


def report_of(
    tops: Sequence[Observation], held: np.ndarray, precisions: Sequence[float], *, linkable: int
) -> dict[str, Any]:
    """Return figures of held-out probabilities.

    tops (Sequence[Observation]): The best candidates of n mentions.
    held (float (n,)): Their probabilities.
    precisions (Sequence[float]): For which thresholds are sought.
    linkable (int): Mentions that have a concept.
    """
    right = np.array([entry.right for entry in tops], dtype=float)
    raw = np.clip([entry.values[1] for entry in tops], 0, 1)
    curve = _Curve(held, right, linkable)
    levels: dict[str, list[int]] = {}
    for row, entry in enumerate(tops):
        for key in dict.fromkeys(entry.keys[1:]):
            levels.setdefault(key, []).append(row)
    return {
        "linked": len(tops),
        "accuracy": round(float(right.mean()), 4),
        "ece_of_scores": round(expected_calibration_error(raw, right), 4),
        "ece": round(expected_calibration_error(held, right), 4),
        "brier": round(float(((held - right) ** 2).mean()), 4),
        "levels": {
            key: {
                "linked": len(rows),
                "accuracy": round(float(right[rows].mean()), 4),
                "ece": round(expected_calibration_error(held[rows], right[rows]), 4),
            }
            for key, rows in sorted(levels.items())
        },
        "thresholds": {f"{wanted:g}": curve.least(wanted) for wanted in precisions},
        "best": curve.best(),
        "most_precise": curve.most_precise(),
    }


class _Curve:
    """What links of at least some probability are worth, by probability.

    held, right ((n,)): Probability of every link, and whether it is right. linkable (int): Mentions
        that have a concept.
    """

    def __init__(self, held: np.ndarray, right: np.ndarray, linkable: int) -> None:
        order = np.argsort(-held, kind="stable")
        last = np.append(held[order][1:] < held[order][:-1], True)  # of equal probabilities
        linked, hits = np.arange(1, len(order) + 1)[last], np.cumsum(right[order])[last]
        self.probability = held[order][last]
        self.share = linked / len(order)
        self.precision = hits / linked
        self.recall = hits / max(linkable, 1)
        self.f1 = 2 * hits / (linked + linkable)

    def least(self, precision: float) -> dict[str, float] | None:
        """Return the lowest probability from which on precision is as wanted."""
        good = np.flatnonzero(self.precision >= precision)
        return self._figures(int(good[-1])) if len(good) else None

    def best(self) -> dict[str, float]:
        """Return the probability from which on F1 is best."""
        return self._figures(int(self.f1.argmax()))

    def most_precise(self) -> dict[str, float]:
        """Return the lowest probability from which on precision is highest."""
        return self._figures(int(np.flatnonzero(self.precision == self.precision.max())[-1]))

    def _figures(self, place: int) -> dict[str, float]:
        return {
            # Rounded down: a link of that very probability is one.
            "probability": round(float(np.floor(self.probability[place] * 1e4) / 1e4), 4),
            "precision": round(float(self.precision[place]), 4),
            "recall": round(float(self.recall[place]), 4),
            "f1": round(float(self.f1[place]), 4),
            "linked": round(float(self.share[place]), 4),
        }
