"""Semantic types of concepts."""

from pathlib import Path

import numpy as np
import polars as pl

from spacy_bergamot.kb.semantic_types import semantic_types
from spacy_bergamot.kb_import.filters import Filters, require_known
from spacy_bergamot.kb_import.ids import row_finder
from spacy_bergamot.kb_import.keys import combined, separated, sorted_distinct
from spacy_bergamot.kb_import.rrf import RrfTable
from spacy_bergamot.kb_import.vocabulary import Vocabulary

_GROUPS = {entry.tui: entry.group for entry in semantic_types()}


def read_types(sty: RrfTable | None, ids: pl.Series) -> tuple[pl.DataFrame, list[str]]:
    """Return concept (row of its id), type and group, sorted and distinct; and all types read.

    An unknown type has the empty group.
    """
    types = Vocabulary("TUI of MRSTY")
    parts = [(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32))]
    if sty is not None:
        find = row_finder(ids)
        for rows in sty.pieces():
            parts.append((find(rows.strings("CUI")), types.codes(rows.strings("TUI"))))
    concepts, codes = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    known = sorted(types.values)
    places = np.array([known.index(value) for value in types.values], dtype=np.int32)
    linked = concepts >= 0
    sizes = len(ids), len(known)
    keys = combined((concepts[linked], places[codes[linked]]), sizes)
    concept, place = separated(sorted_distinct(keys), sizes)
    names = pl.DataFrame({"type": known}, schema={"type": pl.Enum(known)})
    group = pl.col("type").cast(pl.String).replace_strict(_GROUPS, default="")
    names = names.with_columns(group=group.cast(pl.Enum(sorted({*_GROUPS.values(), ""}))))
    return pl.DataFrame({"concept": concept}).hstack(names[place]), known


def wanted_concepts(
    types: pl.DataFrame, known: list[str], filters: Filters, *, path: Path
) -> pl.Series:
    """Return the concepts that have a wanted semantic type or group.

    RAISES (BergamotError): T110 for a type or group that is not in MRSTY, which `path` names.
    """
    known_groups = {_GROUPS.get(tui, "") for tui in known}
    require_known("semantic type", filters.semantic_types, known=known, path=path)
    require_known("semantic group", filters.semantic_groups, known=known_groups, path=path)
    return types.filter(
        pl.col("type").cast(pl.String).is_in(filters.semantic_types)
        | pl.col("group").cast(pl.String).is_in(filters.semantic_groups)
    )["concept"]
