"""Rows of several lengths, one after another in one array, as those of a CSR matrix."""

import numpy as np


def ranges(starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return so many numbers from each start on, one range after another.

    starts, sizes (int (n,)): First number of every range, and how many it has.
    """
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - ends + sizes, sizes)


def expand(
    indptr: np.ndarray, values: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of some rows, one row after another, and which of `rows` each is of.

    indptr (int (r + 1,)): Where the values of every row begin.
    values, rows (n,): Of the array; the rows that are wanted.
    """
    starts = indptr[rows]
    sizes = indptr[rows + 1] - starts
    return values[ranges(starts, sizes)], np.repeat(np.arange(len(rows)), sizes)
