"""Lazy readers of UMLS's Rich Release Format.

A line is `field|field|…|` and ends with a line feed, which a carriage return may precede; nothing
else ends a line, quotes are ordinary characters, and no value means missing. A malformed line is
counted, named and skipped; too large a share of them stops the run.
"""

import hashlib
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from training.errors import BergamotError, Errors

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
_NO_SEPARATOR = "\x1e"  # makes polars read a line as one field; what follows one is cut off
_REPLACED = "\ufffd"  # what polars, like others before it, puts for bytes that are not UTF-8
_END = "END"  # what follows the last separator: nothing
_RARE = (b"\r", _NO_SEPARATOR.encode())
_PIECE = 1 << 17  # bytes; stays in the processor's cache
_SHOWN = 10

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class RrfTable:
    """One file of a release.

    rows (pl.LazyFrame): Its well-formed rows under their column names.
    read, malformed (int): Lines in the file, and those that were skipped.
    file (dict): The file's name, bytes and sha256.
    """

    rows: pl.LazyFrame
    read: int
    malformed: int
    file: dict[str, Any]


def open_rrf(folder: Path, table: str, *, max_malformed: float = 0.001) -> RrfTable | None:
    """Open a table of a release, or return None where there is no such file.

    table (str): MRCONSO, MRREL, MRSTY, MRDEF, MRRANK or MRSAB.
    max_malformed (float): Share of malformed lines above which the run stops.
    RAISES (BergamotError): T102 for an unreadable file, T103 for too many malformed lines.
    """
    path = folder / f"{table}.RRF"
    if not path.is_file():
        return None
    names = COLUMNS[table].split()
    try:
        screened, digest = _screen(path, len(names), [names.index(key) for key in _KEYS[table]])
        file = {"name": path.name, "bytes": path.stat().st_size, "sha256": digest}
        if screened is not None:
            return RrfTable(_rows(path, names), screened, 0, file)
        read = _lines(path).select(pl.len()).collect(engine="streaming").item()
        parts = pl.col("line").str.split_exact("|", len(names)).struct.rename_fields([*names, _END])
        parsed = _lines(path).with_columns(parts.alias("parts")).unnest("parts")
        problem = _problem(len(names), _KEYS[table])
        bad = parsed.select("number", problem=problem).drop_nulls().collect(engine="streaming")
    except (pl.exceptions.PolarsError, OSError) as reason:
        raise BergamotError(Errors.T102.format(path=path, reason=reason)) from None
    _report(path, bad.sort("number"), read, max_malformed)
    return RrfTable(parsed.filter(problem.is_null()).select(names), read, bad.height, file)


def _screen(path: Path, columns: int, keys: list[int]) -> tuple[int | None, str]:
    """Return how many lines there are, or None if the thorough check must look at them.

    Without taking lines apart or decoding them, which costs several times the reading: in a
    file whose lines all have so many separators, these and the line feeds make a table. The file
    is read once for this and for its SHA-256, which is returned beside.

    keys (list[int]): Positions of the columns that must not be empty.
    """
    read, sound = 0, True
    digest = hashlib.sha256()
    for piece in _whole_lines(path, digest.update):
        lines = _sound_lines(piece, columns, keys) if sound else None
        sound = lines is not None
        read += lines or 0
    return (read if sound else None), digest.hexdigest()


def _sound_lines(piece: bytes, columns: int, keys: list[int]) -> int | None:
    if any(rare in piece for rare in _RARE) or not _is_utf8(piece):
        return None
    codes = np.frombuffer(piece, dtype=np.uint8)
    feeds = codes == ord("\n")
    lines = int(np.count_nonzero(feeds))
    ends = np.flatnonzero((codes == ord("|")) | feeds)
    if len(ends) != lines * (columns + 1):
        return None
    fields = ends.reshape(lines, columns + 1)
    line_ends = fields[:, -1]
    before = np.r_[-1, line_ends[:-1]]
    if not feeds[line_ends].all() or (line_ends - fields[:, -2] > 1).any():
        return None
    for key in keys:
        if (fields[:, key] - (fields[:, key - 1] if key else before) == 1).any():
            return None
    return lines


def _whole_lines(path: Path, told: Callable[[bytes], None]) -> Iterator[bytes]:
    """Yield a file in pieces that end with a line feed, which the last line may lack.

    told (Callable[[bytes], None]): Is told what was read, as it is.
    """
    rest = b""
    with path.open("rb", buffering=0) as stream:
        while piece := stream.read(_PIECE):
            told(piece)
            head, feed, tail = piece.rpartition(b"\n")
            if feed:
                yield b"".join((rest, head, feed))
                rest = tail
            else:
                rest += piece
    if rest:
        yield rest + b"\n"


def _is_utf8(text: bytes) -> bool:
    try:
        return text.isascii() or _REPLACED not in text.decode()
    except UnicodeDecodeError:
        return False


def _rows(path: Path, names: list[str]) -> pl.LazyFrame:
    """Return the rows of a file that has no malformed line."""
    return pl.scan_csv(
        path,
        separator="|",
        has_header=False,
        quote_char=None,
        eol_char="\n",
        encoding="utf8-lossy",
        schema=dict.fromkeys([*names, _END], pl.String),
        glob=False,
    ).select(pl.col(names).fill_null(""))


def _lines(path: Path) -> pl.LazyFrame:
    """Return number (from 1) and line (null if it is empty) of every line."""
    return pl.scan_csv(
        path,
        separator=_NO_SEPARATOR,
        truncate_ragged_lines=True,
        has_header=False,
        quote_char=None,
        eol_char="\n",
        encoding="utf8-lossy",
        schema={"line": pl.String},
        glob=False,
    ).with_row_index("number", offset=1)


def _problem(columns: int, keys: list[str]) -> pl.Expr:
    """Say what is wrong with a line, or null."""
    line = pl.col("line").fill_null("")
    found = line.str.count_matches("|", literal=True)
    empty = pl.any_horizontal(pl.col(key).fill_null("") == "" for key in keys)
    checks = [
        (found != columns, pl.format("{} columns where {} belong", found, pl.lit(columns))),
        (pl.col(_END) != "", pl.lit("text after the last |")),
        (line.str.contains("\r", literal=True), pl.lit("a carriage return inside the line")),
        (
            line.str.contains(_REPLACED, literal=True),
            pl.lit("not UTF-8, or marked U+FFFD by an earlier conversion"),
        ),
        (empty, pl.lit(f"{' or '.join(keys)} is empty")),
    ]
    return pl.coalesce(pl.when(check).then(why) for check, why in checks)


def _report(path: Path, bad: pl.DataFrame, read: int, max_malformed: float) -> None:
    if not bad.height:
        return
    shown = [f"{path}:{n}: {what}" for n, what in bad.head(_SHOWN).iter_rows()]
    text = "\n".join(shown + (["…"] if bad.height > _SHOWN else []))
    if bad.height > max_malformed * read:
        raise BergamotError(
            Errors.T103.format(
                path=path,
                malformed=bad.height,
                read=read,
                share=bad.height / read,
                allowed=max_malformed,
                lines=text,
            )
        )
    logger.warning("Skipping %d malformed lines:\n%s", bad.height, text)
