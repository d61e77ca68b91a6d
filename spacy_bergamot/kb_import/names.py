"""The names of a release: MRCONSO's rows, which UMLS calls atoms."""

import logging
from collections import Counter

import polars as pl

from spacy_bergamot.kb_import.errors import BergamotError, Errors
from spacy_bergamot.kb_import.filters import (
    LETTERS,
    Filters,
    outside,
    require_few,
    require_known,
    without,
)
from spacy_bergamot.kb_import.rrf import RrfTable
from spacy_bergamot.text import CONTROLS

_LABELS = {"LAT": "language", "SAB": "source", "TTY": "term type"}
_CONTROLS = "names: control characters"
_SHOWN = 5

logger = logging.getLogger(__name__)


def read_names(
    conso: RrfTable, rank: RrfTable | None, filters: Filters, dropped: Counter[str]
) -> pl.DataFrame:
    """Return the rows that no filter drops, in their order.

    conso (RrfTable): MRCONSO.RRF.
    rank (RrfTable | None): MRRANK.RRF.
    filters (Filters): What is left out.
    dropped (Counter[str]): Gets how many rows were dropped, and why.
    RETURNS (pl.DataFrame): CUI (Categorical), LAT, SAB, TTY (Enum, sorted), CODE, STR, and
        preference: the lower, the more a name is preferred. English first, then MRRANK's rank,
        ISPREF = Y, TS = P, STT = PF; a source and term type that MRRANK lacks come last.
    RAISES (BergamotError): As `RrfTable.batches` does, T102 for an empty table, and T110 for a
        filter that fits no row, T114 for too many languages, sources or term types.
    """
    known: dict[str, set[str]] = {column: set() for column in _LABELS}
    ranks, parts, shown = _ranks(rank), [], list[str]()
    for rows in conso.batches(
        "CUI", "LAT", "TS", "STT", "ISPREF", "SAB", "TTY", "CODE", "STR", "SUPPRESS"
    ):
        for column, values in known.items():
            values.update(rows[column].unique())
        rows = without(rows, _unwanted(filters), dropped)
        sound = without(rows, _unfit(filters), dropped)
        if dropped[_CONTROLS] and len(shown) < _SHOWN:
            names = rows["STR"]
            shown += names.filter(names.str.contains(CONTROLS)).to_list()
        sound = sound.join(ranks, on=["SAB", "TTY"], how="left", maintain_order="left")
        labels = pl.col("CUI", *_LABELS).cast(pl.Categorical)
        preference = _preference(ranks.height).alias("preference")
        parts.append(sound.select(labels, "CODE", "STR", preference))
    if not conso.read:
        raise BergamotError(Errors.T102, path=conso.source, reason="it is empty")
    if shown:
        first = ", ".join(map(repr, shown[:_SHOWN]))
        logger.warning("Dropping %d names with control characters: %s", dropped[_CONTROLS], first)
    wanted = {"LAT": filters.languages, "SAB": filters.sources, "TTY": filters.term_types}
    for column, what in _LABELS.items():
        require_few(f"{column} of {conso.source}", len(known[column]))
        require_known(what, wanted[column], known=known[column], path=conso.source.path)
    enums = (pl.col(column).cast(pl.Enum(sorted(values))) for column, values in known.items())
    return pl.concat(parts).with_columns(*enums)


def _unwanted(filters: Filters) -> dict[str, pl.Expr]:
    return {
        "names: suppressed": pl.col("SUPPRESS").is_in(filters.suppress),
        "names: language": outside("LAT", filters.languages),
        "names: source": outside("SAB", filters.sources),
        "names: term type": outside("TTY", filters.term_types),
    }


def _unfit(filters: Filters) -> dict[str, pl.Expr]:
    name = pl.col("STR")
    return {
        _CONTROLS: name.str.contains(CONTROLS),
        "names: too long": name.str.len_chars() > filters.max_name_length,
        "names: without letters": ~name.str.contains(LETTERS),
    }


def _ranks(rank: RrfTable | None) -> pl.DataFrame:
    """Return SAB, TTY and place: 0 for the highest of MRRANK's ranks."""
    if rank is None:
        return pl.DataFrame(schema={"SAB": pl.String, "TTY": pl.String, "place": pl.Int32})
    number = pl.col("RANK").cast(pl.Int64, strict=False).max()
    ranks = rank.frame("SAB", "TTY", "RANK").group_by("SAB", "TTY").agg(number).drop_nulls()
    place = pl.col("RANK").rank("dense", descending=True).cast(pl.Int32) - 1
    return ranks.select("SAB", "TTY", place=place)


def _preference(last: int) -> pl.Expr:
    """Return the preference of rows with a place. last (int): The place of those without one."""
    place = pl.col("place").fill_null(last)
    for column, best in {"ISPREF": "Y", "TS": "P", "STT": "PF"}.items():
        place = 2 * place + (pl.col(column) != best)
    return place + 8 * (last + 1) * (pl.col("LAT") != "ENG")
