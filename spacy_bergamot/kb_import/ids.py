"""Rows of concepts by their ids."""

import re
from collections.abc import Callable
from itertools import count

import numpy as np
import polars as pl
import pyarrow as pa

from spacy_bergamot.hashing import find_keys
from spacy_bergamot.kb_import.keys import WORD, is_first, string_lengths, words

RowFinder = Callable[[pa.LargeStringArray], np.ndarray]

_HIGH_BITS = np.uint64(0x8080808080808080)
_PAST_NINE = np.uint64(0x7676767676767676)  # lifts a byte above nine over its high bit
_LETTER = np.uint64(0xFF)
_JOIN_DIGITS = (  # neighbours of 8, 16 and 32 bits become one: ten, hundred, ten thousand times
    (np.uint64(10 * (1 << 8) + 1), np.uint64(8), np.uint64(0x00FF00FF00FF00FF)),
    (np.uint64(100 * (1 << 16) + 1), np.uint64(16), np.uint64(0x0000FFFF0000FFFF)),
    (np.uint64(10_000 * (1 << 32) + 1), np.uint64(32), np.uint64(0x00000000FFFFFFFF)),
)


def row_finder(ids: pl.Series) -> RowFinder:
    """Return what gives the rows of strings among the ids, int32; -1 for what is no id.

    ids (pl.Series): Distinct. Ids like UMLS's, one letter and seven digits, are addresses in a
        table of at most ten million rows.
    """
    letter = ids[0][0] if len(ids) and ids[0] else ""
    if re.fullmatch("[A-Za-z]", letter) and ids.str.contains(f"^{letter}[0-9]{{7}}$").all():
        return _by_address(ids, letter)
    return _by_hash(ids)


def _by_address(ids: pl.Series, letter: str) -> RowFinder:
    numbers = ids.str.slice(1).cast(pl.Int64).to_numpy()
    table = np.full(int(numbers.max()) + 2, -1, dtype=np.int32)
    table[numbers] = np.arange(len(ids), dtype=np.int32)
    zero = np.uint64(int.from_bytes(f"{letter}0000000".encode(), "little"))

    def find(strings: pa.LargeStringArray) -> np.ndarray:
        long = string_lengths(strings) == WORD
        digits = words(strings if long.all() else strings.filter(pa.array(long))) ^ zero
        wrong = (digits & _LETTER) | ((digits | (digits + _PAST_NINE)) & _HIGH_BITS)
        for factor, shift, mask in _JOIN_DIGITS:
            digits *= factor
            digits >>= shift
            digits &= mask
        rows = np.full(len(strings), -1, dtype=np.int32)
        rows[long] = np.where(wrong, -1, table[np.minimum(digits, np.uint64(len(table) - 1))])
        return rows

    return find


def _by_hash(ids: pl.Series) -> RowFinder:
    for seed in count():
        hashes = ids.hash(seed).to_numpy()
        order = np.argsort(hashes)
        hashes = hashes[order]
        if is_first(hashes).all():
            break

    def find(strings: pa.LargeStringArray) -> np.ndarray:
        asked = pl.Series(strings)
        places = find_keys(hashes, asked.hash(seed).to_numpy())
        hits = np.flatnonzero(places >= 0)
        found = order[places[hits]].astype(np.int32)
        rows = np.full(len(strings), -1, dtype=np.int32)
        rows[hits] = np.where((ids.gather(found) == asked.gather(hits)).to_numpy(), found, -1)
        return rows

    return find
