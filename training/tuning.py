"""Fine-tuning a language model with a head on it: rates, half precision, runs that go on."""

import hashlib
import json
import logging
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import nn

from spacy_bergamot.encoder.device import BF16, resolve_precision
from spacy_bergamot.storage.files import sha256
from training.bergamot.checkpoint import load_checkpoint, newest_checkpoint, save_checkpoint
from training.bergamot.optimizers import make_adamw

_HEAD_RATE = 5.0  # what is not the language model begins at random and learns faster

logger = logging.getLogger(__name__)


class RunningMean(nn.Module):
    """The exponential mean of a model's trained parameters over its steps.

    Steps with small batches wander around a minimum, and their mean is nearer to it than the last
    (Polyak and Juditsky 1992). At first the mean forgets faster, so that the random beginning
    is soon gone.

    model (nn.Module): Whose parameters are averaged; those that are not trained are left alone.
    decay (float): Share of the mean that stays in a step, from 0 (the last step alone) to 1.
    """

    steps: torch.Tensor

    def __init__(self, model: nn.Module, decay: float) -> None:
        super().__init__()
        self._trained = [one for one in model.parameters() if one.requires_grad]
        self._decay = decay
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
        for number, one in enumerate(self._trained):
            self.register_buffer(f"mean{number}", one.detach().clone())

    def _means(self) -> list[torch.Tensor]:
        return [self.get_buffer(f"mean{number}") for number in range(len(self._trained))]

    @torch.no_grad()
    def update(self) -> None:
        """Take the parameters as they are now into the mean."""
        self.steps += 1
        steps = int(self.steps)
        decay = min(self._decay, (1 + steps) / (10 + steps))
        for mean, now in zip(self._means(), self._trained, strict=True):
            mean.lerp_(now, 1 - decay)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Give the model the mean, and back what it had in the end."""
        had = [one.detach().clone() for one in self._trained]
        self._give(self._means())
        try:
            yield
        finally:
            self._give(had)

    @torch.no_grad()
    def _give(self, values: list[torch.Tensor]) -> None:
        for one, value in zip(self._trained, values, strict=True):
            one.copy_(value)


class Tuning:
    """Optimiser and checkpoints of a model; an interrupted run goes on behind its last one.

    model (nn.Module): With the language model as `lm`.
    learn_rate (float): Of the language model, at its highest; that of the rest is five times that.
    output (Path): Folder of the run. run (str): What decides it, see `run_id`.
    average (float): Decay of the mean of the parameters; 0 for no mean.
    """

    def __init__(
        self, model: nn.Module, *, learn_rate: float, output: Path, run: str, average: float = 0.0
    ) -> None:
        self._model = model
        self._mean = RunningMean(model, average) if average else None
        self._optimizer = make_adamw(learn_rate, _HEAD_RATE * learn_rate)(model)
        self._rates = [group["lr"] for group in self._optimizer.param_groups]
        self._root = output / "checkpoints"
        self._state: dict[str, Any] = {
            "model": nn.ModuleDict({"model": model, "mean": self._mean}) if self._mean else model,
            "optimizer": self._optimizer,
            "scaler": torch.amp.GradScaler("cpu", enabled=False),
            "config_id": run,
        }

    def resume(self) -> tuple[int, list[dict[str, Any]]]:
        """Return how far an interrupted run came, and what it logged.

        RAISES (BergamotError): T207 if it is another run.
        """
        found = newest_checkpoint(self._root)
        if found is None:
            return 0, []
        done, history = load_checkpoint(found, **self._state)
        logger.info("Going on behind %s", found.name)
        return done, history

    def step(self, share: float) -> None:
        """Take a step with the gradients that there are, at a share of the highest rates."""
        for group, rate in zip(self._optimizer.param_groups, self._rates, strict=True):
            group["lr"] = rate * share
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), 1.0)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        if self._mean:
            self._mean.update()

    def averaged(self) -> AbstractContextManager[None]:
        """Return a context in which the model has the mean of its parameters, if one is kept."""
        return self._mean.in_place() if self._mean else nullcontext()

    def save(self, step: int, history: list[dict[str, Any]]) -> None:
        """Write a checkpoint, and remove the one before."""
        save_checkpoint(self._root, step=step, history=history, keep=1, **self._state)

    def end(self) -> None:
        """Remove the last checkpoint of a run that has ended."""
        shutil.rmtree(self._root, ignore_errors=True)


def autocast(precision: str, device: str) -> AbstractContextManager[Any]:
    """Return what a forward pass runs in. precision (str): "fp32", "bf16" or "auto"."""
    if resolve_precision(precision, device) == BF16:
        return torch.autocast(torch.device(device).type, torch.bfloat16)
    return nullcontext()


def run_id(lm: Path, **facts: Any) -> str:
    """Return what decides a run: an interrupted one goes on only if it is the same.

    lm (Path): The language model that it begins from. facts: What else decides, as JSON.
    """
    files = [file for file in sorted(lm.iterdir()) if file.suffix in (".json", ".safetensors")]
    facts |= {"lm": {file.name: sha256(file) for file in files}}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
