"""Where the right concepts stand among all others."""

from collections.abc import Iterator

import numpy as np

_BLOCK = 1024
_AROUND = 10
AT = (1, 5, 10)


def ranks(left: np.ndarray, right: np.ndarray, pairs: np.ndarray, *, csls: bool) -> np.ndarray:
    """Return the ranks of right rows among all of them, int64 (n,); ties count against them.

    left, right (float32 (n, d)): Vectors whose products are similarities.
    pairs (int64 (n, 2)): Left rows, and the right rows that are the same.
    csls (bool): Less the mean of what is nearest to either (Conneau et al. 2018, k = 10), since
        some concepts are near to all.
    """
    hubness = _hubness(left, right) / 2 if csls else np.zeros(len(right))
    found = []
    for start, products in _products(left[pairs[:, 0]], right):
        scores = products - hubness
        golds = pairs[start : start + len(scores), 1]
        found.append((scores >= scores[np.arange(len(scores)), golds][:, None]).sum(1))
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


def figures(found: np.ndarray) -> dict[str, float]:
    """Return Hits@1, 5 and 10, mean rank, and mean reciprocal rank, as the mean of 1/rank."""
    if not len(found):
        return {}
    hits = {f"hits@{k}": round(float((found <= k).mean()), 4) for k in AT}
    return {**hits, "mr": round(float(found.mean()), 2), "mrr": round(float((1 / found).mean()), 4)}


def nearest_pairs(left: np.ndarray, right: np.ndarray, k: int) -> np.ndarray:
    """Return the rows of the k nearest of every left and of every right one, int64 (n, 2)."""
    keys = [_nearest(left, right, k) @ [len(right), 1], _nearest(right, left, k) @ [1, len(right)]]
    return np.stack(np.divmod(np.unique(np.concatenate(keys)), len(right)), axis=1)


def _nearest(ones: np.ndarray, others: np.ndarray, k: int) -> np.ndarray:
    k = min(k, len(others))
    found = [
        np.argpartition(-products, k - 1, axis=1)[:, :k] for _, products in _products(ones, others)
    ]
    return np.stack([np.repeat(np.arange(len(ones)), k), np.concatenate(found).ravel()], axis=1)


def _hubness(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the mean similarity of every right row's nearest left ones, float32 (n,)."""
    k = min(_AROUND, len(left))
    means = [np.partition(of, -k, axis=1)[:, -k:].mean(1) for _, of in _products(right, left)]
    return np.concatenate(means)


def _products(ones: np.ndarray, others: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    for start in range(0, len(ones), _BLOCK):
        yield start, ones[start : start + _BLOCK] @ others.T
