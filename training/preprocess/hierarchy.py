"""What is above what: MRHIER's paths of atoms, or the broader concepts by relations."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.release import Source, find_table
from spacy_bergamot.kb_import.rrf import RrfTable
from training.parents import parent_edges

TOPMOST = 2
"""Nodes at the top of a path that make no pairs: they are as good as everything's ancestors."""

MOST = 0.9
"""Score of a name and an ancestor's, at most; two names of one concept have 1."""

_ROWS = {"item": pl.UInt64, "ancestor": pl.UInt64, "paired": pl.Boolean}
_SCORED = {**_ROWS, "score": pl.Float64}


@dataclass(frozen=True)
class Paths:
    """Items, their ancestors and their names; an item is an atom or a concept.

    items (uint64 (n,)): The items, sorted.
    rows (pl.DataFrame): item, ancestor and paired: false for ancestors at the top alone. Also
        score, where it is not that of all paths together.
    units (pl.DataFrame): item, concept, name and held_out, sorted; of atoms one row each.
    """

    items: np.ndarray
    rows: pl.DataFrame
    units: pl.DataFrame


def mrhier_paths(
    meta: Path, table: ConceptTable, own: pl.DataFrame, texts: pl.Series, skipped: Counter[str]
) -> Paths:
    """Return the paths of MRHIER: root first, immediate parent last; several of an atom unite.

    meta (Path), table (ConceptTable): What is read.
    own (pl.DataFrame): concept, name and held_out of what is trained on or held out, sorted.
    texts (pl.Series): The names in training form.
    skipped (Counter[str]): Gets the rows of atoms that are not trained on, and of paths that are
        circles.
    RAISES (BergamotError): T102 and T103 as `RrfTable.batches`.
    """
    units, items, steps = _of_mrhier(meta, table, own, texts, skipped, _ROWS)
    return Paths(items, steps.group_by("item", "ancestor").agg(pl.any("paired")), units)


def mrhier_rows(
    meta: Path, table: ConceptTable, own: pl.DataFrame, texts: pl.Series, skipped: Counter[str]
) -> Paths:
    """Return the paths of MRHIER, each scored for itself; of several the highest score counts.

    On a path of n nodes, d steps apart, it is min(0.9, 1 - ln d / ln n): what `score` in graded.py
    gives for the nodes of this path alone.

    meta, table, own, texts, skipped: As in `mrhier_paths`, and errors too.
    """
    units, items, steps = _of_mrhier(meta, table, own, texts, skipped, _SCORED)
    highest = pl.col("score").filter("paired").max()
    rows = steps.group_by("item", "ancestor").agg(pl.any("paired"), highest)
    return Paths(items, rows, units)


def relation_paths(
    _meta: Path, table: ConceptTable, own: pl.DataFrame, _: pl.Series, skipped: Counter[str]
) -> Paths:
    """Return the concepts above each concept by PAR, CHD, RB and RN; arguments as `mrhier_paths`.

    A relation that closes a circle is left out and counted. At the top are what has nothing above
    it, and what is right below such a concept.
    """
    above, depths = _closed(_parents(table), skipped)
    sizes = list(map(len, above))
    ancestors = np.fromiter((a for found in above for a in found), np.uint64, sum(sizes))
    rows = pl.DataFrame(
        {
            "item": np.repeat(np.arange(len(above), dtype=np.uint64), sizes),
            "ancestor": ancestors,
            "paired": depths[ancestors.astype(np.int64)] >= TOPMOST,
        }
    )
    units = own.select(
        pl.col("concept").cast(pl.UInt64).alias("item"), "concept", "name", "held_out"
    )
    return Paths(units["item"].unique().sort().to_numpy(), rows, units)


HIERARCHIES: dict[str, Callable[..., Paths]] = {
    "mrhier": mrhier_paths,
    "mrhier_rows": mrhier_rows,
    "relations": relation_paths,
}


