"""Which rows of a release belong in the knowledge base."""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from spacy_bergamot.kb_import.errors import BergamotError, Errors
from spacy_bergamot.kb_import.keys import string_bytes, string_lengths
from spacy_bergamot.text import CONTROLS

SUPPRESSED = ("O", "Y", "E")
_ALPHANUMERIC = np.array([code < 128 and chr(code).isalnum() for code in range(256)])


@dataclass(frozen=True)
class Filters:
    """Filters of names and concepts; an empty tuple keeps everything.

    languages (tuple[str, ...]): MRCONSO's LAT, such as ENG.
    sources (tuple[str, ...]): SAB, of names and relations.
    term_types (tuple[str, ...]): TTY.
    suppress (tuple[str, ...]): Values of SUPPRESS that drop a row.
    semantic_types (tuple[str, ...]): TUI; a concept stays if it has one of them.
    semantic_groups (tuple[str, ...]): Groups such as DISO; likewise.
    max_name_length (int): Characters; longer names are dropped.
    """

    languages: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    term_types: tuple[str, ...] = ()
    suppress: tuple[str, ...] = SUPPRESSED
    semantic_types: tuple[str, ...] = ()
    semantic_groups: tuple[str, ...] = ()
    max_name_length: int = 1000


def outside(wanted: tuple[str, ...]) -> Callable[[str], bool]:
    """Return what tells whether a filter drops a value; an empty filter drops none."""
    return lambda value: bool(wanted) and value not in wanted


def without_letters(strings: pa.LargeStringArray) -> np.ndarray:
    """Tell of strings, none of them empty, which have neither letter nor digit."""
    starts = np.cumsum(string_lengths(strings)) - string_lengths(strings)
    found = ~_ALPHANUMERIC[string_bytes(strings)[starts]]
    if found.any():
        texts = pl.Series(strings.filter(pa.array(found)))
        found[found] = ~texts.str.contains(r"[\p{L}\p{N}]").to_numpy()
    return found


def with_controls(strings: pa.LargeStringArray) -> np.ndarray:
    """Tell which strings have a control character that no name has."""
    data = string_bytes(strings)
    # 0xC2 begins those from U+0080 on, and some signs: a look at the bytes spares most pieces one
    # at the characters.
    if not ((data < ord(" ")) | (data == 0x7F) | (data == 0xC2)).any():
        return np.zeros(len(strings), dtype=bool)
    return pl.Series(strings).str.contains(CONTROLS).to_numpy()


def longer_than(characters: int, strings: pa.LargeStringArray) -> np.ndarray:
    """Tell which strings have more characters."""
    found = string_lengths(strings) > characters  # bytes
    if found.any():
        found[found] = pc.utf8_length(strings.filter(pa.array(found))).to_numpy() > characters
    return found


def without(problems: dict[str, np.ndarray], dropped: Counter[str]) -> np.ndarray:
    """Return the rows that have no problem, int64, and count the others by their first.

    problems (dict[str, np.ndarray]): Of every problem which rows have it, bool (rows,).
    dropped (Counter[str]): Is told how many rows each problem drops.
    """
    sound = np.ones(len(next(iter(problems.values()))), dtype=bool)
    for problem, found in problems.items():
        falls = int(np.count_nonzero(found & sound))
        if falls:
            dropped[problem] += falls
            sound &= ~found
    return np.flatnonzero(sound)


def require_known(
    what: str, wanted: tuple[str, ...], *, known: Collection[str], path: Path
) -> None:
    """Refuse a filter that no row can pass, for it is a slip of the pen.

    RAISES (BergamotError): T110, with the values that the file has.
    """
    for value in wanted:
        if value not in known:
            choices = ", ".join(sorted(known))
            raise BergamotError(Errors.T110, path=path, what=what, value=value, choices=choices)
