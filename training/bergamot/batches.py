"""Batches: names in one view or two, and their concepts' neighbourhoods, by step number.

A batch depends on the seed and the step alone, so that a resumed run, or one with another number
of worker processes, sees the same batches in the same order.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from training.bergamot.chunks import Chunk, Plan
from training.bergamot.draws import BatchSettings, Drawn
from training.bergamot.negatives import Exclusions
from training.bergamot.token_store import TokenStore
from training.preprocess.training_set import TrainingSet


@dataclass
class Batch:
    """One batch of N centres in one view or two, such as pairs, over n local nodes, centres first.

    chunks (list[Chunk]): The distinct names of each view in order of length; with several
        processes, those that this one encodes.
    vocabulary (int64 (u,)): Distinct token ids of the chunks.
    names (int): Distinct names of both views together, of all processes.
    tokens, slots (int): Real tokens of the distinct names, and slots with padding.
    rows (int64 (views, n)): Row of every node's name in the table of vectors.
    edges (int64 (2, e)): Sources and targets among the local nodes.
    relations (int64 (e,)): Relation ids.
    labels (int64 (views, N)): Number of every centre's concept among the batch's c concepts.
    excluded (bool (c, c)): Pairs of these concepts that are no negatives.
    links, known, targets, rate: As in `Drawn`.
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
    links: Tensor | None = None
    known: Tensor | None = None
    targets: Tensor | None = None
    rate: float = 1.0

    @property
    def centres(self) -> int:
        """N: centres of a view."""
        return self.labels.shape[1]

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
        self.tokens = tokens
        self.settings = settings
        self.pad = pad
        self.rank = rank
        self.processes = processes
        self.draws = settings.draws(data, seed=seed, graph=graph)
        self.excluded = Exclusions(
            data, homonyms=settings.exclude_homonyms, relatives=settings.exclude_relatives
        )

    @property
    def steps_per_epoch(self) -> int:
        """Whole batches in one pass over what is drawn from."""
        return self.draws.steps_per_epoch

    def __len__(self) -> int:
        return self.steps_per_epoch

    def __getitem__(self, step: int) -> Batch:
        drawn = self.draws.draw(step)
        plan = Plan.of(
            drawn.names,
            self.tokens,
            chunk_tokens=self.settings.chunk_tokens,
            centres=drawn.labels.shape[1] if self.settings.detached else None,
        )
        owned = plan.owned(self.rank, self.processes)
        chunks, vocabulary = plan.chunks_of(owned, self.tokens, pad=self.pad)
        concepts, labels = np.unique(drawn.labels, return_inverse=True)
        edges, relations = _edges(drawn)
        return Batch(
            chunks=chunks,
            vocabulary=vocabulary,
            names=len(plan.names),
            tokens=plan.tokens,
            slots=plan.slots,
            rows=torch.from_numpy(plan.rows),
            edges=torch.from_numpy(edges),
            relations=torch.from_numpy(relations),
            labels=torch.from_numpy(labels.reshape(drawn.labels.shape)),
            excluded=torch.from_numpy(self.excluded(concepts)),
            links=_tensor(drawn.links),
            known=_tensor(drawn.known),
            targets=_tensor(drawn.targets),
            rate=drawn.rate,
        )


def _edges(drawn: Drawn) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges (2, e) of what was drawn and their relations (e,)."""
    if drawn.subgraph is None:
        return np.empty((2, 0), dtype=np.int64), np.empty(0, dtype=np.int64)
    edges = drawn.subgraph
    return np.stack([edges.sources, edges.targets]), edges.relations


def _tensor(array: np.ndarray | None) -> Tensor | None:
    return None if array is None else torch.from_numpy(array)


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
