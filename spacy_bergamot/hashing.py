"""Stable 64-bit keys of strings, and look-up in sorted arrays of them."""

import hashlib
from collections.abc import Iterable

import numpy as np


def string_key(text: str) -> int:
    """Return the BLAKE2b hash of a string, 64 bits."""
    digest = hashlib.blake2b(text.encode("utf8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def string_keys(texts: Iterable[str]) -> np.ndarray:
    """Return the keys of strings, uint64."""
    return np.fromiter(map(string_key, texts), dtype=np.uint64)


def find_keys(sorted_keys: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the first position of every wanted key in a sorted array, int64; -1 if absent."""
    if not len(sorted_keys):
        return np.full(len(wanted), -1, dtype=np.int64)
    positions = np.searchsorted(sorted_keys, wanted)
    inside = np.minimum(positions, len(sorted_keys) - 1)
    return np.where(sorted_keys[inside] == wanted, inside, -1)
