"""Stable 64-bit keys of strings and of all windows of a text, and look-up in sorted arrays."""

import hashlib
from collections.abc import Iterable

import numpy as np

_BASE = 0xD1342543DE82EF95  # odd, so that it has an inverse
_INVERSE = pow(_BASE, -1, 2**64)


def string_key(text: str) -> int:
    """Return the BLAKE2b hash of a string, 64 bits.

    text (str): Any string; halves of surrogate pairs too.
    """
    digest = hashlib.blake2b(text.encode("utf8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def string_keys(texts: Iterable[str]) -> np.ndarray:
    """Return the keys of strings, uint64.

    texts (Iterable[str]): Strings.
    """
    return np.fromiter(map(string_key, texts), dtype=np.uint64)


def find_keys(sorted_keys: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the first position of every wanted key in a sorted array, int64; -1 if absent.

    sorted_keys (uint64 (n,)): In ascending order.
    wanted (uint64 (m,)): In any order.
    """
    if not len(sorted_keys):
        return np.full(len(wanted), -1, dtype=np.int64)
    positions = np.searchsorted(sorted_keys, wanted)
    inside = np.minimum(positions, len(sorted_keys) - 1)
    return np.where(sorted_keys[inside] == wanted, inside, -1)


class WindowKeys:
    """Keys of the windows of a text, each in the same time however long it is.

    A key is the polynomial of the window's characters, scattered over 64 bits each, modulo 2⁶⁴: the
    difference of two running sums, moved to the window's start.
    """

    def __init__(self, text: str) -> None:
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        values = _scattered(points)
        powers = _powers(_BASE, len(values))
        self._sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(values * powers)])
        self._back = _powers(_INVERSE, len(values) + 1)

    def __call__(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Return the keys of windows, uint64.

        starts (int64 (n,)): The first character of every window.
        ends (int64 (n,)): The character behind its last.
        """
        return (self._sums[ends] - self._sums[starts]) * self._back[starts]

    @classmethod
    def of(cls, texts: Iterable[str]) -> np.ndarray:
        """Return the keys of whole texts, uint64.

        texts (Iterable[str]): Texts.
        """
        texts = list(texts)
        ends = np.cumsum([0, *map(len, texts)])
        return cls("".join(texts))(ends[:-1], ends[1:])

    @staticmethod
    def behind(character: str, keys: np.ndarray) -> np.ndarray:
        """Return the keys of texts that have a character in front, from those without it.

        character (str): One character.
        keys (uint64 (n,)): Of the texts without it.
        """
        (first,) = _scattered(np.array([ord(character)]))
        return first + keys * np.uint64(_BASE)


def _scattered(points: np.ndarray) -> np.ndarray:
    """Return 64 bits for every character: the last step of SplitMix64."""
    values = (points.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _powers(base: int, count: int) -> np.ndarray:
    powers = np.full(count, base, dtype=np.uint64)
    powers[:1] = 1
    return np.multiply.accumulate(powers)
