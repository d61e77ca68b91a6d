"""Values that repeat, as numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from training.errors import BergamotError, Errors

MOST = 1 << 15
"""Values of a column: the tables on disk have codes of 16 bits."""
NO_LIMIT = 1 << 31


class Vocabulary:
    """Distinct values in the order in which they came.

    what (str): What they are, for the error.
    most (int): How many there may be.
    """

    def __init__(self, what: str, *, most: int = MOST) -> None:
        self.values: list[Any] = []
        self._what = what
        self._most = most
        self._numbers: dict[Any, int] = {}
        self._results: dict[Callable[[Any], Any], list[Any]] = {}

    def codes(self, values: pa.Array) -> np.ndarray:
        """Return the number of every value, int32; new values get the next ones.

        RAISES (BergamotError): T114 for too many distinct values.
        """
        encoded = values.dictionary_encode()
        distinct = encoded.dictionary.to_pylist()
        for value in distinct:
            if value not in self._numbers:
                self._numbers[value] = len(self.values)
                self.values.append(value)
        if len(self.values) > self._most:
            raise BergamotError(Errors.T114.format(what=self._what, most=self._most))
        numbers = np.array([self._numbers[value] for value in distinct], dtype=np.int32)
        return numbers[encoded.indices.to_numpy()]

    def apply(self, function: Callable[[Any], Any], codes: np.ndarray) -> np.ndarray:
        """Return what the function says of the value of every code; it is asked once a value."""
        results = self._results.setdefault(function, [])
        results.extend(map(function, self.values[len(results) :]))
        return np.array(results)[codes]

    def enum(self, codes: np.ndarray) -> pl.Series:
        """Return the value, a string, of every code."""
        return pl.Series(self.values, dtype=pl.Enum(self.values)).gather(codes)
