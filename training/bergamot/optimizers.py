"""AdamW with each parameter in exactly one group; SparseAdam for tables trained row by row."""

from collections.abc import Callable
from typing import Any

from torch import nn
from torch.optim import AdamW, Optimizer, SparseAdam

from training.bergamot.row_gradients import row_tables
from training.registry import registry

MakeOptimizer = Callable[[nn.Module], Optimizer]


@registry.optimizers("adamw.v1")
def make_adamw(
    learn_rate: float = 2e-5,
    graph_learn_rate: float | None = None,
    weight_decay: float = 0.01,
) -> MakeOptimizer:
    """Configure AdamW.

    learn_rate (float): Of the language model, and of the rest unless `graph_learn_rate` is given.
    graph_learn_rate (float | None): Of everything but the language model.
    weight_decay (float): Of matrices; biases and normalisations have none, nor have word embeddings
        that are trained row by row.
    """

    def make(model: nn.Module) -> Optimizer:
        tables = row_tables(model)
        by_rows = set(map(id, tables))
        groups: dict[tuple[bool, bool], list[nn.Parameter]] = {}
        for name, parameter in model.named_parameters():
            if parameter.requires_grad and id(parameter) not in by_rows:
                key = (name.startswith("lm."), parameter.ndim > 1)
                groups.setdefault(key, []).append(parameter)
        other = learn_rate if graph_learn_rate is None else graph_learn_rate
        adamw = AdamW(
            [
                {
                    "params": parameters,
                    "lr": learn_rate if in_lm else other,
                    "weight_decay": weight_decay if decays else 0.0,
                }
                for (in_lm, decays), parameters in groups.items()
            ],
            fused=True,
        )
        return Together(adamw, SparseAdam(tables, lr=learn_rate)) if tables else adamw

    return make


class Together(Optimizer):
    """Optimisers of other parameters each, as one: groups and state are theirs."""

    def __init__(self, *parts: Optimizer) -> None:
        super().__init__([group for part in parts for group in part.param_groups], {})
        self.parts = parts
        for part in parts:
            part.state = self.state

    def step(self, closure: Any = None) -> Any:
        """Take the step of every part. closure: Not used."""
        for part in self.parts:
            part.step()
