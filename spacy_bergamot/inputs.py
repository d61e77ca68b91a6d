"""What people write by hand or with other tools: lines of UTF-8, and JSON, with the line at fault.

Those who read say which file it is: they catch `Malformed` and raise a coded error of their own.
"""

import json
import re
from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Any

_MARK = b"\xef\xbb\xbf"  # of UTF-8, which some editors put at the beginning
_HALF = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_DEEP = "it is nested too deeply"


class Malformed(ValueError):
    """What is wrong, and in which line, from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


def decoded_lines(stream: Iterable[bytes], *, ends: bool = False) -> Iterator[tuple[int, str]]:
    """Yield number (from 1) and text of lines of UTF-8, without the mark some editors put in front.

    stream (Iterable[bytes]): A binary file; a line feed alone ends a line.
    ends (bool): Keep the line ends.
    RAISES (Malformed): For bytes that are not UTF-8.
    """
    for number, line in enumerate(stream, start=1):
        data = line.removeprefix(_MARK) if number == 1 else line
        text = decoded(data, number)
        yield number, text if ends else text.rstrip("\r\n")


def decoded(data: bytes, line: int = 1) -> str:
    """Return UTF-8 as a string.

    data (bytes): UTF-8.
    line (int): Of its beginning.
    RAISES (Malformed): If it is none.
    """
    try:
        return data.decode("utf8")
    except UnicodeDecodeError as reason:
        place = line + data.count(b"\n", 0, reason.start)
        byte = f"the byte 0x{data[reason.start]:02x} is not UTF-8"
        raise Malformed(place, byte) from None


def parsed(text: str, line: int = 1, *, halves: bool = False) -> Any:
    """Return a JSON value whose strings and numbers files can hold.

    text (str): JSON.
    line (int): Of the text's beginning in its file.
    halves (bool): Let half a surrogate pair pass.
    RAISES (Malformed): For what is no JSON, for NaN and numbers that are not finite, for half a
        surrogate pair, and for what is nested too deeply.
    """
    try:
        value = json.loads(text, parse_float=_finite, parse_constant=_finite)
        if not halves and _HALF.search(text):  # also of whole pairs: those can be written
            json.dumps(value, ensure_ascii=False).encode("utf8")
    except json.JSONDecodeError as reason:
        problem = f"{reason.msg} (column {reason.colno})"
        raise Malformed(line + reason.lineno - 1, problem) from None
    except UnicodeEncodeError as reason:
        half = f"\\u{ord(reason.object[reason.start]):04x}"
        place = _line_of(half, text, line)
        raise Malformed(place, f"{half} is half of a surrogate pair") from None
    except RecursionError:
        raise Malformed(line, _DEEP) from None
    except _NotFinite as reason:
        raise Malformed(_line_of(str(reason), text, line), f"{reason} is not finite") from None
    except ValueError as reason:  # a whole number of too many digits
        raise Malformed(line, str(reason).partition(";")[0]) from None
    return value


class _NotFinite(ValueError):
    pass


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise _NotFinite(text)
    return value


def _line_of(wanted: str, text: str, line: int) -> int:
    """Return the line where a text has something, in whatever case."""
    return line + text.count("\n", 0, max(0, text.lower().find(wanted.lower())))
