"""Stable 64-bit hashes of strings and numbers, vectorised.

Sampling draws from them, so that a choice depends on the seed and on the names themselves, never
on row order, thread count or library version.
"""

import numpy as np
import pyarrow as pa

_CHUNK = 1 << 18


def mix(*values: np.ndarray | int) -> np.ndarray:
    """Hash numbers together, elementwise: splitmix64's finaliser after each (Steele et al. 2014).

    RETURNS (uint64): Broadcast shape of the values.
    """
    state = np.zeros(1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for value in values:
            state = (state ^ np.asarray(value).astype(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
            state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            state = state ^ (state >> np.uint64(31))
    return state


def uniform(hashes: np.ndarray) -> np.ndarray:
    """Map hashes to float64 in [0, 1)."""
    return (hashes >> np.uint64(11)).astype(np.float64) * 2.0**-53


def string_hashes(strings: pa.Array) -> np.ndarray:
    """Return uint64 hashes of UTF-8 strings.

    A polynomial in the bytes over 2^64, all strings of a chunk at once by prefix sums, finished
    by `mix`.
    """
    strings = strings.cast(pa.large_string())
    parts = [_hash_chunk(strings[i : i + _CHUNK]) for i in range(0, len(strings), _CHUNK)]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.uint64)


_BYTE = mix(np.arange(256), 1)
_BASE = np.uint64(0x5851F42D4C957F2D)
_INVERSE = np.uint64(pow(int(_BASE), -1, 1 << 64))


def _hash_chunk(strings: pa.Array) -> np.ndarray:
    _, offset_buffer, data_buffer = strings.buffers()
    offsets = np.frombuffer(offset_buffer, dtype=np.int64)
    offsets = offsets[strings.offset : strings.offset + len(strings) + 1]
    start, end = int(offsets[0]), int(offsets[-1])
    data = (
        np.frombuffer(data_buffer, dtype=np.uint8)[start:end] if data_buffer else np.empty(0, "u1")
    )
    powers = np.full(len(data) + 1, _BASE, dtype=np.uint64)
    powers[0] = 1
    with np.errstate(over="ignore"):
        powers = np.multiply.accumulate(powers)
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_BYTE[data] * powers[:-1])])
        local = offsets - start
        lengths = np.diff(local)
        # Dividing by BASE^start makes the hash independent of where the string lies.
        back = np.full(len(data) + 1, _INVERSE, dtype=np.uint64)
        back[0] = 1
        back = np.multiply.accumulate(back)
        hashes = (sums[local[1:]] - sums[local[:-1]]) * back[local[:-1]]
    return mix(hashes, lengths)
