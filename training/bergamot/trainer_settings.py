"""The section `training` of a config: how long and how to step."""

from dataclasses import dataclass
from typing import Literal

import torch

from training.registry import registry

Autocast = Literal["none", "bf16", "fp16"]
HALF = {"none": None, "bf16": torch.bfloat16, "fp16": torch.float16}


@registry.trainers("bergamot.v1")
@dataclass(frozen=True)
class TrainerSettings:
    """How long and how to step.

    epochs (int): Passes over the pairs.
    max_steps (int): Steps at most; 0 means no limit but `epochs`.
    schedule (str): "constant", or "linear" decay to 0 after the warm-up.
    warmup_steps (int): Steps of linear warm-up.
    clip (float): Largest gradient norm; 0 switches clipping off.
    autocast (str): "none", "bf16" or "fp16".
    gradient_cache (bool): Memory of the LM that does not grow with the batch, for one more
        forward pass.
    activation_checkpointing (bool): Keep no activations inside the LM's layers.
    word_embeddings (str): "trained"; "rows", those that a batch has, by SparseAdam, without weight
        decay; or "frozen" as the base has them: of a multilingual model they are most of the
        weights, and their gradients and moments cost more than its layers.
    compile (bool): torch.compile the LM.
    explosion (float): Stop when the total is so many times the first logged one; 0 never stops.
    checkpoint_every (int): Steps between checkpoints.
    log_every (int): Steps between reads of the losses.
    """

    epochs: int = 1
    max_steps: int = 0
    schedule: Literal["constant", "linear"] = "constant"
    warmup_steps: int = 0
    clip: float = 0.0
    autocast: Autocast = "none"
    gradient_cache: bool = False
    activation_checkpointing: bool = False
    word_embeddings: Literal["trained", "rows", "frozen"] = "trained"
    compile: bool = False
    explosion: float = 20.0
    checkpoint_every: int = 500
    log_every: int = 10

    def total_steps(self, steps_per_epoch: int) -> int:
        """Return the steps of a whole training.

        steps_per_epoch (int): Batches of an epoch.
        """
        steps = self.epochs * steps_per_epoch
        return min(steps, self.max_steps) if self.max_steps else steps

    def rate(self, step: int, total: int) -> float:
        """Return the factor of the learning rate at a step."""
        if step < self.warmup_steps:
            return (step + 1) / self.warmup_steps
        if self.schedule == "constant":
            return 1.0
        return max(0.0, (total - step) / max(1, total - self.warmup_steps))
