"""Semantic types as classes: their tree, and which of them conflict."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from spacy_bergamot.kb.semantic_types import SemanticTypeTree


class Classes(NamedTuple):
    """Classes and what lies above them.

    ids (list[str]): Types, sorted.
    parents (int64 (n,)): The class right above each, -1 without one.
    paths (bool (n, n)): Whether the second is on the first one's way to the root: it, or above it.
    """

    ids: list[str]
    parents: np.ndarray
    paths: np.ndarray

    @classmethod
    def of(cls, types: Iterable[str]) -> "Classes":
        """Return types and all above them; one that is not in the Semantic Network stands alone."""
        tree = SemanticTypeTree()
        nodes = {node.tui: node for node in tree.flat_nodes}
        above: dict[str, str] = {}
        found = set(types)
        for one in list(found):
            node = nodes.get(one)
            while node is not None and (parent := tree.get_parent(node)) is not None:
                above[node.tui] = parent.tui
                found.add(parent.tui)
                node = parent
        ids = sorted(found)
        row = {one: place for place, one in enumerate(ids)}
        parents = np.array([row[above[one]] if one in above else -1 for one in ids], dtype=np.int64)
        paths = np.eye(len(ids), dtype=bool)
        for start in range(len(ids)):
            at = parents[start]
            while at >= 0:
                paths[start, at] = True
                at = parents[at]
        return cls(ids, parents, paths)

    def conflicts(self, members: csr_matrix, seeds: np.ndarray) -> np.ndarray:
        """Return how much classes conflict, float32 (n, n), from 0 to 1.

        0 for a class and itself, classes that share a member, and those of a seed's two concepts; 1
        without a common ancestor; else the share of their paths to the root that is not common.

        members (csr_matrix (entities, n)): 1 where an entity is of a class.
        seeds (int64 (m, 2)): Entities that are the same.
        """
        paths = self.paths.astype(np.float32)
        common = paths @ paths.T
        lengths = paths.sum(1)
        conflicts = 1 - common / (lengths[:, None] + lengths - common)
        of_seeds = members[seeds[:, 0]].T @ members[seeds[:, 1]]
        compatible = members.T @ members + of_seeds + of_seeds.T
        conflicts[compatible.nonzero()] = 0
        return conflicts.astype(np.float32)
