"""The graph, and homonyms: concepts that share a name."""

import numpy as np
import polars as pl

from spacy_bergamot.kb.concept_table import ConceptTable


def graph_edges(table: ConceptTable, *, label: str) -> tuple[pl.DataFrame, list[str]]:
    """Return unique edges (target, source, relation id), sorted, and the relations' labels.

    Messages flow from CUI1 to CUI2: the source is the relation's head, the target its tail.

    label (str): "rel" for REL, "rela" for RELA (REL where a row has none).
    """
    rel, rela = pl.col("rel"), pl.col("rela")
    name = rel if label == "rel" else pl.when(rela == "").then(rel).otherwise(rela)
    kinds = pl.DataFrame(table.relations.select(["rel", "rela"])).select(kind=name).to_series()
    labels = kinds.unique().cast(pl.String).sort()
    relation = kinds.cast(pl.Enum(labels)).to_physical().to_numpy()
    tail, head = (table.column("relations", side).to_numpy() for side in ("tail", "head"))
    sizes = len(table), len(table), max(1, len(labels))
    # Sorted as one number each: three columns would take many times the memory.
    keys = np.ravel_multi_index((tail, head, relation), sizes)
    keys.sort()
    columns = np.unravel_index(keys[np.diff(keys, prepend=-1) > 0], sizes)
    edges = dict(zip(("target", "source", "relation"), columns, strict=True))
    return pl.DataFrame(edges, schema_overrides=dict.fromkeys(edges, pl.Int32)), labels.to_list()


def homonym_pairs(units: pl.DataFrame, *, most: int = 100) -> tuple[pl.DataFrame, int]:
    """Return (concept, other) that share a name, both ways and sorted.

    units (pl.DataFrame): concept, name.
    most (int): A name of more concepts than this is left out, for it would cost their square.
    RETURNS (tuple): The pairs, and how many names were left out.
    """
    named = units.select("concept", "name").unique()
    counts = named.group_by("name").len()
    shared = named.join(counts.filter(pl.col("len").is_between(2, most)), on="name", how="semi")
    pairs = shared.join(shared.rename({"concept": "other"}), on="name")
    pairs = pairs.filter(pl.col("concept") != pl.col("other")).select("concept", "other").unique()
    return pairs.sort("concept", "other"), counts.filter(pl.col("len") > most).height
