"""UMLS's Rich Release Format, read once: checked, hashed and taken apart piece by piece.

A line is `field|field|…|` and ends with a line feed, which a carriage return may precede; nothing
else ends a line, quotes are ordinary characters, and no value means missing. A malformed line is
counted, named and skipped; too large a share of them stops the run.
"""

import hashlib
import logging
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import polars as pl
import pyarrow as pa

from spacy_bergamot.kb_import.errors import BergamotError, Errors
from spacy_bergamot.kb_import.keys import strings_of
from spacy_bergamot.kb_import.release import Source, find_tables

COLUMNS = {
    "MRCONSO": "CUI LAT TS LUI STT SUI ISPREF AUI SAUI SCUI SDUI SAB TTY CODE STR SRL SUPPRESS CVF",
    "MRREL": "CUI1 AUI1 STYPE1 REL CUI2 AUI2 STYPE2 RELA RUI SRUI SAB SL RG DIR SUPPRESS CVF",
    "MRSTY": "CUI TUI STN STY ATUI CVF",
    "MRDEF": "CUI AUI ATUI SATUI SAB DEF SUPPRESS CVF",
    "MRRANK": "RANK SAB TTY SUPPRESS",
    "MRSAB": "VCUI RCUI VSAB RSAB SON SF SVER VSTART VEND IMETA RMETA SLC SCC SRL TFR CFR CXTY "
    "TTYL ATNL LAT CENC CURVER SABIN SSN SCIT",
}
_KEYS = {
    "MRCONSO": ["CUI", "STR"],
    "MRREL": ["CUI1", "REL", "CUI2"],
    "MRSTY": ["CUI", "TUI"],
    "MRDEF": ["CUI", "DEF"],
    "MRRANK": ["RANK", "SAB"],
    "MRSAB": ["RSAB"],
}
_MARK = b"\xef\xbb\xbf"  # of UTF-8, which some editors put at the beginning
_REPLACED = "\ufffd"  # what an earlier conversion puts for bytes that are not UTF-8
_PIECE = 1 << 20  # bytes; stays in the processor's cache
_LONGEST = 256  # pieces that a line may take
_SHOWN = 10
_WORDS = (1, 2, 4, 8)  # bytes; numpy gathers these faster than Arrow
_BROKEN = (OSError, EOFError, RuntimeError, zlib.error, BadZipFile)

logger = logging.getLogger(__name__)


class Rows:
    """Well-formed lines of a table.

    data (bytes): The lines.
    ends (np.ndarray): Positions of the separators that end the fields, int64 (rows, columns).
    columns (Sequence[str]): The columns' names.
    """

    def __init__(self, data: bytes, ends: np.ndarray, columns: Sequence[str]) -> None:
        self._data = data
        self._ends = ends
        self._places = {name: place for place, name in enumerate(columns)}

    def __len__(self) -> int:
        return len(self._ends)

    def strings(
        self, column: str, rows: np.ndarray | None = None, *, to: str = ""
    ) -> pa.LargeStringArray:
        """Return the fields of a column, of these rows where they are given.

        rows (int64): In ascending order.
        to (str): A later column: the fields up to and with its, with the separators between.
        """
        starts, ends = self._starts(column), self._ends[:, self._places[to or column]]
        if rows is not None:
            starts, ends = starts[rows], ends[rows]
        count = len(starts)
        width = int(ends[0] - starts[0]) if count else 0
        if width in _WORDS and (ends - starts == width).all():
            return strings_of(self._words(width)[starts])
        # Fields alternate with what lies between them: so Arrow sees strings without gaps.
        offsets = np.zeros(2 * count + 1, dtype=np.int64)
        offsets[:-1:2], offsets[1::2] = starts, ends
        offsets[-1] = offsets[-2] if count else 0
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(self._data)]
        fields = pa.Array.from_buffers(pa.large_string(), 2 * count, buffers)
        return fields.take(pa.array(np.arange(0, 2 * count, 2)))

    def _words(self, width: int) -> np.ndarray:
        """Return the bytes from every place on as numbers of this many bytes."""
        shape = (len(self._data) - width + 1,)
        return np.ndarray(shape, dtype=f"<u{width}", buffer=self._data, strides=(1,))

    def has_empty(self, column: str) -> bool:
        """Tell whether a field of the column is empty."""
        return bool((self._starts(column) == self._ends[:, self._places[column]]).any())

    def _starts(self, column: str) -> np.ndarray:
        place = self._places[column]
        if place:
            return self._ends[:, place - 1] + 1
        starts = np.zeros(len(self), dtype=np.int64)
        np.add(self._ends[:-1, -1], len("|\n"), out=starts[1:])
        return starts


