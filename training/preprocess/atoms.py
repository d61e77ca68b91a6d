"""The rows of MRCONSO, which UMLS calls atoms."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import polars as pl
import pyarrow as pa

from training.errors import BergamotError, Errors
from training.preprocess.filters import (
    Filters,
    longer_than,
    outside,
    require_known,
    without,
    without_letters,
)
from training.preprocess.rrf import RrfTable
from training.preprocess.vocabulary import NO_LIMIT, Vocabulary

_PREFERRED = {"ISPREF": "Y", "TS": "P", "STT": "PF"}
_TEXTS = ("CUI", "CODE", "STR")
_NAMED = {"LAT": "language", "SAB": "source", "TTY": "term type"}

Vocabularies = dict[str, Vocabulary]
Codes = dict[str, np.ndarray]


def read_atoms(
    conso: RrfTable, rank: RrfTable | None, filters: Filters, dropped: Counter[str]
) -> tuple[pa.LargeStringArray, pl.DataFrame]:
    """Return the CUIs of the rows that no filter drops, and their other columns.

    dropped (Counter[str]): Is told how many rows fell, and why.
    RETURNS (tuple): CUIs; and LAT, SAB, TTY (Enum), CODE, STR, and merit (Int32), see `_Merit`.
    RAISES (BergamotError): As `RrfTable.pieces` does, T102 for an empty table, and T110 for a
        filter that fits no row.
    """
    vocabularies = {
        column: Vocabulary(f"{column} of {conso.source}")
        for column in ("SUPPRESS", *_NAMED, *_PREFERRED)
    }
    merit = _Merit(rank, vocabularies)
    wanted = {"LAT": filters.languages, "SAB": filters.sources, "TTY": filters.term_types}
    falls: dict[str, Callable[[str], bool]] = {"SUPPRESS": filters.suppress.__contains__}
    falls |= {column: outside(values) for column, values in wanted.items()}
    texts = {column: [pa.array([], pa.large_string())] for column in _TEXTS}
    numbers = {column: [np.empty(0, dtype=np.int16)] for column in _NAMED}
    merits = [np.empty(0, dtype=np.int32)]
    for rows in conso.pieces():
        codes = {column: v.codes(rows.strings(column)) for column, v in vocabularies.items()}
        fallen = {
            f"names: {problem}": vocabularies[column].apply(falls[column], codes[column])
            for column, problem in {"SUPPRESS": "suppressed", **_NAMED}.items()
        }
        kept = without(fallen, dropped)
        strings = rows.strings("STR", kept)
        unfit = {
            "names: too long": longer_than(filters.max_name_length, strings),
            "names: without letters": without_letters(strings),
        }
        sound = without(unfit, dropped)
        kept = kept[sound]
        if not len(kept):
            continue
        texts["STR"].append(strings.take(pa.array(sound)))
        for column in ("CUI", "CODE"):
            texts[column].append(rows.strings(column, kept))
        codes = {column: values[kept] for column, values in codes.items()}
        for column, parts in numbers.items():
            parts.append(codes[column].astype(np.int16))
        merits.append(merit.of(codes))
    if not conso.read:
        raise BergamotError(Errors.T102.format(path=conso.source, reason="it is empty"))
    for column, what in _NAMED.items():
        known = vocabularies[column].values
        require_known(what, wanted[column], known=known, path=conso.source.path)
    columns = {c: vocabularies[c].enum(np.concatenate(parts)) for c, parts in numbers.items()}
    for column in ("CODE", "STR"):
        columns[column] = pl.Series(pa.chunked_array(texts[column]))
    columns["merit"] = pl.Series(np.concatenate(merits))
    return pa.concat_arrays(texts["CUI"]), pl.DataFrame(columns)


class _Merit:
    """How little names are preferred: not English, MRRANK's rank, then ISPREF, TS and STT.

    What MRRANK does not have comes after what it has.
    """

    def __init__(self, rank: RrfTable | None, vocabularies: Vocabularies) -> None:
        self._vocabularies = vocabularies
        self._kinds = Vocabulary("SAB and TTY", most=NO_LIMIT)
        self._places: dict[tuple[str, str], int] = {}
        if rank is not None:
            number = pl.col("RANK").cast(pl.Int64, strict=False)
            ranks = rank.frame("SAB", "TTY", "RANK").group_by("SAB", "TTY").agg(number.max())
            place = pl.col("RANK").rank("dense", descending=True) - 1
            rows = ranks.drop_nulls().select("SAB", "TTY", place).iter_rows()
            self._places = {(source, kind): int(place) for source, kind, place in rows}

    def of(self, codes: Codes) -> np.ndarray:
        """Return the merit of rows, int32, from the codes of their columns."""
        merit = self._apply("ENG".__ne__, "LAT", codes) * np.int32(len(self._places) + 1)
        kinds = self._kinds.codes(pa.array(codes["SAB"].astype(np.int64) << 32 | codes["TTY"]))
        merit += self._kinds.apply(self._place, kinds)
        for column, preferred in _PREFERRED.items():
            merit = 2 * merit + self._apply(preferred.__ne__, column, codes)
        return merit

    def _apply(self, function: Callable[[str], bool], column: str, codes: Codes) -> np.ndarray:
        return self._vocabularies[column].apply(function, codes[column])

    def _place(self, kind: int) -> int:
        source, term_type = (self._vocabularies[column].values for column in ("SAB", "TTY"))
        key = source[kind >> 32], term_type[kind & 0xFFFFFFFF]
        return self._places.get(key, len(self._places))
