"""Batches: two views of N pairs and of their concepts' neighbourhoods, by step number.

A batch depends on the seed and the step alone, so that a resumed run, or one with another number
of worker processes, sees the same batches in the same order.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from training.bergamot.chunks import Chunk, Plan
from training.bergamot.hard_negatives import NearConcepts
from training.bergamot.negatives import Exclusions
from training.bergamot.objectives import VIEWS
from training.bergamot.sampler import NeighbourSampler, Subgraph
from training.bergamot.token_store import TokenStore
from training.errors import BergamotError, Errors
from training.preprocess.training_set import TrainingSet
from training.registry import registry


@dataclass
class Batch:
    """One batch of N pairs over n local nodes, the N centres first.

    chunks (list[Chunk]): The distinct names of each view in order of length; with several
        processes, those that this one encodes.
    vocabulary (int64 (u,)): Distinct token ids of the chunks.
    names (int): Distinct names of both views together, of all processes.
    tokens, slots (int): Real tokens of the distinct names, and slots with padding.
    rows (int64 (2, n)): Row of every node's name in the table of vectors, a row of numbers a view.
    edges (int64 (2, e)): Sources and targets among the local nodes.
    relations (int64 (e,)): Relation ids.
    labels (int64 (N,)): Concepts of the centres.
    excluded (bool (N, N)): Pairs of centres that are no negatives.
    """

    chunks: list[Chunk]
    vocabulary: Tensor
    names: int
    tokens: int
    slots: int
    rows: Tensor
    edges: Tensor
    relations: Tensor
    labels: Tensor
    excluded: Tensor

    def to(self, device: torch.device) -> "Batch":
        """Return the batch on a device, copied without blocking."""
        return self._map(lambda tensor: tensor.to(device, non_blocking=True))

    def pin_memory(self) -> "Batch":
        """Return the batch in page-locked memory; the data loader calls this."""
        return self._map(Tensor.pin_memory)

    def _map(self, change: Callable[[Tensor], Tensor]) -> "Batch":
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        tensors: dict[str, Any] = {
            name: change(value) for name, value in values.items() if isinstance(value, Tensor)
        }
        return replace(self, chunks=[chunk.map(change) for chunk in self.chunks], **tensors)


@registry.batches("pairs.v1")
@dataclass(frozen=True)
class BatchSettings:
    """What a batch is made of.

    size (int): Positive pairs per batch, over all processes.
    neighbours (int): Sampled neighbours of a node, without replacement.
    hops (int): Depth of the neighbourhoods.
    chunk_tokens (int): Token slots of one forward pass of the language model.
    exclude_homonyms (bool): Keep concepts that share a name out of the negatives.
    exclude_relatives (int): Keep ancestors and descendants up to so many steps out of them.
    hard_negatives (int): Pairs of near concepts beside each drawn pair; size must be a multiple of
        1 + hard_negatives.
    hard_negative_pool (int): Near concepts of a concept that they are drawn from.
    hard_negative_refresh (int): Steps between searches for near concepts, each with the model as
        it is then.
    detach_neighbours (bool): Send no gradient into the neighbours' text embeddings.
    workers (int): Processes that prepare batches ahead; 0 prepares them in the main process.
    """

    size: int = 256
    neighbours: int = 3
    hops: int = 1
    chunk_tokens: int = 4096
    exclude_homonyms: bool = True
    exclude_relatives: int = 0
    hard_negatives: int = 0
    hard_negative_pool: int = 30
    hard_negative_refresh: int = 1000
    detach_neighbours: bool = False
    workers: int = 0

    def __post_init__(self) -> None:
        if self.size % (1 + self.hard_negatives) or self.hard_negatives > self.hard_negative_pool:
            raise BergamotError(
                Errors.T221, size=self.size, count=self.hard_negatives, pool=self.hard_negative_pool
            )

    @property
    def drawn(self) -> int:
        """Pairs per batch that are drawn from all; the rest are near ones."""
        return self.size // (1 + self.hard_negatives)


class BatchMaker(torch.utils.data.Dataset):
    """Make the batch of a step.

    data (TrainingSet): Pairs, names of the nodes, graph.
    tokens (TokenStore): Token ids by name id.
    graph (bool): Sample neighbourhoods; without, a batch has centres only.
    pad (int): Id of the padding token.
    rank, processes (int): Make the chunks of one of so many processes.
    """

    def __init__(
        self,
        data: TrainingSet,
        tokens: TokenStore,
        settings: BatchSettings,
        *,
        seed: int,
        graph: bool,
        pad: int,
        rank: int = 0,
        processes: int = 1,
    ) -> None:
        if len(data.pairs) < settings.size:
            raise BergamotError(Errors.T204, size=settings.size, pairs=len(data.pairs))
        self.data = data
        self.tokens = tokens
        self.settings = settings
        self.seed = seed
        self.graph = graph
        self.pad = pad
        self.rank = rank
        self.processes = processes
        self.sampler = NeighbourSampler(
            data.graph_indptr,
            data.graph_sources,
            data.graph_relations,
            neighbours=settings.neighbours,
            hops=settings.hops,
        )
        self.excluded = Exclusions(
            data, homonyms=settings.exclude_homonyms, relatives=settings.exclude_relatives
        )
        self.near: NearConcepts | None = None
        self._order: Callable[[int], np.ndarray] = lru_cache(maxsize=1)(self._shuffle)

    @property
    def steps_per_epoch(self) -> int:
        """Whole batches in one pass over the pairs."""
        return len(self.data.pairs) // self.settings.drawn

    def __getstate__(self) -> dict:
        return {k: v for k, v in self.__dict__.items() if k not in ("_order", "_pair_concepts")}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        self._order = lru_cache(maxsize=1)(self._shuffle)

    def __len__(self) -> int:
        return self.steps_per_epoch

    def __getitem__(self, step: int) -> Batch:
        pairs, subgraph, names = self.draw(step)
        plan = Plan.of(
            names,
            self.tokens,
            chunk_tokens=self.settings.chunk_tokens,
            centres=len(pairs) if self.settings.detach_neighbours else None,
        )
        edges = np.stack([subgraph.sources, subgraph.targets])
        owned = plan.owned(self.rank, self.processes)
        chunks, vocabulary = plan.chunks_of(owned, self.tokens, pad=self.pad)
        return Batch(
            chunks=chunks,
            vocabulary=vocabulary,
            names=len(plan.names),
            tokens=plan.tokens,
            slots=plan.slots,
            rows=torch.from_numpy(plan.rows),
            edges=torch.from_numpy(edges),
            relations=torch.from_numpy(subgraph.relations),
            labels=torch.from_numpy(pairs[:, 0].astype(np.int64)),
            excluded=torch.from_numpy(self.excluded(pairs[:, 0])),
        )

    def draw(self, step: int) -> tuple[np.ndarray, Subgraph, np.ndarray]:
        """Return a step's pairs (N, 3), neighbourhoods, and name ids (2, n) of both views."""
        epoch, index = divmod(step, self.steps_per_epoch)
        rng = np.random.default_rng([self.seed, 1, step])
        size = self.settings.drawn
        rows = np.sort(self._order(epoch)[index * size : (index + 1) * size])
        pairs = np.asarray(self.data.pairs[rows])
        if self.near is not None:
            pairs = np.concatenate([pairs, self._near_pairs(pairs[:, 0], rng)])
        subgraph = self._neighbourhoods(pairs[:, 0], rng)
        return pairs, subgraph, self._names(pairs, subgraph, rng)

    def _shuffle(self, epoch: int) -> np.ndarray:
        order = np.arange(len(self.data.pairs), dtype=np.int32)
        np.random.default_rng([self.seed, 0, epoch]).shuffle(order)
        return order

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


def prepared(maker: BatchMaker, steps: range, *, pin: bool = False) -> Iterator[Batch]:
    """Yield the batches of steps; the maker's worker processes prepare them ahead.

    pin (bool): Put them into page-locked memory, for a GPU.
    """
    workers = maker.settings.workers
    loader = torch.utils.data.DataLoader(
        maker,
        batch_size=None,
        sampler=steps,
        num_workers=workers,
        prefetch_factor=4 if workers else None,
        pin_memory=pin,
        # A generator of its own: the loader must not draw from the global random state.
        generator=torch.Generator().manual_seed(0),
    )
    return iter(loader)
