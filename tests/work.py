"""Work that is counted and not timed, so that it is the same on any machine."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_run(call: Callable[[], object]) -> int:
    """Return how many lines of Python a call runs; what C code does is not counted."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


class CountedText(str):
    """A text that counts the characters that are taken out of it, and how often it is searched."""

    taken = 0
    searched = 0

    def __getitem__(self, key: Any) -> str:
        part = super().__getitem__(key)
        self.taken += len(part)
        return part

    def find(self, *arguments: Any) -> int:
        self.searched += 1
        return super().find(*arguments)
