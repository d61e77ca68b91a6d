"""Adapters: small trained matrices inside a frozen language model."""

from collections.abc import Callable
from typing import Any

from training.registry import registry

Adapt = Callable[[Any], Any]
"""A language model in, the same with its weights frozen and adapters inside, out."""


@registry.adapters("lora.v1")
def make_lora(reduction: int = 16, alpha: int | None = None, dropout: float = 0.0) -> Adapt:
    """Low-rank adapters (Hu et al. 2022) on every linear layer, through the library PEFT.

    reduction (int): The rank is the model's width divided by this, as the reduction factor of
        bottleneck adapters; 1 and 16 in SapBERT's comparison.
    alpha (int | None): Scale of the adapters' output; None is the rank, a scale of 1.
    """

    def adapt(lm: Any) -> Any:
        from peft import LoraConfig, get_peft_model

        rank = max(1, lm.config.hidden_size // reduction)
        config = LoraConfig(
            r=rank,
            lora_alpha=rank if alpha is None else alpha,
            lora_dropout=dropout,
            target_modules="all-linear",
        )
        return get_peft_model(lm, config)

    return adapt


def merged(lm: Any) -> Any:
    """Return a copy of the language model with its adapters added to the weights."""
    import copy

    return copy.deepcopy(lm).merge_and_unload() if is_adapted(lm) else lm


def is_adapted(lm: Any) -> bool:
    """Return whether a language model carries adapters."""
    return hasattr(lm, "merge_and_unload")
