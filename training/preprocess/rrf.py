"""Lazy readers of UMLS's Rich Release Format.

A line is `field|field|…|` and ends with a line feed and nothing else; quotes are ordinary
characters, and no value means missing. A malformed line is counted, named and skipped; too large
a share of them stops the run.
"""

import logging
from dataclasses import dataclass
from pathlib import Path

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
_NO_SEPARATOR = "\x1e"  # occurs in no release; makes polars read a line as one field
_INVALID = "\ufffd"  # what polars puts for bytes that are not UTF-8
_SHOWN = 10

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class RrfTable:
    """One file of a release.

    rows (pl.LazyFrame): Its well-formed rows under their column names.
    read, malformed (int): Lines in the file, and those that were skipped.
    """

    rows: pl.LazyFrame
    read: int
    malformed: int


def open_rrf(folder: Path, table: str, *, max_malformed: float = 0.001) -> RrfTable | None:
    """Open a table of a release, or return None where there is no such file.

    table (str): MRCONSO, MRREL, MRSTY, MRDEF, MRRANK or MRSAB.
    max_malformed (float): Share of malformed lines above which the run stops.
    RAISES (BergamotError): T102 for an empty or unreadable file, T103 for too many bad lines.
    """
    path = folder / f"{table}.RRF"
    if not path.is_file():
        return None
    names = COLUMNS[table].split()
    lines = _lines(path)
    parts = pl.col("line").str.split_exact("|", len(names)).struct.rename_fields([*names, "END"])
    parsed = lines.with_columns(parts.alias("parts")).unnest("parts")
    problem = _problem(table, len(names))
    try:
        read = lines.select(pl.len()).collect(engine="streaming").item()
        bad = parsed.filter(problem.is_not_null()).select("number", problem.alias("problem"))
        malformed = bad.collect(engine="streaming")
    except pl.exceptions.PolarsError as reason:
        raise BergamotError(Errors.T102.format(path=path, reason=reason)) from None
    if not read:
        raise BergamotError(Errors.T102.format(path=path, reason="it is empty"))
    _report(path, malformed.sort("number"), read, max_malformed)
    rows = parsed.filter(problem.is_null()).select(names)
    return RrfTable(rows, read, malformed.height)


def _lines(path: Path) -> pl.LazyFrame:
    return pl.scan_csv(
        path,
        separator=_NO_SEPARATOR,
        has_header=False,
        quote_char=None,
        eol_char="\n",
        encoding="utf8-lossy",
        schema={"line": pl.String},
        glob=False,
    ).with_row_index("number", offset=1)


def _problem(table: str, columns: int) -> pl.Expr:
    """Say what is wrong with a line, or null."""
    line = pl.col("line")
    found = line.str.count_matches("|", literal=True)
    empty = pl.any_horizontal(pl.col(key).is_null() | (pl.col(key) == "") for key in _KEYS[table])
    count = pl.format("{} columns where {} belong", found, pl.lit(columns))
    return (
        pl.when(line.is_null() | (found != columns))
        .then(count)
        .when(line.str.contains(_INVALID, literal=True))
        .then(pl.lit("not UTF-8, or the mark of a lossy conversion to it"))
        .when(empty)
        .then(pl.lit(f"one of {', '.join(_KEYS[table])} is empty"))
    )


def _report(path: Path, bad: pl.DataFrame, read: int, max_malformed: float) -> None:
    if not bad.height:
        return
    shown = [f"{path}:{n}: {what or 'empty line'}" for n, what in bad.head(_SHOWN).iter_rows()]
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
