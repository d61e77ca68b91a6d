"""The hierarchy of a concept table, by either direction of its relations."""

import numpy as np
import polars as pl

from spacy_bergamot.kb.concept_table import CHILD_RELATIONS, PARENT_RELATIONS, ConceptTable


def parent_edges(table: ConceptTable) -> np.ndarray:
    """Return child, kind and parent, int64 (n, 3), each once and sorted.

    The kind is 0 for parents (PAR, and CHD the other way round), 1 for what is broader (RB, RN).
    """
    rel = pl.Series(table.column("relations", "rel")).cast(pl.String)
    heads, tails = table.keys("relations"), table.column("relations", "tail").to_numpy()
    parts = []
    for kind, (up, down) in enumerate(zip(PARENT_RELATIONS, CHILD_RELATIONS, strict=True)):
        for name, children, parents in ((up, heads, tails), (down, tails, heads)):
            at = np.flatnonzero((rel == name).to_numpy())
            parts.append(np.stack([children[at], np.full(len(at), kind), parents[at]], axis=1))
    return np.unique(np.concatenate(parts), axis=0)
