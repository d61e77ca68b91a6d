"""The rows of MRCONSO, which UMLS calls atoms."""

import logging
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from spacy_bergamot.kb_import.errors import BergamotError, Errors
from spacy_bergamot.kb_import.filters import (
    Filters,
    longer_than,
    outside,
    require_known,
    with_controls,
    without,
    without_letters,
)
from spacy_bergamot.kb_import.keys import sorted_ids
from spacy_bergamot.kb_import.rrf import RrfTable
from spacy_bergamot.kb_import.vocabulary import NO_LIMIT, Vocabulary

_LABELS = {"LAT": "language", "SAB": "source", "TTY": "term type"}
# Columns that lie side by side are read as one: from the first to the last.
_SPANS = {"LAT": "TS", "STT": "STT", "ISPREF": "ISPREF", "SAB": "TTY", "SUPPRESS": "SUPPRESS"}

_CONTROLS = "names: control characters"
_SHOWN = 5

logger = logging.getLogger(__name__)
Says = tuple[str, Callable[[str], Any]]  # a span, and a function of its values


def read_atoms(
    conso: RrfTable, rank: RrfTable | None, filters: Filters, dropped: Counter[str]
) -> tuple[pl.Series, pl.DataFrame]:
    """Return the concepts' ids, sorted, and the rows that no filter drops, in their order.

    dropped (Counter[str]): Is told how many rows fell, and why.
    RETURNS (tuple): Ids; and concept (Int32, its id's row), LAT, SAB, TTY (Enum), CODE, STR, and
        merit (Int32): the lower, the more a name is preferred. English first, then MRRANK's rank,
        ISPREF = Y, TS = P, STT = PF; a source and term type that MRRANK lacks come last.
    RAISES (BergamotError): As `RrfTable.pieces` does, T102 for an empty table, and T110 for a
        filter that fits no row.
    """
    spans = {first: Vocabulary(f"{first} of {conso.source}", most=NO_LIMIT) for first in _SPANS}
    labels = {column: Vocabulary(f"{column} of {conso.source}") for column in _LABELS}
    wanted = {"LAT": filters.languages, "SAB": filters.sources, "TTY": filters.term_types}
    falls, merits = _falls(filters), _merits(_places(rank))
    numbers: dict[str, Says] = {
        "LAT": ("LAT", _first(labels["LAT"].number)),
        "SAB": ("SAB", _first(labels["SAB"].number)),
        "TTY": ("SAB", _last(labels["TTY"].number)),
    }
    ids = [pa.array([], pa.large_string())]
    broken: list[str] = []
    read = 0
    none = np.empty(0, dtype=np.int32)
    columns = {name: [none] for name in ("concept", *numbers, "merit")}
    texts = {name: [pl.Series(dtype=pl.String)] for name in ("CODE", "STR")}
    for rows in conso.pieces():
        codes = {f: spans[f].codes(rows.strings(f, to=last)) for f, last in _SPANS.items()}
        kept = without({p: spans[f].apply(s, codes[f]) for p, (f, s) in falls.items()}, dropped)
        names = rows.strings("STR", kept)
        unfit = {
            _CONTROLS: with_controls(names),
            "names: too long": longer_than(filters.max_name_length, names),
            "names: without letters": without_letters(names),
        }
        broken += names.filter(pa.array(unfit[_CONTROLS])).to_pylist()[: _SHOWN - len(broken)]
        sound = without(unfit, dropped)
        kept = kept[sound]
        cuis = rows.strings("CUI", kept).dictionary_encode()
        columns["concept"].append(cuis.indices.to_numpy() + np.int32(read))
        ids.append(cuis.dictionary)
        read += len(cuis.dictionary)
        codes = {first: values[kept] for first, values in codes.items()}
        for column, (first, say) in numbers.items():
            columns[column].append(spans[first].apply(say, codes[first]).astype(np.int16))
        merit = sum(spans[first].apply(say, codes[first]) for first, say in merits)
        columns["merit"].append(np.asarray(merit, dtype=np.int32))
        texts["STR"].append(pl.Series(names.take(pa.array(sound))))
        texts["CODE"].append(pl.Series(rows.strings("CODE", kept)))
    if not conso.read:
        raise BergamotError(Errors.T102, path=conso.source, reason="it is empty")
    if broken:
        shown = ", ".join(map(repr, broken))
        logger.warning("Dropping %d names with control characters: %s", dropped[_CONTROLS], shown)
    for column, what in _LABELS.items():
        known = labels[column].values
        require_known(what, wanted[column], known=known, path=conso.source.path)
    concept_ids, ranks = sorted_ids(pa.concat_arrays(ids))
    joined = {name: np.concatenate(parts) for name, parts in columns.items()}
    frame = pl.DataFrame({"concept": ranks[joined["concept"]], "merit": joined["merit"]})
    return concept_ids, frame.with_columns(
        *(labels[name].enum(joined[name]).alias(name) for name in numbers),
        *(pl.concat(parts).alias(name) for name, parts in texts.items()),
    )


def _falls(filters: Filters) -> dict[str, Says]:
    """Return what tells of a span's values whether a row falls, by the name of the reason."""
    return {
        "names: suppressed": ("SUPPRESS", filters.suppress.__contains__),
        "names: language": ("LAT", _first(outside(filters.languages))),
        "names: source": ("SAB", _first(outside(filters.sources))),
        "names: term type": ("SAB", _last(outside(filters.term_types))),
    }


def _merits(places: dict[str, int]) -> list[Says]:
    """Return what spans' values add to the merit."""
    return [
        ("LAT", lambda value: 8 * (len(places) + 1) * (not value.startswith("ENG|"))),
        ("SAB", lambda value: 8 * places.get(value, len(places))),
        ("ISPREF", lambda value: 4 * (value != "Y")),
        ("LAT", lambda value: 2 * (not value.endswith("|P"))),
        ("STT", lambda value: value != "PF"),
    ]


def _places(rank: RrfTable | None) -> dict[str, int]:
    """Return the place, from 0, of every `SAB|TTY` of MRRANK."""
    if rank is None:
        return {}
    number = pl.col("RANK").cast(pl.Int64, strict=False).max()
    ranks = rank.frame("SAB", "TTY", "RANK").group_by("SAB", "TTY").agg(number).drop_nulls()
    place = pl.col("RANK").rank("dense", descending=True) - 1
    return dict(ranks.select(pl.concat_str("SAB", "TTY", separator="|"), place).iter_rows())


def _first(function: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda value: function(value.partition("|")[0])


def _last(function: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda value: function(value.rpartition("|")[2])
