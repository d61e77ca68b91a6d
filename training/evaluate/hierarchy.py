"""Distances between concepts along PAR, CHD, RB and RN."""

from functools import cached_property

import numpy as np
import pyarrow as pa

from spacy_bergamot.concepts import CHILD_RELATIONS, PARENT_RELATIONS, ConceptTable

MOST = 3
"""Steps that are walked; what is farther gets no credit."""


class Hierarchy:
    """The tree, or graph, of a concept table, walked in both directions."""

    def __init__(self, table: ConceptTable) -> None:
        self.table = table

    def distance(self, one: str, other: str) -> int | None:
        """Return the number of steps between two concepts; None if above MOST or unknown."""
        start, goal = self.rows.get(one), self.rows.get(other)
        if start is None or goal is None:
            return 0 if one == other else None
        front, seen = {start}, {start}
        for steps in range(MOST + 1):
            if goal in front:
                return steps
            front = {row for near in front for row in self._near(near)} - seen
            seen |= front
        return None

    def credit(self, predicted: str, gold: str) -> float:
        """Return 1 / (1 + distance), 0 where there is none."""
        steps = self.distance(predicted, gold)
        return 0.0 if steps is None else 1 / (1 + steps)

    def parents(self, concept_id: str) -> set[str]:
        return self._related(concept_id, PARENT_RELATIONS)

    def children(self, concept_id: str) -> set[str]:
        return self._related(concept_id, CHILD_RELATIONS)

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
        return {concept_id: row for row, concept_id in enumerate(self.table)}

    def _related(self, concept_id: str, rels: tuple[str, ...]) -> set[str]:
        row = self.rows.get(concept_id)
        if row is None:
            return set()
        return {self.table.concept_id(tail) for _, _, tail in self.table.related(row, rels=rels)}

    def _near(self, row: int) -> list[int]:
        indptr, members = self._steps
        return members[indptr[row] : indptr[row + 1]].tolist()

    @cached_property
    def _steps(self) -> tuple[np.ndarray, np.ndarray]:
        """Return indptr and rows of every concept's neighbours, both directions of a row."""
        rel = self.table.column("relations", "rel").cast(pa.string())
        wanted = pa.array([*PARENT_RELATIONS, *CHILD_RELATIONS], type=pa.string())
        chosen = np.flatnonzero(pa.compute.is_in(rel, value_set=wanted).to_numpy(False))
        heads = self.table.keys("relations")[chosen]
        tails = self.table.column("relations", "tail").to_numpy(zero_copy_only=False)[chosen]
        sources, targets = np.concatenate([heads, tails]), np.concatenate([tails, heads])
        order = np.argsort(sources, kind="stable")
        indptr = np.searchsorted(sources[order], np.arange(len(self.table) + 1))
        return indptr, targets[order]