class RrfTable:
    """A table of a release. It can be read once, and then has `read`, `malformed` and `file`.

    name (str): MRCONSO, MRREL, MRSTY, MRDEF, MRRANK or MRSAB.
    source (Source): Where it is.
    max_malformed (float): Share of malformed lines above which the run stops.
    read, malformed (int): Lines in the table, and those that were skipped.
    file (dict): The table's file name, its bytes and their SHA-256.
    """

    def __init__(self, name: str, source: Source, *, max_malformed: float = 0.001) -> None:
        self.name = name
        self.source = source
        self.max_malformed = max_malformed
        self.columns = COLUMNS[name].split()
        self.read = self.malformed = 0
        self.file: dict[str, Any] = {}

    def pieces(self) -> Iterator[Rows]:
        """Yield the well-formed rows, some thousands at a time.

        RAISES (BergamotError): T102 for an unreadable table, T103 for too many malformed lines.
        """
        shown: list[str] = []
        digest, size, taken = hashlib.sha256(), 0, 0

        def told(piece: bytes) -> None:
            nonlocal size
            digest.update(piece)
            size += len(piece)

        for data in _whole_lines(self.source, told):
            taken += len(data)
            if b"\r" in data:
                data = data.replace(b"\r\n", b"\n")
            rows = self._rows(data)
            if rows is None:
                rows = self._rows(self._without_malformed(data, shown))
            if rows is not None:
                self.read += len(rows)
                yield rows
            if self.malformed:
                self._stop_early(taken, shown)
        self._report(shown)
        self.file = {"name": f"{self.name}.RRF", "bytes": size, "sha256": digest.hexdigest()}

    def frame(self, *columns: str) -> pl.DataFrame:
        """Return columns of all rows, as strings. RAISES (BergamotError): As `pieces` does."""
        chunks: dict[str, list[pa.Array]] = {column: [] for column in columns}
        for rows in self.pieces():
            for column in columns:
                chunks[column].append(rows.strings(column))
        arrays = {c: pa.chunked_array(parts, pa.large_string()) for c, parts in chunks.items()}
        return pl.DataFrame(pl.from_arrow(pa.table(arrays)))

    def _rows(self, data: bytes) -> Rows | None:
        """Return the rows of lines, or None if one of them is malformed or there is none.

        Lines are not looked at one by one: where there are so many separators for so many line
        feeds, and each line feed follows one of them at the right distance, all is well.
        """
        codes = np.frombuffer(data, dtype=np.uint8)
        lines = int(np.count_nonzero(codes == ord("\n")))
        bars = np.flatnonzero(codes == ord("|"))
        if not lines or len(bars) != lines * len(self.columns):
            return None
        if b"\r" in data or not _is_utf8(data):
            return None
        ends = bars.reshape(lines, len(self.columns))
        if not (codes[ends[:, -1] + 1] == ord("\n")).all():
            return None
        rows = Rows(data, ends, self.columns)
        return None if any(rows.has_empty(key) for key in _KEYS[self.name]) else rows

    def _without_malformed(self, data: bytes, shown: list[str]) -> bytes:
        """Return the well-formed lines; count the others and note the first of them in `shown`."""
        kept = []
        lines = data.removesuffix(b"\n").split(b"\n")
        for number, line in enumerate(lines, self.read + 1):
            problem = self._problem(line)
            if problem is None:
                kept.append(line + b"\n")
            elif len(shown) < _SHOWN:
                shown.append(f"{self.source}:{number}: {problem}")
        self.malformed += len(lines) - len(kept)
        self.read += len(lines) - len(kept)
        return b"".join(kept)

    def _problem(self, line: bytes) -> str | None:
        """Say what is wrong with a line, if anything is."""
        fields = line.split(b"|")
        found, columns = len(fields) - 1, len(self.columns)
        if found != columns:
            return f"{found} columns where {columns} belong"
        if fields[-1]:
            return "text after the last |"
        if b"\r" in line:
            return "a carriage return inside the line"
        if not _is_utf8(line):
            return "not UTF-8, or marked U+FFFD by an earlier conversion"
        keys = _KEYS[self.name]
        if not all(fields[self.columns.index(key)] for key in keys):
            return f"{' or '.join(keys)} is empty"
        return None

    def _report(self, shown: list[str]) -> None:
        if not self.malformed:
            return
        if self.malformed > self.max_malformed * self.read:
            raise self._too_many(shown)
        logger.warning("Skipping %d malformed lines:\n%s", self.malformed, self._listed(shown))

    def _stop_early(self, taken: int, shown: list[str]) -> None:
        """Stop where too many lines are malformed, however many sound ones may still come.

        taken (int): Bytes of the lines so far.
        """
        shortest = len(self.columns) + len(_KEYS[self.name]) + 1  # separators, keys, line feed
        coming = max(0, self._most - taken) // shortest
        if self.malformed > self.max_malformed * (self.read + coming):
            raise self._too_many(shown)

    @cached_property
    def _most(self) -> int:
        return self.source.most

    def _too_many(self, shown: list[str]) -> BergamotError:
        return BergamotError(
            Errors.T103,
            path=self.source,
            malformed=self.malformed,
            read=self.read,
            share=self.malformed / self.read,
            allowed=self.max_malformed,
            lines=self._listed(shown),
        )

    def _listed(self, shown: list[str]) -> str:
        return "\n".join(shown + (["…"] if self.malformed > _SHOWN else []))


