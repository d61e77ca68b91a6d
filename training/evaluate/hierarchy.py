"""Distances between concepts along PAR, CHD, RB and RN."""

from functools import cached_property

import numpy as np

from spacy_bergamot.kb.concept_table import ConceptTable
from training.parents import parent_edges

MOST = 3
"""Steps that are walked; what is farther gets no credit."""


class Hierarchy:
    """The tree, or graph, of a concept table, walked in both directions."""

    def __init__(self, table: ConceptTable) -> None:
        self.table = table
        self._distances: dict[tuple[str, str], int | None] = {}

    def distance(self, one: str, other: str) -> int | None:
        """Return the number of steps between two concepts; None if above MOST or unknown."""
        pair = (min(one, other), max(one, other))
        if pair not in self._distances:
            self._distances[pair] = self._walk(*pair)
        return self._distances[pair]

    def credit(self, predicted: str, gold: str) -> float:
        """Return 1 / (1 + distance), 0 where there is none."""
        steps = self.distance(predicted, gold)
        return 0.0 if steps is None else 1 / (1 + steps)

    def parents(self, concept_id: str) -> set[str]:
        """Return the ids of the concepts right above, by either direction of a relation."""
        return self._ids(concept_id, self._edges[0])

    def children(self, concept_id: str) -> set[str]:
        """Return the ids of the concepts right below, by either direction of a relation."""
        return self._ids(concept_id, self._edges[1])

    def types(self, concept_id: str) -> set[str]:
        """Return the semantic types of a concept, none if it is unknown."""
        row = self.rows.get(concept_id)
        return set() if row is None else set(self.table.rows_of("types", row)["type"].to_pylist())

    def name(self, concept_id: str) -> str:
        """Return the preferred name of a concept, or its id."""
        row = self.rows.get(concept_id)
        return concept_id if row is None else self.table.name(row)

    @cached_property
    def rows(self) -> dict[str, int]:
        """Row of every concept."""
        return {concept_id: row for row, concept_id in enumerate(self.table)}

    def _ids(self, concept_id: str, edges: "_Csr") -> set[str]:
        row = self.rows.get(concept_id)
        return set() if row is None else {self.table.concept_id(near) for near in edges.of(row)}

    def _walk(self, one: str, other: str) -> int | None:
        """Search from both ends, the smaller front first, until the fronts meet."""
        if one == other:
            return 0
        start, goal = self.rows.get(one), self.rows.get(other)
        if start is None or goal is None:
            return None
        small, large = {start}, {goal}
        seen = {start, goal}
        for steps in range(1, MOST + 1):
            if len(small) > len(large):
                small, large = large, small
            near = {row for member in small for row in self._near(member)}
            if near & large:
                return steps
            small = near - seen
            seen |= small
        return None

    def _near(self, row: int) -> list[int]:
        up, down = self._edges
        return up.of(row) + down.of(row)

    @cached_property
    def _edges(self) -> tuple["_Csr", "_Csr"]:
        """Return every concept's parents and its children."""
        children, _, parents = parent_edges(self.table).T
        count = len(self.table)
        return _Csr(children, parents, count), _Csr(parents, children, count)


class _Csr:
    """Targets of every row, without repetition."""

    def __init__(self, sources: np.ndarray, targets: np.ndarray, count: int) -> None:
        pairs = np.unique(np.stack([sources, targets], axis=1), axis=0)
        self.targets = pairs[:, 1]
        self.indptr = np.searchsorted(pairs[:, 0], np.arange(count + 1))

    def of(self, row: int) -> list[int]:
        return self.targets[self.indptr[row] : self.indptr[row + 1]].tolist()
