"""Fine-tuning a language model with a head on it: rates, half precision, runs that go on."""

import hashlib
import json
import logging
import shutil
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import nn

from spacy_bergamot.storage.files import sha256
from training.bergamot.checkpoint import load_checkpoint, newest_checkpoint, save_checkpoint
from training.bergamot.optimizers import make_adamw

_HEAD_RATE = 5.0  # what is not the language model begins at random and learns faster

logger = logging.getLogger(__name__)


class Tuning:
    """Optimiser and checkpoints of a model; an interrupted run goes on behind its last one.

    model (nn.Module): With the language model as `lm`.
    learn_rate (float): Of the language model, at its highest; that of the rest is five times that.
    output (Path): Folder of the run. run (str): What decides it, see `run_id`.
    """

    def __init__(self, model: nn.Module, *, learn_rate: float, output: Path, run: str) -> None:
        self._model = model
        self._optimizer = make_adamw(learn_rate, _HEAD_RATE * learn_rate)(model)
        self._rates = [group["lr"] for group in self._optimizer.param_groups]
        self._root = output / "checkpoints"
        self._state: dict[str, Any] = {
            "model": model,
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

    def save(self, step: int, history: list[dict[str, Any]]) -> None:
        """Write a checkpoint, and remove the one before."""
        save_checkpoint(self._root, step=step, history=history, keep=1, **self._state)

    def end(self) -> None:
        """Remove the last checkpoint of a run that has ended."""
        shutil.rmtree(self._root, ignore_errors=True)


def autocast(precision: str, device: str) -> AbstractContextManager[Any]:
    """Return what a forward pass runs in. precision (str): "fp32" or "bf16"."""
    if precision == "bf16":
        return torch.autocast(torch.device(device).type, torch.bfloat16)
    return nullcontext()


def run_id(lm: Path, **facts: Any) -> str:
    """Return what decides a run: an interrupted one goes on only if it is the same.

    lm (Path): The language model that it begins from. facts: What else decides, as JSON.
    """
    files = [file for file in sorted(lm.iterdir()) if file.suffix in (".json", ".safetensors")]
    facts |= {"lm": {file.name: sha256(file) for file in files}}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
