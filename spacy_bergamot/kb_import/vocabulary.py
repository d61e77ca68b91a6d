"""Values that repeat, as numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from spacy_bergamot.kb_import.errors import BergamotError, Errors
from spacy_bergamot.kb_import.keys import string_bytes, string_lengths

MOST = 1 << 15
"""Values of a column: the tables on disk have codes of 16 bits."""
NO_LIMIT = 1 << 31


class Vocabulary:
    """Distinct values, numbered as they come.

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
        if pa.types.is_large_string(values.type) and (string_lengths(values) == 1).all():
            return self._codes_of_bytes(string_bytes(values))
        encoded = values.dictionary_encode()
        numbers = np.array(
            [self.number(value) for value in encoded.dictionary.to_pylist()], np.int32
        )
        return numbers[encoded.indices.to_numpy()]

    def _codes_of_bytes(self, values: np.ndarray) -> np.ndarray:
        numbers = np.zeros(256, dtype=np.int32)
        for byte in np.flatnonzero(np.bincount(values, minlength=256)):
            numbers[byte] = self.number(chr(byte))
        return numbers[values]

    def number(self, value: Any) -> int:
        """Return the number of a value; RAISES as `codes` does."""
        number = self._numbers.setdefault(value, len(self.values))
        if number == len(self.values):
            if number == self._most:
                raise BergamotError(Errors.T114, what=self._what, most=self._most)
            self.values.append(value)
        return number

    def apply(self, function: Callable[[Any], Any], codes: np.ndarray) -> np.ndarray:
        """Return what the function says of the value of every code; it is asked once a value."""
        results = self._results.setdefault(function, [])
        results.extend(map(function, self.values[len(results) :]))
        return np.array(results)[codes] if len(codes) else np.empty(0, dtype=np.int64)

    def enum(self, codes: np.ndarray) -> pl.Series:
        """Return the value, a string, of every code."""
        return pl.Series(self.values, dtype=pl.Enum(self.values)).gather(codes)
