"""Accuracy and F1 of guessed labels."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def scores(gold: Sequence[str], guessed: Sequence[str]) -> dict[str, Any]:
    """Return accuracy, macro F1 and F1 of every gold label in percent, and the majority's share."""
    right = dict.fromkeys(sorted(set(gold)), 0)
    for one, other in zip(gold, guessed, strict=True):
        right[one] += one == other
    f1 = {
        label: 100 * 2 * hits / (gold.count(label) + guessed.count(label))
        for label, hits in right.items()
    }
    return {
        "n": len(gold),
        "accuracy": 100 * sum(right.values()) / len(gold),
        "macro_f1": float(np.mean(list(f1.values()))),
        "f1": f1,
        "majority": 100 * max(gold.count(label) for label in right) / len(gold),
    }
