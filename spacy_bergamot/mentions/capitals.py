"""Text in capitals, where they do not tell an abbreviation: "CT SCAN SHOWS A MASS"."""

import re

import numpy as np

_WORD = re.compile(r"[^\W\d_]{5,}")  # longer than most abbreviations
_LEAST = 2  # such words, without which a line may be a list of abbreviations: "COPD, PCOS, GERD"


class Capitals:
    """The lines of a text that are in capitals throughout, or all of it.

    text (str): The text.
    """

    def __init__(self, text: str) -> None:
        is_all = _is_in_capitals(text)
        self._starts, self._ends, start = [], [], 0
        for line in text.split("\n"):
            if is_all or _is_in_capitals(line):
                self._starts.append(start)
                self._ends.append(start + len(line))
            start += len(line) + 1

    def hold(self, starts: np.ndarray) -> np.ndarray:
        """Return whether characters are in such lines, bool (n,).

        starts (int64 (n,)): The characters.
        """
        if not self._starts:
            return np.zeros(len(starts), dtype=bool)
        line = np.searchsorted(self._starts, starts, side="right") - 1
        return (line >= 0) & (starts < np.array(self._ends)[line])


def _is_in_capitals(text: str) -> bool:
    return text.isupper() and sum(1 for _ in _WORD.finditer(text)) >= _LEAST