def open_release(meta: Path, *, max_malformed: float = 0.001) -> dict[str, RrfTable]:
    """Return the tables of a release that are there.

    meta (Path), RAISES (BergamotError): As in `find_tables`.
    max_malformed (float): Share of malformed lines above which reading a table stops.
    """
    tables = find_tables(meta).items()
    return {name: RrfTable(name, source, max_malformed=max_malformed) for name, source in tables}


def _raw_pieces(source: Source, told: Callable[[bytes], None]) -> Iterator[bytes]:
    try:
        with source.open() as stream:
            while piece := stream.read(_PIECE):
                told(piece)
                yield piece
    except _BROKEN as reason:
        raise BergamotError(Errors.T102, path=source, reason=reason) from None


def _ahead(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the pieces; the next is read, unpacked and hashed in a thread meanwhile."""
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, pieces, b"")
        while piece := coming.result():
            coming = thread.submit(next, pieces, b"")
            yield piece


def _whole_lines(source: Source, told: Callable[[bytes], None]) -> Iterator[bytes]:
    """Yield a table in pieces that end with a line feed, which the last line may lack.

    told (Callable[[bytes], None]): Is told what was read, as it is.
    """
    rest: list[bytes] = []
    for number, piece in enumerate(_ahead(_raw_pieces(source, told))):
        head, feed, tail = piece.removeprefix(b"" if number else _MARK).rpartition(b"\n")
        if feed:
            yield b"".join((*rest, head, feed))
            rest = []
        rest.append(tail)
        if len(rest) > _LONGEST:
            reason = f"it has no line feed in {len(rest) * _PIECE >> 20} MiB"
            raise BergamotError(Errors.T102, path=source, reason=reason)
    if last := b"".join(rest):
        yield last + b"\n"


def _is_utf8(text: bytes) -> bool:
    try:
        return text.isascii() or _REPLACED not in text.decode()
    except UnicodeDecodeError:
        return False
