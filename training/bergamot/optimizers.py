"""AdamW with each parameter in exactly one group."""

from collections.abc import Callable

import torch
from torch import nn

from training.registry import registry

Optimizer = Callable[[nn.Module], torch.optim.Optimizer]


@registry.optimizers("adamw.v1")
def make_adamw(
    learn_rate: float = 2e-5,
    graph_learn_rate: float | None = None,
    weight_decay: float = 0.01,
) -> Optimizer:
    """Configure AdamW.

    learn_rate (float): Of the language model, and of the rest unless `graph_learn_rate` is given.
    graph_learn_rate (float | None): Of everything but the language model.
    weight_decay (float): Of matrices; biases and normalisations have none.
    """

    def make(model: nn.Module) -> torch.optim.Optimizer:
        groups: dict[tuple[bool, bool], list[nn.Parameter]] = {}
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                key = (name.startswith("lm."), parameter.ndim > 1)
                groups.setdefault(key, []).append(parameter)
        other = learn_rate if graph_learn_rate is None else graph_learn_rate
        return torch.optim.AdamW(
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

    return make
