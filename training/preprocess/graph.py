"""The graph in CSR form, and homonyms: concepts that share a name."""

import numpy as np
import polars as pl
import pyarrow as pa

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.keys import combined, is_first, separated, sorted_distinct


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
        codes = np.where(empty[finer], codes, finer.astype(np.int32) + len(names))
        names = names + finer_names
    present = [names[code] for code in np.unique(codes)]
    labels = sorted(set(present))
    number = {name: index for index, name in enumerate(labels)}
    ids = np.array([number.get(name, -1) for name in names], dtype=np.int32)
    heads, tails = (relations.column(name).to_numpy() for name in ("head", "tail"))
    sizes = len(table), len(table), len(labels)
    keys = sorted_distinct(combined((tails, heads, ids[codes]), sizes))
    columns = zip(("target", "source", "relation"), separated(keys, sizes), strict=True)
    return pl.DataFrame(dict(columns)), labels


def _codes_and_names(relations: pa.Table, column: str) -> tuple[np.ndarray, list[str]]:
    encoded = relations.column(column).combine_chunks()
    return encoded.indices.to_numpy(), encoded.dictionary.to_pylist()


def csr_indptr(sorted_keys: np.ndarray, rows: int) -> np.ndarray:
    """Return int64 (rows + 1): where each row starts in its sorted keys."""
    return np.concatenate([[0], np.cumsum(np.bincount(sorted_keys, minlength=rows))])


def homonym_pairs(units: pl.DataFrame, *, most: int = 100) -> tuple[pl.DataFrame, int]:
    """Return (concept, other) that share a name, both ways and sorted.

    units (pl.DataFrame): concept, name.
    most (int): A name of more concepts than this is left out, for it would cost their square.
    RETURNS (tuple): The pairs, and how many names were left out.
    """
    columns = [units[column].to_numpy() for column in ("name", "concept")]
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    names, concepts = separated(sorted_distinct(combined(columns, sizes)), sizes)
    starts = np.flatnonzero(is_first(names))
    counts = np.diff(starts, append=len(names))
    shared = np.repeat((counts > 1) & (counts <= most), counts)
    names, concepts = names[shared], concepts[shared]
    ways = [np.empty(0, dtype=np.int64)]
    for distance in range(1, most):
        same = np.flatnonzero(names[distance:] == names[:-distance])
        pair = concepts[same], concepts[same + distance]
        ways += [combined(pair, [sizes[1]] * 2), combined(pair[::-1], [sizes[1]] * 2)]
    concepts, others = separated(sorted_distinct(np.concatenate(ways)), [sizes[1]] * 2)
    return pl.DataFrame({"concept": concepts, "other": others}), int((counts > most).sum())
