"""Strings as numbers, and several numbers as one: these sort many times faster."""

from collections.abc import Sequence
from itertools import count
from math import prod

import numpy as np
import polars as pl


def interned(strings: pl.Series) -> tuple[pl.Series, np.ndarray]:
    """Return the distinct strings, sorted bytewise, and of every string its row there, int32.

    Strings find their rows by hashes, of a seed under which no two distinct ones collide.
    """
    distinct = strings.unique().sort()
    for seed in count():
        keys = distinct.hash(seed).to_numpy()
        order = np.argsort(keys)
        if len(sorted_distinct(keys)) == len(keys):
            break
    hashes = strings.hash(seed).to_numpy()
    by_hash = np.argsort(hashes)
    rows = np.empty(len(hashes), dtype=np.int32)
    rows[by_hash] = order[np.cumsum(is_first(hashes[by_hash])) - 1]
    return distinct, rows


def combined(columns: Sequence[np.ndarray], sizes: Sequence[int]) -> np.ndarray:
    """Return columns of numbers, each below its size, as one of int64 that sorts alike.

    RAISES (OverflowError): If so many combinations have no number; UMLS's need 60 of 63 bits.
    """
    if prod(map(int, sizes)) >= 1 << 63:
        raise OverflowError(f"{' x '.join(map(str, sizes))} combinations")
    keys = columns[0].astype(np.int64)
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        keys *= size
        keys += column
    return keys


def separated(keys: np.ndarray, sizes: Sequence[int]) -> list[np.ndarray]:
    """Return the columns, int32, of which `combined` made one."""
    columns = []
    for size in sizes[:0:-1]:
        rest = keys // size
        columns.append((keys - rest * size).astype(np.int32))
        keys = rest
    return [keys.astype(np.int32), *reversed(columns)]


def is_first(ordered: np.ndarray) -> np.ndarray:
    """Tell of every value of a sorted array whether it is the first of its kind."""
    return np.r_[True, ordered[1:] != ordered[:-1]][: len(ordered)]


def sorted_distinct(keys: np.ndarray) -> np.ndarray:
    """Return the distinct numbers, sorted; `np.unique` takes several times as long."""
    ordered = np.sort(keys)
    return ordered[is_first(ordered)]
