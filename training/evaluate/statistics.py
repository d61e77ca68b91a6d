"""How sure a figure is: bootstrap intervals, and tests between two systems on the same mentions."""

from typing import NamedTuple

import numpy as np


class Interval(NamedTuple):
    """Two bounds that hold with a given confidence."""

    low: float
    high: float


def bootstrap_interval(
    values: np.ndarray, *, samples: int = 1000, confidence: float = 0.95, seed: int = 0
) -> Interval:
    """Return the percentile interval of the mean of values (n,) under resampling of mentions.

    A resample is drawn as the number of times that each distinct value comes up, which is the same
    as drawing n mentions and costs nothing for hits of 0 and 1.
    """
    if not len(values):
        return Interval(float("nan"), float("nan"))
    distinct, counts = np.unique(values, return_counts=True)
    drawn = np.random.default_rng(seed).multinomial(len(values), counts / len(values), size=samples)
    tail = 100 * (1 - confidence) / 2
    low, high = np.percentile(drawn @ distinct / len(values), [tail, 100 - tail])
    return Interval(float(low), float(high))


def mcnemar(one: np.ndarray, other: np.ndarray) -> float:
    """Return the exact two-sided p value of McNemar's test on two systems' hits (n,)."""
    from scipy.stats import binomtest

    one, other = one.astype(bool), other.astype(bool)
    only_one, only_other = int((one & ~other).sum()), int((other & ~one).sum())
    if not only_one + only_other:
        return 1.0
    return float(binomtest(only_one, only_one + only_other, 0.5).pvalue)


def wilcoxon(one: np.ndarray, other: np.ndarray) -> float:
    """Return the two-sided p value of Wilcoxon's signed-rank test; equal values are left out.

    The normal approximation with correction for ties, as medical_crossing on hits of 0 and 1.
    """
    from scipy.stats import wilcoxon as signed_rank

    difference = np.asarray(one, dtype=float) - np.asarray(other, dtype=float)
    if not difference.any():
        return 1.0
    test = signed_rank(difference, zero_method="wilcox", correction=False, method="asymptotic")
    return float(test.pvalue)


def compare(one: np.ndarray, other: np.ndarray, *, samples: int = 1000) -> dict[str, float]:
    """Compare the hits (n,) of two systems on the same mentions.

    RETURNS (dict): difference of the means (one - other) with its paired 95 % interval, in percent;
        wins and losses of `one`; p values of McNemar's and Wilcoxon's tests.
    """
    difference = np.asarray(one, dtype=float) - np.asarray(other, dtype=float)
    low, high = bootstrap_interval(difference, samples=samples)
    return {
        "difference": 100 * float(difference.mean()),
        "low": 100 * low,
        "high": 100 * high,
        "wins": int((difference > 0).sum()),
        "losses": int((difference < 0).sum()),
        "mcnemar_p": mcnemar(np.asarray(one), np.asarray(other)),
        "wilcoxon_p": wilcoxon(one, other),
    }
