"""What was found for the mentions used last, shared by the threads that link."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """A mapping that keeps what was used last, at most so much; any thread may use it at any time.

    most (int): 0 keeps nothing.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def known(self, keys: Iterable[K]) -> dict[K, V]:
        """Return those of the keys that are kept, with their values."""
        with self._lock:
            return {key: self._kept[key] for key in keys if key in self._kept}

    def keep(self, found: Mapping[K, V]) -> None:
        """Keep values; the last of them as the one that was used last.

        found (Mapping): Values by their keys.
        """
        with self._lock:
            for key, value in found.items():
                self._kept[key] = value
                self._kept.move_to_end(key)
            while len(self._kept) > self.most:
                self._kept.popitem(last=False)

    def copy(self) -> "Recent[K, V]":
        """Return another with the same content, for a forked process.

        A lock that a thread held at the fork is never freed in it.
        """
        made: Recent[K, V] = Recent(self.most)
        made._kept = self._kept.copy()
        return made
