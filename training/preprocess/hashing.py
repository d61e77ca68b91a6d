"""Stable 64-bit hashes of strings and numbers, vectorised.

Draws are made from them, so that a choice depends on the seed and on what is chosen from, never
on row order, thread count or a library's version.
"""

from functools import cache

import numpy as np
import pyarrow as pa

from spacy_bergamot.kb_import.keys import string_bytes, string_lengths

_PLACES = 1 << 10  # bytes of a string whose hashes are looked up
_STRINGS = 1 << 13  # hashed at a time; they stay in the processor's cache


def mix(*values: np.ndarray | int, state: np.ndarray | int = 0) -> np.ndarray:
    """Hash numbers together, elementwise: splitmix64's finaliser after each (Steele et al. 2014).

    state (np.ndarray or int): The hash of the values before: `mix(a, b) == mix(b, state=mix(a))`.
    RETURNS (uint64): Broadcast shape of the values, at least (1,).
    """
    hashes = np.atleast_1d(np.asarray(state, dtype=np.uint64))
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


def string_hashes(strings: pa.Array) -> np.ndarray:
    """Return uint64 hashes of UTF-8 strings: tabulation hashing of every byte at its place."""
    strings = strings.cast(pa.large_string())
    parts = [_hash_some(strings[i : i + _STRINGS]) for i in range(0, len(strings), _STRINGS)]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.uint64)


def _hash_some(strings: pa.Array) -> np.ndarray:
    data, lengths = string_bytes(strings), string_lengths(strings)
    starts = np.cumsum(lengths) - lengths
    place = np.arange(len(data)) - np.repeat(starts, lengths)
    if lengths.max(initial=0) <= _PLACES:
        place <<= 8
        place += data
        mixed = _mixed_bytes().take(place)
    else:
        mixed = mix(data, place)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    return mix(sums[starts + lengths] - sums[starts], lengths)


@cache
def _mixed_bytes() -> np.ndarray:
    """Return the hash of every byte at every place, uint64: that of byte b at p is at 256 p + b."""
    return mix(np.arange(256), np.arange(_PLACES)[:, None]).ravel()
