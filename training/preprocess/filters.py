"""Which rows of a release belong in the knowledge base."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from training.errors import BergamotError, Errors

SUPPRESSED = ("O", "Y", "E")


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

    def name_problem(self) -> pl.Expr:
        """Say by which filter a row of MRCONSO falls, or null."""
        checks = {
            "suppressed": pl.col("SUPPRESS").is_in(self.suppress),
            "language": _not_in("LAT", self.languages),
            "source": _not_in("SAB", self.sources),
            "term type": _not_in("TTY", self.term_types),
            "too long": pl.col("STR").str.len_chars() > self.max_name_length,
            "without letters": ~pl.col("STR").str.contains(r"[\p{L}\p{N}]"),
        }
        return pl.coalesce(pl.when(check).then(pl.lit(why)) for why, check in checks.items())


def require_known(
    what: str, wanted: tuple[str, ...], *, known: Collection[str], path: Path
) -> None:
    """Refuse a filter that no row can pass, for it is a slip of the pen.

    RAISES (BergamotError): T110, with the values that the file has.
    """
    for value in wanted:
        if value not in known:
            choices = ", ".join(sorted(known))
            raise BergamotError(
                Errors.T110.format(path=path, what=what, value=value, choices=choices)
            )


def _not_in(column: str, wanted: tuple[str, ...]) -> pl.Expr:
    return ~pl.col(column).is_in(wanted) if wanted else pl.lit(False)
