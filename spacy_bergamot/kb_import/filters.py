"""Which rows of a release belong in the knowledge base."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from spacy_bergamot.kb_import.errors import BergamotError, Errors

SUPPRESSED = ("O", "Y", "E")
MOST = 1 << 15
"""Distinct values of a column that repeats: the tables on disk have codes of 16 bits."""
LETTERS = r"[\p{L}\p{N}]"
"""Letters and digits of any script, as a regular expression; other strings name nothing."""


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


def outside(column: str, wanted: tuple[str, ...]) -> pl.Expr:
    """Return whether a filter drops a column's value; an empty filter drops none.

    column (str): Its name.
    wanted (tuple[str, ...]): The filter.
    """
    return ~pl.col(column).is_in(wanted) if wanted else pl.lit(False)


def without(
    rows: pl.DataFrame, problems: dict[str, pl.Expr], dropped: Counter[str]
) -> pl.DataFrame:
    """Return the rows that have no problem, and count the others by their first.

    problems (dict[str, pl.Expr]): By name, whether a row has it.
    dropped (Counter[str]): Gets how many rows each problem drops.
    """
    first = rows.select(
        problem=pl.coalesce(pl.when(has).then(pl.lit(name)) for name, has in problems.items())
    ).to_series()
    dropped.update(dict(first.drop_nulls().value_counts().iter_rows()))
    return rows.filter(first.is_null())


def require_known(
    what: str, wanted: tuple[str, ...], *, known: Collection[str], path: Path
) -> None:
    """Refuse a filter that no row can pass, for it is a slip of the pen.

    what (str): The filter, for the error.
    wanted (tuple[str, ...]): Its values.
    known (Collection[str]): Values of the file.
    path (Path): The file.
    RAISES (BergamotError): T110, with the values that the file has.
    """
    for value in wanted:
        if value not in known:
            choices = ", ".join(sorted(known))
            raise BergamotError(Errors.T110, path=path, what=what, value=value, choices=choices)


def require_few(what: str, count: int) -> None:
    """Refuse a column with more values than the tables on disk can hold.

    what (str): The column and its file, for the error.
    count (int): Of distinct values.
    RAISES (BergamotError): T114.
    """
    if count > MOST:
        raise BergamotError(Errors.T114, what=what, most=MOST)
