"""Rows of concepts by their ids, as expressions over columns of ids."""

import re
from collections.abc import Callable

import numpy as np
import polars as pl

_HIGH_BITS = np.uint64(0x8080808080808080)
_PAST_NINE = np.uint64(0x7676767676767676)  # lifts a byte above nine over its high bit
_LETTER = np.uint64(0xFF)
_JOIN_DIGITS = (  # neighbours of 8, 16 and 32 bits become one: ten, hundred, ten thousand times
    (np.uint64(10 * (1 << 8) + 1), np.uint64(8), np.uint64(0x00FF00FF00FF00FF)),
    (np.uint64(100 * (1 << 16) + 1), np.uint64(16), np.uint64(0x0000FFFF0000FFFF)),
    (np.uint64(10_000 * (1 << 32) + 1), np.uint64(32), np.uint64(0x00000000FFFFFFFF)),
)


def row_finder(ids: pl.Series) -> Callable[[str], pl.Expr]:
    """Return what makes, of a column's name, the rows of its ids as Int32; -1 for no row.

    ids (pl.Series): Distinct. Ids like UMLS's, one letter and seven digits, are addresses in a
        table of at most ten million rows, which takes a third of the time of a join.
    """
    letter = ids[0][0] if len(ids) and ids[0] else ""
    if not re.fullmatch("[A-Za-z]", letter) or not ids.str.contains(f"^{letter}[0-9]{{7}}$").all():
        rows = pl.Series(np.arange(len(ids), dtype=np.int32))
        return lambda name: pl.col(name).replace_strict(ids, rows, default=-1)
    numbers = ids.str.slice(1).cast(pl.Int64).to_numpy()
    table = np.full(int(numbers.max()) + 2, -1, dtype=np.int32)
    table[numbers] = np.arange(len(ids), dtype=np.int32)
    zero = np.uint64(int.from_bytes(f"{letter}0000000".encode(), "little"))

    def find(words: pl.Series) -> pl.Series:
        digits = words.fill_null(0).to_numpy() ^ zero
        wrong = (digits & _LETTER) | ((digits | (digits + _PAST_NINE)) & _HIGH_BITS)
        for factor, shift, mask in _JOIN_DIGITS:
            digits *= factor
            digits >>= shift
            digits &= mask
        found = table[np.minimum(digits, np.uint64(len(table) - 1))]
        found[wrong != 0] = -1
        return pl.Series(found)

    def rows_of(name: str) -> pl.Expr:
        words = pl.col(name).cast(pl.Binary).bin.reinterpret(dtype=pl.UInt64)
        return words.map_batches(find, return_dtype=pl.Int32, is_elementwise=True)

    return rows_of