def _of_mrhier(
    meta: Path,
    table: ConceptTable,
    own: pl.DataFrame,
    texts: pl.Series,
    skipped: Counter[str],
    columns: dict[str, Any],
) -> tuple[pl.DataFrame, np.ndarray, pl.DataFrame]:
    """Return the units and items of `Paths`, and the steps of every path with these columns."""
    conso, hier = (find_table(meta, name) for name in ("MRCONSO", "MRHIER"))
    assert conso is not None
    assert hier is not None
    units = _atoms(conso, table, own, texts)
    marks = units.select("item", "held_out")
    items = [pl.Series("item", dtype=pl.UInt64)]
    parts = [pl.DataFrame(schema=columns)]
    for batch in RrfTable("MRHIER", hier).batches("AUI", "PTR"):
        path, place, to_train = pl.col("path"), pl.col("place"), ~pl.col("held_out")
        known = batch.select(
            "AUI", item=pl.col("AUI").hash(), path=pl.col("PTR").str.split(".")
        ).join(marks, on="item")
        trained = known.filter(to_train).height
        skipped["paths of names that are not trained on"] += batch.height - trained
        circle = (path.list.n_unique() != path.list.len()) | path.list.contains(pl.col("AUI"))
        straight = known.filter(~circle)
        skipped["paths that are circles"] += trained - straight.filter(to_train).height
        items.append(straight["item"])
        above = path.list.len().cast(pl.Int64)
        steps = straight.select("item", "path", above=above, place=pl.int_ranges(path.list.len()))
        steps = steps.explode("path", "place").filter(path != "")
        score = 1 - (pl.col("above") - place).log() / (pl.col("above") + 1).log()
        steps = steps.with_columns(
            ancestor=path.hash(), paired=place >= TOPMOST, score=score.clip(upper_bound=MOST)
        )
        parts.append(steps.select(*columns))
    return units, pl.concat(items).unique().sort().to_numpy(), pl.concat(parts)


def _atoms(conso: Source, table: ConceptTable, own: pl.DataFrame, texts: pl.Series) -> pl.DataFrame:
    """Return item, concept, name and held_out of the atoms whose name is one of the concept's."""
    concepts = pl.DataFrame({"CUI": pl.Series(table.column("concepts", "concept_id"))})
    concepts = concepts.with_columns(pl.col("CUI").cast(pl.String)).with_row_index("concept")
    numbered = pl.DataFrame({"text": texts}).with_row_index("name")
    numbers = own.with_columns(pl.col("concept", "name").cast(pl.UInt32))
    schema = {"item": pl.UInt64, "concept": pl.UInt32, "name": pl.UInt32, "held_out": pl.Boolean}
    parts = [pl.DataFrame(schema=schema)]
    for batch in RrfTable("MRCONSO", conso).batches("CUI", "AUI", "STR"):
        text = pl.col("STR").str.strip_chars().str.to_lowercase()
        atoms = batch.filter(pl.col("AUI") != "").join(concepts, on="CUI")
        atoms = atoms.with_columns(text=text).join(numbered, on="text")
        atoms = atoms.join(numbers, on=["concept", "name"])
        parts.append(atoms.with_columns(item=pl.col("AUI").hash()).select(*schema))
    return pl.concat(parts).unique("item", keep="first", maintain_order=True).sort("item")


def _parents(table: ConceptTable) -> tuple[np.ndarray, np.ndarray]:
    """Return where each concept's parents start, and the parents, each once."""
    pairs = np.unique(parent_edges(table)[:, [0, 2]], axis=0)
    return np.searchsorted(pairs[:, 0], np.arange(len(table) + 1)), pairs[:, 1]


def _closed(
    parents: tuple[np.ndarray, np.ndarray], skipped: Counter[str]
) -> tuple[list[list[int]], np.ndarray]:
    """Return the ancestors of every concept, sorted, and its least distance from the top.

    Depth first without recursion; a parent that is itself being visited would close a circle.
    """
    indptr, every = parents
    above: list[set[int] | None] = [None] * (len(indptr) - 1)
    depths = np.zeros(len(above), dtype=np.int64)
    for start in range(len(above)):
        path = [start] if above[start] is None else []
        waiting = {node: every[indptr[node] : indptr[node + 1]].tolist() for node in path}
        kept: dict[int, list[int]] = {node: [] for node in path}
        while path:
            node = path[-1]
            if waiting[node]:
                parent = waiting[node].pop()
                if parent in waiting:
                    skipped["relations that close a circle"] += 1
                    continue
                kept[node].append(parent)
                if above[parent] is None:
                    path.append(parent)
                    waiting[parent] = every[indptr[parent] : indptr[parent + 1]].tolist()
                    kept[parent] = []
                continue
            path.pop()
            del waiting[node]
            above[node] = set(kept[node]).union(*(above[p] or () for p in kept[node]))
            depths[node] = min((depths[p] + 1 for p in kept[node]), default=0)
    return [sorted(found or ()) for found in above], depths
