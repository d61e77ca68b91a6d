"""Graded pairs: a name and an ancestor's, with a score of how near they are (HierCODER).

With T = ancestors and self, u = |T(a) ∪ T(b)| and i = |T(a) ∩ T(b)|, the score of a and its
ancestor b is min(0.9, -log₂((u - i) / u) / log₂ u). The two topmost nodes of a path count in T, but
make no pairs.
"""

import math
from collections import Counter
from collections.abc import Set
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.release import find_table
from training.errors import BergamotError, Errors, check_choice
from training.preprocess.hierarchy import HIERARCHIES, Paths
from training.preprocess.names import TrainingNames

MOST = 0.9
"""Score of what the sets cannot tell apart; two names of one concept have 1."""


@dataclass(frozen=True)
class Graded:
    """Pairs of a name and an ancestor's, and every concept's ancestors.

    pairs (int32 (g, 4)): Concept and name, and concept and name of the ancestor, sorted.
    scores (float32 (g,)): Of the pairs, above 0 and at most 0.9.
    ancestors (pl.DataFrame): concept and ancestor, sorted; the topmost too.
    skipped (dict[str, int]): What was left out, by reason.
    """

    pairs: np.ndarray
    scores: np.ndarray
    ancestors: pl.DataFrame
    skipped: dict[str, int]


def graded_pairs(
    hierarchy: str, meta: Path, table: ConceptTable, names: TrainingNames, *, seed: int
) -> Graded:
    """Return the graded pairs of the names that make pairs.

    hierarchy (str): "mrhier" for the paths of MRHIER, by atom; "relations" for PAR, CHD, RB and RN,
        by concept: each name of a concept with one name, drawn, of each ancestor.
    meta (Path): The release.
    seed (int): Of the names that are drawn.
    RAISES (BergamotError): B237 if no pair comes of it, T102 and T103 for a table that cannot be
        read.
    """
    own = names.paired.filter(~pl.col("trade")).select("concept", "name").unique()
    skipped = Counter[str]()
    paths = HIERARCHIES[hierarchy](meta, table, own.sort("concept", "name"), names, skipped)
    scored = _scored(paths, skipped)
    found = _named(scored, paths.units, np.random.default_rng(seed))
    same = (pl.col("name") == pl.col("name_above")) | (pl.col("concept") == pl.col("concept_above"))
    skipped["pairs of one name or concept"] = found.filter(same).height
    found = found.filter(~same & (pl.col("score") > 0))
    if found.is_empty():
        raise BergamotError(Errors.B237, path=meta, skipped=dict(skipped))
    columns = ["concept", "name", "concept_above", "name_above"]
    found = found.group_by(columns).agg(pl.max("score")).sort(columns)
    return Graded(
        found.select(columns).to_numpy().astype(np.int32),
        found["score"].to_numpy().astype(np.float32),
        _by_concept(paths),
        dict(+skipped),
    )


def require_hierarchy(hierarchy: str, meta: Path) -> None:
    """Check what can be checked before anything is read.

    hierarchy (str), meta (Path): As in `graded_pairs`; an empty one is none.
    RAISES (BergamotError): B014 for another hierarchy, B236 without MRHIER.
    """
    if hierarchy:
        check_choice("hierarchy", hierarchy, HIERARCHIES)
    if hierarchy == "mrhier" and find_table(meta, "MRHIER") is None:
        raise BergamotError(Errors.B236, path=meta)


def score(one: Set[int], other: Set[int]) -> float:
    """Return how near two items are, from 0 to 0.9.

    one, other (Set[int]): Of each, its ancestors and itself.
    """
    union = len(one | other)
    apart = union - len(one & other)
    return min(MOST, 1 - math.log(apart) / math.log(union)) if apart else MOST


def _scored(paths: Paths, skipped: Counter[str]) -> pl.DataFrame:
    """Return item, ancestor and score of what makes pairs."""
    rows = paths.rows.sort("item", "ancestor")
    items = paths.items
    bounds = np.searchsorted(rows["item"].to_numpy(), [items, items + np.uint64(1)]).T.tolist()
    places = dict(zip(items.tolist(), bounds, strict=True))
    above = rows["ancestor"].to_numpy()

    @lru_cache(maxsize=1 << 20)
    def closed(item: int) -> frozenset[int]:
        start, end = places[item]
        return frozenset([item, *above[start:end].tolist()])

    known_items = pl.Series(items).implode()
    wanted = rows.filter(pl.col("paired") & pl.col("item").is_in(known_items))
    known = wanted.filter(pl.col("ancestor").is_in(known_items))
    skipped["ancestors without a name that is trained on"] = wanted.height - known.height
    pairs = known.select("item", "ancestor").iter_rows()
    scores = [score(closed(item), closed(ancestor)) for item, ancestor in pairs]
    return known.select("item", "ancestor", score=pl.Series(scores, dtype=pl.Float64))


def _named(scored: pl.DataFrame, units: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Return every name of an item with one name of the ancestor, and the score."""
    named = scored.join(units, on="item").sort("item", "ancestor", "concept", "name")
    owners = units["item"].to_numpy()
    ancestors = named["ancestor"].to_numpy()
    starts = np.searchsorted(owners, ancestors)
    counts = np.searchsorted(owners, ancestors, side="right") - starts
    drawn = units[starts + (rng.random(len(starts)) * counts).astype(np.int64)]
    return named.with_columns(concept_above=drawn["concept"], name_above=drawn["name"])


def _by_concept(paths: Paths) -> pl.DataFrame:
    """Return concept and ancestor, both concepts, sorted."""
    concepts = paths.units.select("item", "concept").unique()
    rows = paths.rows.join(concepts, on="item")
    rows = rows.join(concepts.rename({"item": "ancestor", "concept": "above"}), on="ancestor")
    rows = rows.filter(pl.col("concept") != pl.col("above"))
    return rows.select("concept", ancestor="above").unique().sort("concept", "ancestor")
