"""Batches: two views of N pairs and of their concepts' neighbourhoods, by step number.

A batch depends on the seed and the step alone, so that a resumed run, or one with another number
of worker processes, sees the same batches in the same order.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from spacy_bergamot.text_encoder import length_batches
from training.bergamot.objectives import VIEWS
from training.bergamot.sampler import NeighbourSampler, Subgraph
from training.bergamot.token_store import TokenStore
from training.errors import BergamotError, Errors
from training.preprocess.training_set import TrainingSet
from training.registry import registry


@dataclass
class Batch:
    """One batch of N pairs over n local nodes, the N centres first.

    chunks (list[tuple[Tensor, Tensor]]): Token ids and masks (rows, tokens) of the distinct names
        of each view, in order of length; a chunk is one forward pass of the language model.
    rows (int64 (2, n)): Row of every node's name in the chunks on end, a row of numbers a view.
    edges (int64 (2, e)): Sources and targets among the local nodes.
    relations (int64 (e,)): Relation ids.
    labels (int64 (N,)): Concepts of the centres.
    homonyms (bool (N, N)): Pairs of centres whose concepts share a name.
    """

    chunks: list[tuple[Tensor, Tensor]]
    rows: Tensor
    edges: Tensor
    relations: Tensor
    labels: Tensor
    homonyms: Tensor

    def to(self, device: torch.device) -> "Batch":
        """Return the batch on a device, copied without blocking."""
        moved = {
            field.name: getattr(self, field.name).to(device, non_blocking=True)
            for field in fields(self)
            if field.name != "chunks"
        }
        chunks = [
            (ids.to(device, non_blocking=True), mask.to(device, non_blocking=True))
            for ids, mask in self.chunks
        ]
        return Batch(chunks=chunks, **moved)


@dataclass(frozen=True)
class BatchSettings:
    """What a batch is made of.

    size (int): Positive pairs a batch.
    neighbours (int): Sampled neighbours of a node, without replacement.
    hops (int): Depth of the neighbourhoods.
    chunk_tokens (int): Token slots of one forward pass of the language model.
    exclude_homonyms (bool): Keep concepts that share a name out of the negatives.
    workers (int): Processes that prepare batches ahead; 0 prepares them in the main process.
    """

    size: int
    neighbours: int
    hops: int
    chunk_tokens: int
    exclude_homonyms: bool
    workers: int


@registry.batches("pairs.v1")
def make_batch_settings(
    size: int = 256,
    neighbours: int = 3,
    hops: int = 1,
    chunk_tokens: int = 4096,
    exclude_homonyms: bool = True,
    workers: int = 0,
) -> BatchSettings:
    """Configure batches; see `BatchSettings`."""
    return BatchSettings(size, neighbours, hops, chunk_tokens, exclude_homonyms, workers)


class BatchMaker(torch.utils.data.Dataset):
    """Make the batch of a step.

    data (TrainingSet): Pairs, names of the nodes, graph.
    tokens (TokenStore): Token ids by name id.
    graph (bool): Sample neighbourhoods; without, a batch has centres only.
    pad (int): Id of the padding token.
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
    ) -> None:
        if len(data.pairs) < settings.size:
            raise BergamotError(Errors.T204.format(size=settings.size, pairs=len(data.pairs)))
        self.data = data
        self.tokens = tokens
        self.settings = settings
        self.seed = seed
        self.graph = graph
        self.pad = pad
        self.sampler = NeighbourSampler(
            data.graph_indptr,
            data.graph_sources,
            data.graph_relations,
            neighbours=settings.neighbours,
            hops=settings.hops,
        )
        self._order: Callable[[int], np.ndarray] = lru_cache(maxsize=1)(self._shuffle)

    @property
    def steps_per_epoch(self) -> int:
        """Whole batches in one pass over the pairs."""
        return len(self.data.pairs) // self.settings.size

    def __getstate__(self) -> dict:
        return {name: value for name, value in self.__dict__.items() if name != "_order"}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        self._order = lru_cache(maxsize=1)(self._shuffle)

    def __len__(self) -> int:
        return self.steps_per_epoch

    def __getitem__(self, step: int) -> Batch:
        epoch, index = divmod(step, self.steps_per_epoch)
        rng = np.random.default_rng([self.seed, 1, step])
        size = self.settings.size
        rows = np.sort(self._order(epoch)[index * size : (index + 1) * size])
        pairs = np.asarray(self.data.pairs[rows])
        subgraph = self._neighbourhoods(pairs[:, 0], rng)
        names = self._names(pairs, subgraph, rng)
        chunks, name_rows = self._encode_plan(names)
        edges = np.stack([subgraph.sources, subgraph.targets])
        return Batch(
            chunks=chunks,
            rows=torch.from_numpy(name_rows),
            edges=torch.from_numpy(edges),
            relations=torch.from_numpy(subgraph.relations),
            labels=torch.from_numpy(pairs[:, 0].astype(np.int64)),
            homonyms=torch.from_numpy(self._homonyms(pairs[:, 0])),
        )

    def _shuffle(self, epoch: int) -> np.ndarray:
        order = np.arange(len(self.data.pairs), dtype=np.int32)
        np.random.default_rng([self.seed, 0, epoch]).shuffle(order)
        return order

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

    def _encode_plan(self, names: np.ndarray) -> tuple[list[tuple[Tensor, Tensor]], np.ndarray]:
        """Return chunks of distinct names a view, and where every node's name is in them."""
        keys = names.astype(np.int64) * VIEWS + np.arange(VIEWS)[:, None]
        distinct, inverse = np.unique(keys, return_inverse=True)
        distinct_names = distinct // VIEWS
        order = list(
            length_batches(self.tokens.lengths(distinct_names), self.settings.chunk_tokens)
        )
        chunks = []
        for rows in order:
            ids, mask = self.tokens.padded(distinct_names[rows], pad=self.pad)
            chunks.append((torch.from_numpy(ids), torch.from_numpy(mask)))
        position = np.empty(len(distinct), dtype=np.int64)
        position[np.concatenate(order)] = np.arange(len(distinct))
        return chunks, position[inverse].reshape(names.shape)

    def _homonyms(self, concepts: np.ndarray) -> np.ndarray:
        """Return bool (N, N): concepts i and j differ and share a name."""
        mask = np.zeros((len(concepts), len(concepts)), dtype=bool)
        if not self.settings.exclude_homonyms:
            return mask
        for row, concept in enumerate(concepts):
            start, end = self.data.homonyms_indptr[concept : concept + 2]
            if end > start:
                mask[row] = np.isin(concepts, self.data.homonyms[start:end])
        return mask
