"""How sure a figure is: bootstrap intervals, and tests between two systems on the same mentions."""

from typing import NamedTuple

import numpy as np


class Interval(NamedTuple):
    """Two bounds."""

    low: float
    high: float


def bootstrap_interval(
    values: np.ndarray, clusters: np.ndarray | None = None, *, samples: int = 1000, seed: int = 0
) -> Interval:
    """Return the 95 % percentile interval of the mean of values (n,) by the cluster bootstrap.

    clusters (int (n,) | None): What is drawn whole, such as documents, whose mentions are not
        independent; None for every value by itself.
    """
    if not len(values):
        return Interval(float("nan"), float("nan"))
    sums, sizes = np.asarray(values, dtype=float), np.ones(len(values))
    if clusters is not None:
        _, cluster = np.unique(clusters, return_inverse=True)
        sums, sizes = np.bincount(cluster, sums), np.bincount(cluster).astype(float)
    return ratio_interval(sums, sizes, samples=samples, seed=seed)


def ratio_interval(
    sums: np.ndarray, sizes: np.ndarray, *, samples: int = 1000, seed: int = 0
) -> Interval:
    """Return the 95 % percentile interval of sums.sum() / sizes.sum() over resampled clusters.

    A resample is drawn as the number of times that each distinct kind of cluster, by its sum and
    size, comes up: the same as drawing clusters, and next to free for hits of 0 and 1. It is left
    out where its size is 0.

    sums, sizes (n,): Of every cluster, such as a document's right and predicted mentions.
    RETURNS (Interval): Of NaN where no resample has a size.
    """
    kinds, counts = np.unique(np.column_stack([sums, sizes]), axis=0, return_counts=True)
    drawn = np.random.default_rng(seed).multinomial(len(sums), counts / len(sums), size=samples)
    total, size = drawn @ kinds[:, 0], drawn @ kinds[:, 1]
    ratios = total[size > 0] / size[size > 0]
    if not len(ratios):
        return Interval(float("nan"), float("nan"))
    low, high = np.percentile(ratios, [2.5, 97.5])
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


def compare(
    one: np.ndarray, other: np.ndarray, clusters: np.ndarray | None = None, *, samples: int = 1000
) -> dict[str, float]:
    """Compare the hits (n,) of two systems on the same mentions.

    clusters (int (n,) | None): As in `bootstrap_interval`; the tests take every mention by itself.
    RETURNS (dict): difference of the means (one - other) with its paired 95 % interval, in percent;
        wins and losses of `one`; p values of McNemar's and Wilcoxon's tests.
    """
    difference = np.asarray(one, dtype=float) - np.asarray(other, dtype=float)
    low, high = bootstrap_interval(difference, clusters, samples=samples)
    return {
        "difference": 100 * float(difference.mean()),
        "low": 100 * low,
        "high": 100 * high,
        "wins": int((difference > 0).sum()),
        "losses": int((difference < 0).sum()),
        "mcnemar_p": mcnemar(np.asarray(one), np.asarray(other)),
        "wilcoxon_p": wilcoxon(one, other),
    }
