"""The graph in CSR form, and homonyms: concepts that share a name."""

import numpy as np
import polars as pl
import pyarrow as pa

from spacy_bergamot.concepts import ConceptTable


def graph_edges(table: ConceptTable, *, label: str) -> tuple[pl.DataFrame, list[str]]:
    """Return unique edges (target, source, relation id), sorted, and the relations' labels.

    Messages flow from CUI1 to CUI2: the source is the relation's head, the target its tail.

    label (str): "rel" for REL, "rela" for RELA (REL where a row has none).
    """
    relations = table.relations
    codes, names = _codes_and_names(relations, "rel")
    if label == "rela":
        finer, finer_names = _codes_and_names(relations, "rela")
        empty = np.array([not name for name in finer_names], dtype=bool)
        codes = np.where(empty[finer], codes, finer + len(names))
        names = names + finer_names
    present = [names[code] for code in np.unique(codes)]
    labels = sorted(set(present))
    number = {name: index for index, name in enumerate(labels)}
    ids = np.array([number.get(name, -1) for name in names], dtype=np.int32)
    heads, tails = (relations.column(name).to_numpy() for name in ("head", "tail"))
    # One number that sorts as (target, source, relation): far cheaper than three columns.
    rows, kinds = max(1, len(table)), max(1, len(labels))
    keys = (tails.astype(np.int64) * rows + heads) * kinds + ids[codes]
    keys = pl.Series(keys).unique().sort().to_numpy()
    columns = {
        "target": keys // (rows * kinds),
        "source": keys // kinds % rows,
        "relation": keys % kinds,
    }
    edges = pl.DataFrame({name: values.astype(np.int32) for name, values in columns.items()})
    return edges, labels


def _codes_and_names(relations: pa.Table, column: str) -> tuple[np.ndarray, list[str]]:
    encoded = relations.column(column).combine_chunks()
    return encoded.indices.to_numpy().astype(np.int32), encoded.dictionary.to_pylist()


def csr_indptr(sorted_keys: np.ndarray, rows: int) -> np.ndarray:
    """Return int64 (rows + 1): where each row starts in its sorted keys."""
    return np.searchsorted(sorted_keys, np.arange(rows + 1)).astype(np.int64)


def homonym_pairs(units: pl.DataFrame, *, most: int = 100) -> tuple[pl.DataFrame, int]:
    """Return (concept, other) that share a name, both ways and sorted.

    units (pl.DataFrame): concept, name.
    most (int): A name of more concepts than this is left out, for it would cost their square.
    RETURNS (tuple): The pairs, and how many names were left out.
    """
    named = units.select("concept", "name").unique()
    counts = named.group_by("name").len().filter(pl.col("len") > 1)
    left_out = counts.filter(pl.col("len") > most).height
    shared = named.join(counts.filter(pl.col("len") <= most), on="name", how="semi")
    both = shared.join(shared.select("name", other="concept"), on="name")
    pairs = both.filter(pl.col("concept") != pl.col("other")).select("concept", "other")
    return pairs.unique().sort("concept", "other"), left_out
