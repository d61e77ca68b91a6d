"""UMLS's Rich Release Format, read once: checked, hashed and taken apart block by block.

A line is `field|field|…|` and ends with a line feed, which a carriage return may precede; nothing
else ends a line, quotes are ordinary characters, and no value means missing. A malformed line is
counted, named and skipped; too large a share of them stops the run.
"""

import hashlib
import logging
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import polars as pl
import pyarrow as pa
from pyarrow import csv

from spacy_bergamot.kb_import.errors import BergamotError, Errors
from spacy_bergamot.kb_import.release import Source, find_tables

COLUMNS = {
    "MRCONSO": "CUI LAT TS LUI STT SUI ISPREF AUI SAUI SCUI SDUI SAB TTY CODE STR SRL SUPPRESS CVF",
    "MRREL": "CUI1 AUI1 STYPE1 REL CUI2 AUI2 STYPE2 RELA RUI SRUI SAB SL RG DIR SUPPRESS CVF",
    "MRSTY": "CUI TUI STN STY ATUI CVF",
    "MRDEF": "CUI AUI ATUI SATUI SAB DEF SUPPRESS CVF",
    "MRRANK": "RANK SAB TTY SUPPRESS",
    "MRHIER": "CUI AUI CXN PAUI SAB RELA PTR HCD CVF",
    "MRSAB": "VCUI RCUI VSAB RSAB SON SF SVER VSTART VEND IMETA RMETA SLC SCC SRL TFR CFR CXTY "
    "TTYL ATNL LAT CENC CURVER SABIN SSN SCIT",
}
_KEYS = {
    "MRCONSO": ["CUI", "STR"],
    "MRREL": ["CUI1", "REL", "CUI2"],
    "MRSTY": ["CUI", "TUI"],
    "MRDEF": ["CUI", "DEF"],
    "MRRANK": ["RANK", "SAB"],
    "MRHIER": ["CUI", "AUI"],
    "MRSAB": ["RSAB"],
}
_MARK = b"\xef\xbb\xbf"  # of UTF-8, which some editors put at the beginning
_REPLACED = "\ufffd".encode()  # what an earlier conversion puts for bytes that are not UTF-8
_BLOCK = 1 << 20  # bytes, and the rest of a line
_LONGEST = 1 << 28  # bytes of that rest
_SHOWN = 10
_BROKEN = (OSError, EOFError, RuntimeError, zlib.error, BadZipFile)
_PLAIN = csv.ParseOptions(
    delimiter="|", quote_char=False, escape_char=False, ignore_empty_lines=False
)

logger = logging.getLogger(__name__)


