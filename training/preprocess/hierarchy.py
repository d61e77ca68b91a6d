"""What is above what: MRHIER's paths of atoms, or the broader concepts by relations."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.release import Source, find_table
from spacy_bergamot.kb_import.rrf import RrfTable
from training.parents import parent_edges
from training.preprocess.names import TrainingNames

TOPMOST = 2
"""Nodes at the top of a path that make no pairs: they are as good as everything's ancestors."""

_ROWS = {"item": pl.UInt64, "ancestor": pl.UInt64, "paired": pl.Boolean}


@dataclass(frozen=True)
class Paths:
    """Items, their ancestors and their names; an item is an atom or a concept.

    items (uint64 (n,)): The items, sorted.
    rows (pl.DataFrame): item, ancestor and paired: false for ancestors at the top alone.
    units (pl.DataFrame): item, concept and name, sorted; of atoms one row each.
    """

    items: np.ndarray
    rows: pl.DataFrame
    units: pl.DataFrame


def mrhier_paths(
    meta: Path, table: ConceptTable, own: pl.DataFrame, names: TrainingNames, skipped: Counter[str]
) -> Paths:
    """Return the paths of MRHIER: root first, immediate parent last; several of an atom unite.

    meta (Path), table (ConceptTable), names (TrainingNames): What is read, and the names of it.
    own (pl.DataFrame): concept and name of what is trained on, sorted.
    skipped (Counter[str]): Gets the rows of atoms that are not, and of paths that are circles.
    RAISES (BergamotError): T102 and T103 as `RrfTable.batches`.
    """
    conso, hier = (find_table(meta, name) for name in ("MRCONSO", "MRHIER"))
    assert conso is not None
    assert hier is not None
    units = _atoms(conso, table, own, names)
    items, parts = [pl.Series("item", dtype=pl.UInt64)], [pl.DataFrame(schema=_ROWS)]
    for batch in RrfTable("MRHIER", hier).batches("AUI", "PTR"):
        path = pl.col("path")
        known = batch.select(
            "AUI", item=pl.col("AUI").hash(), path=pl.col("PTR").str.split(".")
        ).join(units, on="item", how="semi")
        skipped["paths of names that are not trained on"] += batch.height - known.height
        circle = (path.list.n_unique() != path.list.len()) | path.list.contains(pl.col("AUI"))
        straight = known.filter(~circle)
        skipped["paths that are circles"] += known.height - straight.height
        items.append(straight["item"])
        steps = straight.select("item", path, place=pl.int_ranges(path.list.len()))
        steps = steps.explode("path", "place").filter(path != "")
        parts.append(steps.select("item", ancestor=path.hash(), paired=pl.col("place") >= TOPMOST))
    rows = pl.concat(parts).group_by("item", "ancestor").agg(pl.any("paired"))
    return Paths(pl.concat(items).unique().sort().to_numpy(), rows, units)


def relation_paths(
    _meta: Path, table: ConceptTable, own: pl.DataFrame, _: TrainingNames, skipped: Counter[str]
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
    units = own.select(pl.col("concept").cast(pl.UInt64).alias("item"), "concept", "name")
    return Paths(units["item"].unique().sort().to_numpy(), rows, units)


HIERARCHIES: dict[str, Callable[..., Paths]] = {"mrhier": mrhier_paths, "relations": relation_paths}


def _atoms(
    conso: Source, table: ConceptTable, own: pl.DataFrame, names: TrainingNames
) -> pl.DataFrame:
    """Return item, concept and name of the atoms whose name is one of the concept's."""
    concepts = pl.DataFrame({"CUI": pl.Series(table.column("concepts", "concept_id"))})
    concepts = concepts.with_columns(pl.col("CUI").cast(pl.String)).with_row_index("concept")
    texts = pl.DataFrame({"text": pl.Series(names.strings)}).with_row_index("name")
    numbers = own.with_columns(pl.all().cast(pl.UInt32))
    parts = [pl.DataFrame(schema={"item": pl.UInt64, "concept": pl.UInt32, "name": pl.UInt32})]
    for batch in RrfTable("MRCONSO", conso).batches("CUI", "AUI", "STR"):
        text = pl.col("STR").str.strip_chars().str.to_lowercase()
        atoms = batch.filter(pl.col("AUI") != "").join(concepts, on="CUI")
        atoms = atoms.with_columns(text=text).join(texts, on="text")
        atoms = atoms.join(numbers, on=["concept", "name"], how="semi")
        parts.append(
            atoms.select("concept", "name", item=pl.col("AUI").hash()).select(parts[0].columns)
        )
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
