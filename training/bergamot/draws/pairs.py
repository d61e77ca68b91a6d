"""`pairs.v1`: two views of N pairs of names, and of their concepts' neighbourhoods."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from training.bergamot.draws import BatchSettings, Drawn, Draws, some_names
from training.bergamot.hard_negatives import Search
from training.bergamot.negatives import Exclusions
from training.bergamot.objectives import VIEWS
from training.bergamot.sampler import NeighbourSampler, Subgraph
from training.errors import BergamotError, Errors
from training.preprocess.training_set import TrainingSet
from training.registry import registry

_ANCESTRY = 2
"""Steps up to a grandparent."""


@registry.batches("pairs.v1")
@dataclass(frozen=True)
class PairBatches(BatchSettings):
    """What a batch of pairs is made of, beside what all kinds have.

    size (int): Positive pairs per batch, over all processes.
    neighbours (int): Sampled neighbours of a node, without replacement.
    hops (int): Depth of the neighbourhoods.
    hard_negatives (int): Pairs of near concepts beside each drawn pair; size must be a multiple of
        1 + hard_negatives.
    hard_negative_pool (int): Near concepts of a concept that they are drawn from.
    hard_negative_refresh (int): Steps between searches for near concepts, each with the model as
        it is then.
    parent_share (float): Share of the drawn pairs whose second name becomes one of a parent or
        grandparent; without exclude_relatives = 2 these are negatives of each other elsewhere.
    detach_neighbours (bool): Send no gradient into the neighbours' text embeddings.
    """

    gives: ClassVar[frozenset[str]] = frozenset({"graph"})

    size: int = 256
    neighbours: int = 3
    hops: int = 1
    hard_negatives: int = 0
    hard_negative_pool: int = 30
    hard_negative_refresh: int = 1000
    parent_share: float = 0.0
    detach_neighbours: bool = False

    def __post_init__(self) -> None:
        if self.size % (1 + self.hard_negatives) or self.hard_negatives > self.hard_negative_pool:
            raise BergamotError(
                Errors.T221, size=self.size, count=self.hard_negatives, pool=self.hard_negative_pool
            )

    @property
    def detached(self) -> bool:
        """Whether no gradient goes into the neighbours' names."""
        return self.detach_neighbours

    @property
    def drawn(self) -> int:
        """Pairs per batch that are drawn from all; the rest are near ones."""
        return self.size // (1 + self.hard_negatives)

    def draws(self, data: TrainingSet, *, seed: int, graph: bool) -> "PairDraws":
        """Return the draws; arguments and errors as in `BatchSettings`."""
        return PairDraws(self, data, seed=seed, graph=graph)


class PairDraws(Draws):
    """Draw pairs: every pair once an epoch, and beside each drawn one some of near concepts."""

    what = "pairs"
    settings: PairBatches

    def __init__(self, settings: PairBatches, data: TrainingSet, *, seed: int, graph: bool) -> None:
        super().__init__(settings, data, seed=seed)
        self.graph = graph
        self.sampler = NeighbourSampler(
            data.graph_indptr,
            data.graph_sources,
            data.graph_relations,
            neighbours=settings.neighbours,
            hops=settings.hops,
        )
        self.relatives = Exclusions(data, homonyms=False, relatives=_ANCESTRY)
        if settings.hard_negatives:
            every, most = settings.hard_negative_refresh, settings.hard_negative_pool
            self.search = Search(every, most, self._one_name_each)

    @property
    def steps_per_epoch(self) -> int:
        """Whole batches in one pass over the pairs."""
        return self._population // self.settings.drawn

    def draw(self, step: int) -> Drawn:
        """Return a step's pairs, their neighbourhoods, and the names of both views."""
        rng = self._random(step)
        pairs = np.asarray(self.data.pairs[self._rows(step, self.settings.drawn)])
        if self.settings.parent_share:
            pairs = self._with_parents(pairs, rng)
        if self.near is not None:
            pairs = np.concatenate([pairs, self._near_pairs(pairs[:, 0], rng)])
        subgraph = self._neighbourhoods(pairs[:, 0], rng)
        names = self._names(pairs, subgraph, rng)
        return Drawn(names, np.tile(pairs[:, 0], (VIEWS, 1)), subgraph)

    @property
    def _population(self) -> int:
        return len(self.data.pairs)

    def _with_parents(self, pairs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the pairs, a share of them of a name and one of a parent or grandparent."""
        chosen = np.flatnonzero(rng.random(len(pairs)) < self.settings.parent_share)
        rows, nodes, found = chosen, pairs[chosen, 0], []
        for _ in range(_ANCESTRY):
            rows, nodes = self.relatives.parents(rows, nodes)
            found.append(np.stack([rows, nodes]))
        rows, nodes = rng.permutation(np.concatenate(found, axis=1), axis=1)
        rows, first = np.unique(rows, return_index=True)
        names = some_names(self.data, nodes[first], np.ones(len(rows), dtype=int), rng)
        pairs[rows, 2] = np.where(names == pairs[rows, 1], pairs[rows, 2], names)
        return pairs

    def _near_pairs(self, concepts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return pairs (concept, name, name) of concepts near each, uniformly, int32 (n, 3)."""
        assert self.near is not None
        near = self.near.draw(concepts, self.settings.hard_negatives, rng).ravel()
        starts = np.searchsorted(self._pair_concepts, near)
        counts = np.searchsorted(self._pair_concepts, near, side="right") - starts
        return np.asarray(self.data.pairs[starts + (rng.random(len(near)) * counts).astype(int)])

    @cached_property
    def _pair_concepts(self) -> np.ndarray:
        """Concept of every pair, sorted: pairs are stored in their order."""
        return np.ascontiguousarray(self.data.pairs[:, 0])

    def _one_name_each(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the concepts that have pairs, and a name of each."""
        concepts = np.unique(self.data.pairs[:, 0])
        starts = np.asarray(self.data.node_names_indptr[concepts])
        counts = np.asarray(self.data.node_names_indptr[concepts + 1]) - starts
        drawn = starts + (np.random.default_rng(seed).random(len(concepts)) * counts).astype(
            np.int64
        )
        return concepts, self.data.node_names[drawn]

    def _neighbourhoods(self, centres: np.ndarray, rng: np.random.Generator) -> Subgraph:
        if self.graph:
            return self.sampler.sample(centres, rng)
        none = np.empty(0, dtype=np.int64)
        return Subgraph(centres, none, none, none)

    def _names(self, pairs: np.ndarray, subgraph: Subgraph, rng: np.random.Generator) -> np.ndarray:
        """Return name ids (2, n): the pair's names for centres, random own names for the rest."""
        others = subgraph.concepts[len(pairs) :]
        starts = np.asarray(self.data.node_names_indptr[others])
        counts = np.asarray(self.data.node_names_indptr[others + 1]) - starts
        drawn = starts + (rng.random((VIEWS, len(others))) * counts).astype(np.int64)
        return np.concatenate([pairs[:, 1:].T, self.data.node_names[drawn]], axis=1)