class RrfTable:
    """A table of a release. It can be read once, and then has `read`, `malformed` and `file`.

    name (str): MRCONSO, MRREL, MRSTY, MRDEF, MRRANK, MRHIER or MRSAB.
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
        self._shown: list[str] = []

    def batches(self, *columns: str) -> Iterator[pl.DataFrame]:
        """Yield columns of the well-formed rows, as strings, some thousands at a time.

        RAISES (BergamotError): T102 for an unreadable table, T103 for too many malformed lines.
        """
        taken = 0
        for block in self._blocks():
            taken += len(block)
            try:
                rows = self._parsed(block, columns)
            except ValueError:
                rows = self._parsed(self._without_malformed(block), columns)
            self.read += rows.height
            yield rows
            if self.malformed:
                self._stop_early(taken)
        if self.malformed > self.max_malformed * self.read:
            raise self._too_many()
        if self.malformed:
            logger.warning("Skipping %d malformed lines:\n%s", self.malformed, self._listed)

    def frame(self, *columns: str) -> pl.DataFrame:
        """Return columns of all rows, as strings. RAISES (BergamotError): As `batches` does."""
        return pl.concat([_empty(columns), *self.batches(*columns)])

    def _blocks(self) -> Iterator[bytes]:
        """Yield the table in blocks of whole lines; the last line may lack its line feed."""
        digest, size = hashlib.sha256(), 0
        try:
            with self.source.open() as stream:
                while block := stream.read(_BLOCK):
                    if not block.endswith(b"\n"):
                        block += stream.readline(_LONGEST)
                    if len(block) > _LONGEST and b"\n" not in block:
                        reason = f"it has no line feed in {len(block) >> 20} MiB"
                        raise BergamotError(Errors.T102, path=self.source, reason=reason)
                    digest.update(block)
                    lines = block if size else block.removeprefix(_MARK)
                    size += len(block)
                    yield lines if lines.endswith(b"\n") else lines + b"\n"
        except _BROKEN as reason:
            raise BergamotError(Errors.T102, path=self.source, reason=reason) from None
        self.file = {"name": f"{self.name}.RRF", "bytes": size, "sha256": digest.hexdigest()}

    def _parsed(self, block: bytes, columns: tuple[str, ...]) -> pl.DataFrame:
        """Return columns of lines. RAISES (ValueError): If one of them is malformed."""
        if not block:
            return _empty(columns)
        if b"\r" in block:
            block = block.replace(b"\r\n", b"\n")
        if block.count(b"|\n") != block.count(b"\n") or b"\r" in block or not _is_utf8(block):
            raise ValueError("lines that are not fields and bars")
        keys = _KEYS[self.name]
        wanted = list(dict.fromkeys([*keys, *columns]))
        # The bar at the end of a line begins one field more.
        read = csv.ReadOptions(column_names=[*self.columns, ""], block_size=len(block))
        convert = csv.ConvertOptions(
            include_columns=wanted, column_types=dict.fromkeys(wanted, pa.large_string())
        )
        rows = pl.DataFrame(csv.read_csv(pa.BufferReader(block), read, _PLAIN, convert))
        if rows.select(pl.any_horizontal(pl.col(keys) == "").any()).item():
            raise ValueError("keys that are empty")
        return rows.select(columns)

    def _without_malformed(self, block: bytes) -> bytes:
        """Return the well-formed lines; count the others, and note the first of all."""
        kept = []
        lines = block.removesuffix(b"\n").split(b"\n")
        for number, line in enumerate(lines, self.read + 1):
            problem = self._problem(line.removesuffix(b"\r"))
            if problem is None:
                kept.append(line + b"\n")
            elif len(self._shown) < _SHOWN:
                self._shown.append(f"{self.source}:{number}: {problem}")
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

    def _stop_early(self, taken: int) -> None:
        """Stop where too many lines are malformed, however many sound ones may still come.

        taken (int): Bytes of the lines so far.
        """
        shortest = len(self.columns) + len(_KEYS[self.name]) + 1  # separators, keys, line feed
        coming = max(0, self._most - taken) // shortest
        if self.malformed > self.max_malformed * (self.read + coming):
            raise self._too_many()

    @cached_property
    def _most(self) -> int:
        return self.source.most

    def _too_many(self) -> BergamotError:
        return BergamotError(
            Errors.T103,
            path=self.source,
            malformed=self.malformed,
            read=self.read,
            share=self.malformed / self.read,
            allowed=self.max_malformed,
            lines=self._listed,
        )

    @property
    def _listed(self) -> str:
        return "\n".join(self._shown + (["…"] if self.malformed > _SHOWN else []))


def open_release(meta: Path, *, max_malformed: float = 0.001) -> dict[str, RrfTable]:
    """Return the tables of a release that are there.

    meta (Path), RAISES (BergamotError): As in `find_tables`.
    max_malformed (float): Share of malformed lines above which reading a table stops.
    """
    tables = find_tables(meta).items()
    return {name: RrfTable(name, source, max_malformed=max_malformed) for name, source in tables}


def _empty(columns: tuple[str, ...]) -> pl.DataFrame:
    return pl.DataFrame(schema=dict.fromkeys(columns, pl.String))


def _is_utf8(text: bytes) -> bool:
    try:
        return text.isascii() or (_REPLACED not in text and bool(text.decode()))
    except UnicodeDecodeError:
        return False
