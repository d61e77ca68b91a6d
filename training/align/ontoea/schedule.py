"""One iteration of OntoEA: epochs of each module in turn, each with an optimiser of its own."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor
from torch.optim import Adagrad

from training.align.ontoea.graphs import Graphs
from training.align.ontoea.model import OntoEA
from training.align.ontoea.nearest import Pool

EPOCHS = {"E": 10, "O": 10, "C": 5, "M": 10, "A": 5}
"""Epochs of an iteration: of triples, the classes' tree, conflicts, memberships and seeds."""
RATES = {"E": 0.01, "O": 0.01, "C": 0.001, "M": 0.001, "A": 0.01}
"""Learn rates of their Adagrads."""
_BATCH, _CLASS_BATCH, _CONFLICT_ROWS = 4500, 64, 10
"""Triples and memberships, pairs of classes, and classes of a step."""
_NEGATIVES = 10
"""Of each positive."""
_EPSILON = 0.9
"""Share of entities that are too far to be negatives."""


@dataclass(frozen=True)
class Settings:
    """How OntoEA learns.

    epochs (dict[str, int]): Of every module in an iteration, in their order.
    iterations (int): At most. validate_every (int): Iterations.
    """

    epochs: dict[str, int] = field(default_factory=lambda: dict(EPOCHS))
    iterations: int = 200
    validate_every: int = 10


class Schedule:
    """Iterations over a model; each follows from the weights, the seed and its number.

    seeds (int64 (n, 2)): Entities that are the same.
    """

    def __init__(
        self, model: OntoEA, graphs: Graphs, seeds: np.ndarray, settings: Settings
    ) -> None:
        self.model, self.settings, self.sizes = model, settings, graphs.sizes
        self.device = model.entities.device
        self.triples = self._placed(graphs.triples)
        self.memberships = self._placed(np.argwhere(graphs.members.toarray()))
        children = np.flatnonzero(graphs.classes.parents >= 0)
        self.tree = self._placed(np.stack([children, graphs.classes.parents[children]], axis=1))
        self.seeds = self._placed(seeds)
        self.same_class = _same_class(graphs, self.device)
        self.optimizers = {
            name: Adagrad(self._learned(name), lr=RATES[name]) for name in settings.epochs
        }

    def _placed(self, rows: np.ndarray) -> Tensor:
        return torch.from_numpy(rows).to(self.device)

    def _learned(self, module: str) -> list[torch.nn.Parameter]:
        model = self.model
        return {
            "E": [model.entities, model.relations],
            "O": [model.classes, *model.upward.parameters()],
            "C": [model.classes],
            "M": [model.entities, model.classes, *model.membership.parameters()],
            "A": [model.entities, model.mapping, model.classes],
        }[module]

    def state(self) -> dict[str, Tensor]:
        """Return weights and the sums of squared gradients, which are all that Adagrad keeps."""
        return dict(self.model.state_dict()) | {
            f"{module}/{place}": optimizer.state[weight]["sum"]
            for module, optimizer in self.optimizers.items()
            for place, weight in enumerate(self._learned(module))
        }

    @torch.no_grad()
    def restore(self, state: dict[str, Tensor]) -> None:
        """Take over what `state` returned."""
        for name, value in self.state().items():
            value.copy_(state[name])

    def run(self, iteration: int) -> dict[str, float]:
        """Learn; return the mean loss of each module's steps."""
        generator = torch.Generator().manual_seed(iteration)
        pool = self._pool(iteration)
        losses = {}
        for module, epochs in self.settings.epochs.items():
            found = []
            for _ in range(epochs):
                for loss in self._losses(module, pool, generator):
                    self.optimizers[module].zero_grad(set_to_none=True)
                    loss.backward()
                    self.optimizers[module].step()
                    found.append(loss.item())
            if found:
                losses[module] = float(np.mean(found))
        return losses

    @torch.no_grad()
    def _pool(self, iteration: int) -> Pool:
        if iteration == 0:
            return Pool.all_of(self.sizes, self.device)
        vectors = torch.nn.functional.normalize(self.model.entities)
        return Pool.nearest_of(vectors, self.sizes, _EPSILON)

    def _losses(self, module: str, pool: Pool, generator: torch.Generator) -> Iterator[Tensor]:
        """Yield the losses of an epoch's steps."""
        k, model, classes = _NEGATIVES, self.model, len(self.model.classes)
        steps = -(-len(self.triples) // _BATCH)

        def coins(count: int) -> Tensor:
            return (torch.rand(count, generator=generator) < 0.5).to(self.device)

        def any_class(count: int) -> Tensor:
            return torch.randint(classes, (count, k), generator=generator).to(self.device)

        if module == "E":
            for triples in _batches(self.triples, _BATCH, generator):
                of_head = coins(len(triples))
                replaced = torch.where(of_head, triples[:, 0], triples[:, 2])
                yield model.triple_loss(triples, pool.draw(replaced, k, generator), of_head)
        elif module == "O":
            for pairs in _batches(self.tree, _CLASS_BATCH, generator):
                yield model.class_loss(pairs, any_class(len(pairs)), coins(len(pairs)))
        elif module == "C":
            every = torch.arange(classes, device=self.device)
            for rows in _batches(every, _CONFLICT_ROWS, generator):
                yield model.conflict_loss(rows)
        elif module == "M":
            for pairs in _batches(self.memberships, _BATCH, generator):
                yield model.membership_loss(pairs, any_class(len(pairs)))
        else:  # as many steps as those of E, which would else undo them
            for seeds in _batches(self.seeds, -(-len(self.seeds) // steps), generator):
                of_left = bool(coins(1))
                drawn = self.same_class.draw(seeds[:, 0 if of_left else 1], k, generator)
                yield model.alignment_loss(seeds, drawn, of_left=of_left)


def _batches(rows: Tensor, size: int, generator: torch.Generator) -> Iterator[Tensor]:
    order = torch.randperm(len(rows), generator=generator).to(rows.device)
    for batch in order.split(size) if len(rows) else ():
        yield rows[batch]


def _same_class(graphs: Graphs, device: torch.device) -> Pool:
    """Return for every entity those of its side that have the same first class, or none too."""
    members, has = graphs.members, graphs.members.getnnz(1) > 0
    first = np.full(len(has), -1)
    first[has] = members.indices[members.indptr[:-1][has]]
    side = np.repeat([0, 1], graphs.sizes)
    order = np.lexsort((first, side))
    _, group, counts = np.unique(
        np.stack([side, first]), axis=1, return_inverse=True, return_counts=True
    )
    group = group.ravel()
    starts = np.cumsum(counts) - counts
    return Pool(*[torch.from_numpy(of).to(device) for of in (order, starts[group], counts[group])])
