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
from training.preprocess.hierarchy import HIERARCHIES, MOST, Paths
from training.preprocess.names import TrainingNames

COMPARED = 20_000
"""Pairs of held-out names that are kept, at most: what an encoder compares in minutes."""

_SAME = (pl.col("name") == pl.col("name_above")) | (pl.col("concept") == pl.col("concept_above"))


@dataclass(frozen=True)
class Graded:
    """Pairs of a name and an ancestor's, and every concept's ancestors.

    pairs (int32 (g, 4)): Concept and name, and concept and name of the ancestor, sorted.
    scores (float32 (g,)): Of the pairs, above 0 and at most 0.9.
    ancestors (pl.DataFrame): concept and ancestor, sorted; the topmost too.
    skipped (dict[str, int]): What was left out, by reason.
    held_out (pl.DataFrame): Mean (score), Term1 (held-out name) and Term2 (an ancestor's name that
        is trained on), to compare cosines with.
    """

    pairs: np.ndarray
    scores: np.ndarray
    ancestors: pl.DataFrame
    skipped: dict[str, int]
    held_out: pl.DataFrame


def graded_pairs(
    hierarchy: str, meta: Path, table: ConceptTable, names: TrainingNames, *, seed: int
) -> Graded:
    """Return the graded pairs of the names that make pairs, and of held-out names.

    hierarchy (str): "mrhier" for the paths of MRHIER, by atom, an atom's together; "mrhier_rows"
        for each path for itself; "relations" for PAR, CHD, RB and RN, by concept: each name of a
        concept with one name, drawn, of each ancestor.
    meta (Path), table (ConceptTable), names (TrainingNames): The release, and what it has.
    seed (int): Of the names that are drawn, and of held-out names' pairs where they are too many.
    RAISES (BergamotError): B237 if no pair comes of it, T102 and T103 for a table that cannot be
        read.
    """
    own, texts = _own(table, names)
    skipped = Counter[str]()
    paths = HIERARCHIES[hierarchy](meta, table, own, texts, skipped)
    trained, held_out = (paths.units.filter(pl.col("held_out") == kind) for kind in (False, True))
    scored = _scored(paths, trained, skipped)
    found = _named(scored, trained, trained, np.random.default_rng(seed))
    skipped["pairs of one name or concept"] = found.filter(_SAME).height
    found = found.filter(~_SAME & (pl.col("score") > 0))
    if found.is_empty():
        raise BergamotError(Errors.B237, path=meta, skipped=dict(skipped))
    columns = ["concept", "name", "concept_above", "name_above"]
    found = found.group_by(columns).agg(pl.max("score")).sort(columns)
    return Graded(
        found.select(columns).to_numpy().astype(np.int32),
        found["score"].to_numpy().astype(np.float32),
        _by_concept(paths.rows, trained),
        dict(+skipped),
        _to_compare(scored, held_out, trained, texts, seed),
    )


def require_hierarchy(hierarchy: str, meta: Path) -> None:
    """Check what can be checked before anything is read.

    hierarchy (str), meta (Path): As in `graded_pairs`; an empty one is none.
    RAISES (BergamotError): B014 for another hierarchy, B236 without MRHIER.
    """
    if hierarchy:
        check_choice("hierarchy", hierarchy, HIERARCHIES)
    if hierarchy.startswith("mrhier") and find_table(meta, "MRHIER") is None:
        raise BergamotError(Errors.B236, path=meta)


def score(one: Set[int], other: Set[int]) -> float:
    """Return how near two items are, from 0 to 0.9.

    one, other (Set[int]): Of each, its ancestors and itself.
    """
    union = len(one | other)
    apart = union - len(one & other)
    return min(MOST, 1 - math.log(apart) / math.log(union)) if apart else MOST


