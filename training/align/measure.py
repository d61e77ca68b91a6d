"""How well a reference's pairs are found."""

import numpy as np

from training.align.confidence import Confidence, one_to_one
from training.align.pairs import Pairs

AT = (1, 5, 10)
KEYS = ("p", "r", "f1", *(f"hits@{k}" for k in AT), "mrr")


def measured(
    pairs: Pairs, confidence: Confidence, gold: np.ndarray, *, left_out: np.ndarray
) -> dict[str, float]:
    """Return precision, recall and F1 of the pairs that are taken, Hits and MRR of all, by `KEYS`.

    A pair is wrong too where the reference has no partner of its left concept. Hits and MRR rank
    the right concepts by confidence; one that is not among a concept's pairs has no rank.

    gold (int64 (n, 2)): Left and right rows of a reference.
    left_out (int64 (m,)): Left rows that are not counted, such as those of seeds.
    """
    taken = np.flatnonzero(one_to_one(pairs, confidence))
    taken = taken[~np.isin(pairs.left[taken], left_out)]
    right_of = dict(gold.tolist())
    hits = sum(right_of.get(int(pairs.left[row])) == int(pairs.right[row]) for row in taken)
    reciprocal = np.zeros(len(gold))
    starts = np.searchsorted(pairs.left, gold[:, 0])
    ends = np.searchsorted(pairs.left, gold[:, 0], side="right")
    for row, (right, start, end) in enumerate(zip(gold[:, 1], starts, ends, strict=True)):
        order = np.lexsort((pairs.right[start:end], -confidence.values[start:end]))
        place = np.flatnonzero(pairs.right[start:end][order] == right)
        if len(place) and confidence.values[start:end][order][place[0]] > 0:
            reciprocal[row] = 1 / (1 + place[0])
    values = (
        hits / max(1, len(taken)), hits / max(1, len(gold)),
        2 * hits / max(1, len(taken) + len(gold)),
        *((reciprocal >= 1 / k).mean() for k in AT), reciprocal.mean(),
    )  # fmt: skip
    return {key: round(float(value), 4) for key, value in zip(KEYS, values, strict=True)}
