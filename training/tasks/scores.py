"""Accuracy, precision, recall and F1 of guessed labels."""

from collections.abc import Sequence
from typing import Any

import numpy as np

AVERAGES = ("accuracy", "macro_f1", "weighted_precision", "weighted_recall", "weighted_f1")
"""Figures of all labels together."""


def scores(gold: Sequence[str], guessed: Sequence[str]) -> dict[str, Any]:
    """Return figures in percent: averages, F1 of every gold label, and the majority's share.

    Macro F1 is the mean over gold labels. The weighted figures weigh a gold label by how often it
    is gold, as scikit-learn's average="weighted"; the precision of a label that nobody guessed is
    0. So weighted recall is accuracy.

    gold, guessed (Sequence[str]): A label each, in the same order.
    """
    labels = sorted(set(gold))
    right = dict.fromkeys(labels, 0)
    for one, other in zip(gold, guessed, strict=True):
        right[one] += one == other
    hits = np.array([right[label] for label in labels])
    support = np.array([gold.count(label) for label in labels])
    guesses = np.array([guessed.count(label) for label in labels])
    f1 = 200 * hits / (support + guesses)
    averages = (
        100 * hits.sum() / len(gold),
        f1.mean(),
        support @ (100 * hits / np.maximum(guesses, 1)) / len(gold),
        100 * hits.sum() / len(gold),
        support @ f1 / len(gold),
    )
    return {
        "n": len(gold),
        **dict(zip(AVERAGES, map(float, averages), strict=True)),
        "f1": dict(zip(labels, f1.tolist(), strict=True)),
        "majority": float(100 * support.max() / len(gold)),
    }
