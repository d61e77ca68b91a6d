"""Training runs that are interrupted, and what they leave, compared."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from training.bergamot.trainer import Trainer


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def equal(first: Path, second: Path) -> bool:
    a, b = weights(first), weights(second)
    return a.keys() == b.keys() and all(a[name].equal(b[name]) for name in a)


def interrupt(monkeypatch: pytest.MonkeyPatch, call: int) -> list[int]:
    """Interrupt training once, at a step's `call`-th call; return a list that gets the steps."""
    step, taken = Trainer.step, []

    def failing(self, batch, number):
        taken.append(number)
        if len(taken) == call:
            raise KeyboardInterrupt
        return step(self, batch, number)

    monkeypatch.setattr(Trainer, "step", failing)
    return taken