def _own(table: ConceptTable, names: TrainingNames) -> tuple[pl.DataFrame, pl.Series]:
    """Return concept, name and held_out, sorted, and the names' texts; held-out names come last."""
    trained = names.paired.filter(~pl.col("trade")).select("concept", "name").unique()
    hidden = names.aliases["held_out"]
    written = pl.Series(table.column("aliases", "alias").filter(hidden.to_arrow()))
    lower = written.str.strip_chars().str.to_lowercase()
    rows = names.aliases.filter(hidden).select("concept", text=lower).unique()
    distinct = rows.select("text").unique().sort("text").with_row_index("name", len(names.strings))
    held_out = rows.join(distinct, on="text").select("concept", pl.col("name").cast(pl.Int32))
    marked = [
        part.with_columns(held_out=pl.lit(mark))
        for part, mark in ((trained, False), (held_out, True))
    ]
    texts = pl.concat([pl.Series(names.strings), distinct["text"]])
    return pl.concat(marked).sort("concept", "name"), texts


def _scored(paths: Paths, trained: pl.DataFrame, skipped: Counter[str]) -> pl.DataFrame:
    """Return item, ancestor and score of what makes pairs.

    trained (pl.DataFrame): The units that are not held out.
    """
    rows = paths.rows.sort("item", "ancestor")
    items = paths.items
    bounds = np.searchsorted(rows["item"].to_numpy(), [items, items + np.uint64(1)]).T.tolist()
    places = dict(zip(items.tolist(), bounds, strict=True))
    above = rows["ancestor"].to_numpy()

    @lru_cache(maxsize=1 << 20)
    def closed(item: int) -> frozenset[int]:
        start, end = places[item]
        return frozenset([item, *above[start:end].tolist()])

    with_path = pl.Series(items).implode()
    wanted = rows.filter(pl.col("paired") & pl.col("item").is_in(with_path))
    named = trained["item"].unique().implode()
    above_named = pl.col("ancestor").is_in(with_path) & pl.col("ancestor").is_in(named)
    known = wanted.filter(above_named)
    missing = wanted.filter(~above_named & pl.col("item").is_in(named)).height
    skipped["ancestors without a name that is trained on"] = missing
    if "score" in known.columns:
        return known.select("item", "ancestor", "score")
    pairs = known.select("item", "ancestor").iter_rows()
    scores = [score(closed(item), closed(ancestor)) for item, ancestor in pairs]
    return known.select("item", "ancestor", score=pl.Series(scores, dtype=pl.Float64))


def _named(
    scored: pl.DataFrame, below: pl.DataFrame, above: pl.DataFrame, rng: np.random.Generator
) -> pl.DataFrame:
    """Return every name of an item with one name of the ancestor, and the score.

    below, above (pl.DataFrame): The units of items and of ancestors.
    """
    named = scored.join(below, on="item").sort("item", "ancestor", "concept", "name")
    owners = above["item"].to_numpy()
    ancestors = named["ancestor"].to_numpy()
    starts = np.searchsorted(owners, ancestors)
    counts = np.searchsorted(owners, ancestors, side="right") - starts
    drawn = above[starts + (rng.random(len(starts)) * counts).astype(np.int64)]
    return named.with_columns(concept_above=drawn["concept"], name_above=drawn["name"])


def _to_compare(
    scored: pl.DataFrame, held_out: pl.DataFrame, trained: pl.DataFrame, texts: pl.Series, seed: int
) -> pl.DataFrame:
    """Return `Graded.held_out`: all pairs, or some that are drawn, sorted."""
    rng = np.random.default_rng((seed, 1))
    found = _named(scored, held_out, trained, rng).filter(~_SAME & (pl.col("score") > 0))
    pairs = found.group_by("name", "name_above").agg(pl.max("score")).sort("name", "name_above")
    pairs = pairs[np.sort(rng.permutation(pairs.height)[:COMPARED])]
    return pairs.select(
        Mean="score", Term1=texts.gather(pairs["name"]), Term2=texts.gather(pairs["name_above"])
    )


def _by_concept(rows: pl.DataFrame, units: pl.DataFrame) -> pl.DataFrame:
    """Return concept and ancestor, both concepts, sorted.

    rows, units (pl.DataFrame): As in `Paths`.
    """
    concepts = units.select("item", "concept").unique()
    rows = rows.join(concepts, on="item")
    rows = rows.join(concepts.rename({"item": "ancestor", "concept": "above"}), on="ancestor")
    rows = rows.filter(pl.col("concept") != pl.col("above"))
    return rows.select("concept", ancestor="above").unique().sort("concept", "ancestor")
