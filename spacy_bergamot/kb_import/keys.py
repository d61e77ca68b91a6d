"""Strings as numbers, and several numbers as one: these sort many times faster."""

from collections.abc import Sequence
from itertools import count
from math import prod

import numpy as np
import polars as pl
import pyarrow as pa

WORD = 8  # bytes
_CHUNK = 1 << 15  # numbers taken apart at a time; they stay in the processor's cache


def first_rows(rows: pl.DataFrame) -> np.ndarray:
    """Return for every row the first that is like it, int32.

    Rows of one hash are like the first of them, or another seed is tried: the result is exact.
    """
    places = np.arange(len(rows), dtype=np.int32)
    for seed in count():
        like = _first_of_each(rows.hash_rows(seed).to_numpy())
        again = np.flatnonzero(like != places)
        if rows[again].equals(rows[like[again]]):
            break
    return like


def _first_of_each(hashes: np.ndarray) -> np.ndarray:
    """Return for every hash the row of the first that equals it, int32.

    Its upper bits and the row are one number, as these sort ten times faster than rows do by
    `argsort`; only hashes of equal upper bits are looked at more closely.
    """
    bits = len(hashes).bit_length()
    packed = hashes >> bits << bits
    packed |= np.arange(len(hashes), dtype=np.uint64)
    packed.sort()
    first = is_first(packed >> bits)
    alone = first & np.append(first[1:], True)
    rows = (packed[~alone] & ((1 << bits) - 1)).astype(np.int32)
    rows = rows[np.argsort(hashes[rows], kind="stable")]
    starts = np.flatnonzero(is_first(hashes[rows]))
    like = np.arange(len(hashes), dtype=np.int32)
    like[rows] = np.repeat(rows[starts], np.diff(starts, append=len(rows)))
    return like


def interned(strings: pa.LargeStringArray, hashes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the distinct strings, and of every string which of them it is, int32.

    hashes (uint64): Of every string; where two strings have one, all are hashed again.
    """
    first = _first_of_each(hashes)
    fresh = first == np.arange(len(first), dtype=np.int32)
    again = pa.array(np.flatnonzero(~fresh))
    if not strings.take(again).equals(strings.take(pa.array(first).take(again))):
        first = first_rows(pl.Series(strings).to_frame())
        fresh = first == np.arange(len(first), dtype=np.int32)
    return np.flatnonzero(fresh), (np.cumsum(fresh, dtype=np.int32) - 1)[first]


def sorted_ids(strings: pa.LargeStringArray) -> tuple[pl.Series, np.ndarray]:
    """Return the distinct strings, sorted bytewise, and of every string its row there, int32.

    Strings of eight bytes, such as UMLS's ids, are sorted as numbers.
    """
    series = pl.Series(strings)
    if (string_lengths(strings) == WORD).all():
        keys = words(strings).byteswap()
        order = np.argsort(keys, kind="stable")
        first = is_first(keys[order])
        ranks = np.empty(len(keys), dtype=np.int32)
        ranks[order] = np.cumsum(first, dtype=np.int32) - 1
        return series.gather(order[first]), ranks
    examples, rows = interned(strings, series.hash().to_numpy())
    distinct = series.gather(examples)
    order = distinct.arg_sort().to_numpy()
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return distinct.gather(order), ranks[rows]


def sorted_rows(keys: np.ndarray, ties: pl.DataFrame) -> np.ndarray:
    """Return the rows in the order of their keys, and of the ties' columns where these are equal.

    Strings, which cost the most, are compared only where they decide.
    """
    order = np.argsort(keys, kind="stable")
    first = is_first(keys[order])
    alike = np.flatnonzero(~(first & np.r_[first[1:], True]))
    rows = order[alike]
    texts = ties[rows].cast(pl.String).with_columns(key=keys[rows], row=rows)
    order[alike] = texts.sort("key", *ties.columns)["row"]
    return order


def string_lengths(strings: pa.LargeStringArray) -> np.ndarray:
    """Return the bytes of every string, int64."""
    return np.diff(_offsets(strings))


def words(strings: pa.LargeStringArray) -> np.ndarray:
    """Return strings of eight bytes each as little-endian numbers, uint64."""
    return string_bytes(strings).view("<u8")


def strings_of(words: np.ndarray) -> pa.LargeStringArray:
    """Return numbers as the strings that their bytes are."""
    offsets = np.arange(0, words.nbytes + 1, words.itemsize)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(words)]
    return pa.Array.from_buffers(pa.large_string(), len(words), buffers)


def string_bytes(strings: pa.LargeStringArray) -> np.ndarray:
    """Return the bytes of all strings, one after the other, uint8."""
    offsets = _offsets(strings)
    data = np.frombuffer(strings.buffers()[2] or b"", dtype=np.uint8)
    return data[offsets[0] : offsets[-1]]


def _offsets(strings: pa.LargeStringArray) -> np.ndarray:
    offsets = np.frombuffer(strings.buffers()[1], dtype=np.int64)
    return offsets[strings.offset : strings.offset + len(strings) + 1]


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
    columns = [np.empty(len(keys), dtype=np.int32) for _ in sizes]
    for start in range(0, len(keys), _CHUNK):
        part = slice(start, start + _CHUNK)
        rest = keys[part]
        for column, size in zip(columns[:0:-1], sizes[:0:-1], strict=True):
            above = rest // size
            column[part] = rest - above * size
            rest = above
        columns[0][part] = rest
    return columns


def is_first(ordered: np.ndarray) -> np.ndarray:
    """Tell of every value of a sorted array whether it is the first of its kind."""
    first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first


def sorted_distinct(keys: np.ndarray) -> np.ndarray:
    """Sort numbers in place, return the distinct; `np.unique` takes several times as long."""
    keys.sort()
    return keys[is_first(keys)]
