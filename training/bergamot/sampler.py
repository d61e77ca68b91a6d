"""Seeded neighbour sampler over CSR arrays: uniform, without replacement, no per-node Python."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Subgraph:
    """Sampled neighbourhoods of a batch of centres.

    concepts (int32 (n,)): Concept of every local node; the centres come first, in input order.
    sources, targets (int64 (e,)): Local nodes; messages flow from source to target.
    relations (int64 (e,)): Relation id of every edge.
    """

    concepts: np.ndarray
    sources: np.ndarray
    targets: np.ndarray
    relations: np.ndarray


class NeighbourSampler:
    """Draw up to `neighbours` edges into every node, for `hops` hops.

    indptr (int64 (n + 1,)), sources (int32 (e,)), relations (int32 (e,)): CSR by target; may be
        memory-mapped, only the rows that are drawn are read.
    """

    def __init__(
        self,
        indptr: np.ndarray,
        sources: np.ndarray,
        relations: np.ndarray,
        *,
        neighbours: int = 3,
        hops: int = 1,
    ) -> None:
        self.indptr = indptr
        self.sources = sources
        self.relations = relations
        self.neighbours = neighbours
        self.hops = hops

    def sample(self, centres: np.ndarray, rng: np.random.Generator) -> Subgraph:
        """Return the neighbourhoods of `centres` (int32 (n,)).

        A concept that is a centre twice is two nodes with a neighbourhood each. Neighbours are
        one node a concept, apart from the centres, so that each carries one name a view.
        """
        concepts = np.asarray(centres, dtype=np.int32)
        frontier = np.arange(len(concepts))
        seen = np.empty(0, dtype=np.int32)
        parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for _ in range(self.hops):
            owners, edges = self._draw(concepts[frontier], rng)
            neighbours = np.asarray(self.sources[edges])
            fresh = np.setdiff1d(neighbours, seen)
            seen_nodes = np.concatenate([seen, fresh])
            local = len(centres) + _positions(seen_nodes, neighbours)
            parts.append((local, frontier[owners], np.asarray(self.relations[edges])))
            frontier = len(concepts) + np.arange(len(fresh))
            concepts, seen = np.concatenate([concepts, fresh]), seen_nodes
        columns = [np.concatenate(column).astype(np.int64) for column in zip(*parts, strict=True)]
        return Subgraph(concepts, *columns)

    def _draw(self, nodes: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return for every drawn edge its owner (a position in `nodes`) and its CSR position."""
        starts = np.asarray(self.indptr[nodes])
        degrees = np.asarray(self.indptr[nodes + 1]) - starts
        offsets = draw_without_replacement(degrees, self.neighbours, rng)
        owners, slots = np.nonzero(offsets >= 0)
        return owners, starts[owners] + offsets[owners, slots]


def rows_of(indptr: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of all CSR rows of `nodes`, and of each the node's place in `nodes`.

    indptr (int64 (n + 1,)): Where each node's rows start.
    RETURNS (int64 (r,), int64 (r,)): Places, ascending, and positions.
    """
    starts = np.asarray(indptr[nodes])
    sizes = np.asarray(indptr[nodes + 1]) - starts
    owners = np.repeat(np.arange(len(sizes)), sizes)
    before = np.cumsum(sizes) - sizes
    return owners, np.arange(len(owners)) + (starts - before)[owners]


def draw_without_replacement(sizes: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw min(count, size) distinct numbers below each size, every subset equally likely.

    Floyd's algorithm (Bentley and Floyd, CACM 30(9), 1987), one vectorised round a draw.

    sizes (int64 (n,)): Sizes of the populations.
    RETURNS (int64 (n, count)): Drawn numbers; -1 fills the rows of small populations.
    """
    drawn = np.full((len(sizes), count), -1, dtype=np.int64)
    for round_ in range(count):
        top = sizes - count + round_
        value = (rng.random(len(sizes)) * (np.maximum(top, 0) + 1)).astype(np.int64)
        taken = (drawn == value[:, None]).any(1)
        drawn[:, round_] = np.where(taken, top, value)
    small = sizes <= count
    slots = np.arange(count)
    drawn[small] = np.where(slots < sizes[small, None], slots, -1)
    return drawn


def _positions(nodes: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the position in `nodes` (distinct) of every value in `wanted`."""
    order = np.argsort(nodes, kind="stable")
    return order[np.searchsorted(nodes, wanted, sorter=order)]
