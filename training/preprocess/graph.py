"""The graph in CSR form, and homonyms: concepts that share a name."""

import numpy as np
import polars as pl

from spacy_bergamot.concepts import ConceptTable


def graph_edges(table: ConceptTable, *, label: str) -> tuple[pl.DataFrame, list[str]]:
    """Return unique edges (target, source, relation id), sorted, and the relations' labels.

    Messages flow from CUI1 to CUI2: the source is the relation's head, the target its tail.

    label (str): "rel" for REL, "rela" for RELA (REL where a row has none).
    """
    columns = table.relations.select(["head", "rel", "rela", "tail"])
    frame = pl.DataFrame(pl.from_arrow(columns)).with_columns(pl.col("rel", "rela").cast(pl.String))
    specific = pl.when(pl.col("rela") == "").then(pl.col("rel")).otherwise(pl.col("rela"))
    name = specific if label == "rela" else pl.col("rel")
    edges = frame.select(target="tail", source="head", label=name).unique()
    labels = edges["label"].unique().sort().to_list()
    ids = {text: number for number, text in enumerate(labels)}
    relation = pl.col("label").replace_strict(ids, return_dtype=pl.Int32)
    edges = edges.select("target", "source", relation=relation)
    return edges.sort("target", "source", "relation"), labels


def csr_indptr(sorted_keys: np.ndarray, rows: int) -> np.ndarray:
    """Return int64 (rows + 1): where each row starts in its sorted keys."""
    return np.searchsorted(sorted_keys, np.arange(rows + 1)).astype(np.int64)


def homonym_pairs(units: pl.DataFrame, *, most: int = 1000) -> tuple[pl.DataFrame, int]:
    """Return (concept, other) that share a name, both ways and sorted.

    most (int): A name of more concepts than this is left out, for it would cost their square.
    RETURNS (tuple): The pairs, and how many names were left out.
    """
    named = units.select("concept", "name").unique()
    counts = named.group_by("name").len().filter(pl.col("len") > 1)
    left_out = counts.filter(pl.col("len") > most).height
    shared = named.join(counts.filter(pl.col("len") <= most).select("name"), on="name", how="semi")
    both = shared.join(shared.rename({"concept": "other"}), on="name")
    pairs = both.filter(pl.col("concept") != pl.col("other")).select("concept", "other")
    return pairs.unique().sort("concept", "other"), left_out
