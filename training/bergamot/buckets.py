"""Chunks of names of nearly one length, so that little padding is computed."""

import numpy as np

_SHARE = 32
"""A forward pass costs about this share of a full chunk beyond its tokens."""


def length_buckets(lengths: np.ndarray, slots: int) -> list[np.ndarray]:
    """Split names into chunks of at most `slots` token slots, longest first.

    The borders between lengths are those of least cost: padding against the fixed cost of one
    more chunk, by dynamic programming over the distinct lengths.

    lengths (int64 (n,)): Token counts.
    RETURNS (list[np.ndarray]): Row numbers of every chunk.
    """
    order = np.argsort(-lengths, kind="stable")
    values, firsts = np.unique(-lengths[order], return_index=True)
    borders = [*firsts.tolist(), len(order)]
    best, previous = [0.0], [0]
    for end in range(1, len(borders)):
        costs = [
            best[start]
            + -values[start] * (borders[end] - borders[start])
            + slots / _SHARE * np.ceil(-values[start] * (borders[end] - borders[start]) / slots)
            for start in range(end)
        ]
        previous.append(int(np.argmin(costs)))
        best.append(float(min(costs)))
    groups, end = [], len(borders) - 1
    while end:
        start = previous[end]
        groups.append(order[borders[start] : borders[end]])
        end = start
    return [chunk for group in reversed(groups) for chunk in _split(group, lengths, slots)]


def _split(rows: np.ndarray, lengths: np.ndarray, slots: int) -> list[np.ndarray]:
    size = max(1, slots // max(1, int(lengths[rows[0]])))
    return [rows[start : start + size] for start in range(0, len(rows), size)]
