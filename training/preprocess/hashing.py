"""Draws that depend on the seed and on what is chosen from.

They never depend on row order, thread count or a library's version. Strings begin with
`spacy_bergamot.hashing.string_keys`.
"""

import numpy as np


def mix(*values: np.ndarray | int) -> np.ndarray:
    """Hash numbers together, elementwise: splitmix64's finaliser after each (Steele et al. 2014).

    RETURNS (uint64): Broadcast shape of the values, at least (1,).
    """
    hashes = np.zeros(1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for value in values:
            hashes = hashes ^ np.asarray(value).astype(np.uint64)
            hashes += np.uint64(0x9E3779B97F4A7C15)
            hashes ^= hashes >> np.uint64(30)
            hashes *= np.uint64(0xBF58476D1CE4E5B9)
            hashes ^= hashes >> np.uint64(27)
            hashes *= np.uint64(0x94D049BB133111EB)
            hashes ^= hashes >> np.uint64(31)
    return hashes


def uniform(hashes: np.ndarray) -> np.ndarray:
    """Map hashes to float64 in [0, 1)."""
    return (hashes >> np.uint64(11)).astype(np.float64) * 2.0**-53
