"""Which pairs of a batch's centres are no negatives: concepts that share a name, and relatives."""

import numpy as np

from training.bergamot.sampler import rows_of
from training.preprocess.training_set import TrainingSet

PARENTS = frozenset({"CHD", "RN", "isa"})
"""Labels of the edges whose source is a parent, or broader, than their target."""


class Exclusions:
    """Find the pairs that must not be pushed apart.

    data (TrainingSet): Homonyms and graph.
    homonyms (bool): Exclude concepts that share a name.
    relatives (int): Exclude ancestors and descendants up to so many steps; 0 excludes none.
    """

    def __init__(self, data: TrainingSet, *, homonyms: bool, relatives: int) -> None:
        self.data = data
        self.homonyms = homonyms
        self.relatives = relatives
        labels = data.relation_labels if relatives else []
        self.parent = np.array([label in PARENTS for label in labels], dtype=bool)

    def __call__(self, concepts: np.ndarray) -> np.ndarray:
        """Return bool (N, N), symmetric: the pairs of `concepts` (int (N,)) that are excluded."""
        mask = np.zeros((len(concepts), len(concepts)), dtype=bool)
        if self.homonyms:
            self._exclude_homonyms(mask, concepts)
        if self.relatives:
            self._exclude_ancestors(mask, concepts)
        return mask

    def _exclude_homonyms(self, mask: np.ndarray, concepts: np.ndarray) -> None:
        starts = np.asarray(self.data.homonyms_indptr[concepts])
        ends = np.asarray(self.data.homonyms_indptr[concepts + 1])
        for row in np.flatnonzero(ends > starts):
            homonyms = self.data.homonyms[starts[row] : ends[row]]
            mask[row] |= np.isin(concepts, homonyms)

    def _exclude_ancestors(self, mask: np.ndarray, concepts: np.ndarray) -> None:
        rows, nodes = np.arange(len(concepts)), np.asarray(concepts)
        for _ in range(self.relatives):
            rows, nodes = self.parents(rows, nodes)
            present = np.isin(nodes, concepts)
            for row, node in zip(rows[present], nodes[present], strict=True):
                both = concepts == node
                mask[row] |= both
                mask[both, row] = True
        mask &= concepts[:, None] != concepts

    def parents(self, rows: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the row of each parent's child, and the parents, each once of a row.

        rows, nodes (int (n,)): Children, and a number each.
        """
        owners, edges = rows_of(self.data.graph_indptr, nodes)
        kept = self.parent[np.asarray(self.data.graph_relations[edges])]
        pairs = np.stack([rows[owners[kept]], self.data.graph_sources[edges[kept]]])
        distinct = np.unique(pairs, axis=1)
        return distinct[0], distinct[1]
