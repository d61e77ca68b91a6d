"""The training loop: batches to losses to steps, checkpointed and resumable at every step."""

import logging
import math
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor
from tqdm import tqdm

from training.bergamot.batches import Batch, BatchMaker
from training.bergamot.checkpoint import load_checkpoint, newest_checkpoint, save_checkpoint
from training.bergamot.model import BergamotModel
from training.errors import BergamotError, Errors
from training.registry import registry

logger = logging.getLogger(__name__)

Autocast = Literal["none", "bf16", "fp16"]


@dataclass(frozen=True)
class TrainerSettings:
    """How long and how to step.

    epochs (int): Passes over the pairs.
    max_steps (int): Steps at most; 0 means no limit but `epochs`.
    schedule (str): "constant", or "linear" decay to 0 after the warm-up.
    warmup_steps (int): Steps of linear warm-up.
    clip (float): Largest gradient norm; 0 switches clipping off.
    autocast (str): "none", "bf16" or "fp16".
    detach_neighbours (bool): Send no gradient into the neighbours' text embeddings.
    checkpoint_every (int): Steps between checkpoints.
    log_every (int): Steps between reads of the losses.
    """

    epochs: int
    max_steps: int
    schedule: str
    warmup_steps: int
    clip: float
    autocast: Autocast
    detach_neighbours: bool
    checkpoint_every: int
    log_every: int

    def total_steps(self, steps_per_epoch: int) -> int:
        steps = self.epochs * steps_per_epoch
        return min(steps, self.max_steps) if self.max_steps else steps

    def rate(self, step: int, total: int) -> float:
        """Return the factor of the learning rate at a step."""
        if step < self.warmup_steps:
            return (step + 1) / self.warmup_steps
        if self.schedule == "constant":
            return 1.0
        return max(0.0, (total - step) / max(1, total - self.warmup_steps))


@registry.trainers("bergamot.v1")
def make_trainer_settings(
    epochs: int = 1,
    max_steps: int = 0,
    schedule: Literal["constant", "linear"] = "constant",
    warmup_steps: int = 0,
    clip: float = 0.0,
    autocast: Autocast = "none",
    detach_neighbours: bool = False,
    checkpoint_every: int = 500,
    log_every: int = 10,
) -> TrainerSettings:
    """Configure the trainer; see `TrainerSettings`."""
    return TrainerSettings(
        epochs,
        max_steps,
        schedule,
        warmup_steps,
        clip,
        autocast,
        detach_neighbours,
        checkpoint_every,
        log_every,
    )


class Trainer:
    """Train a model on batches, from the newest checkpoint if there is one.

    config_id (str): Identifies the config; a checkpoint made under another one is refused.
    """

    def __init__(
        self,
        model: BergamotModel,
        optimizer: torch.optim.Optimizer,
        batches: BatchMaker,
        settings: TrainerSettings,
        *,
        checkpoints: Path,
        device: str,
        config_id: str,
    ) -> None:
        self.model = model
        self.optimizer = optimizer
        self.batches = batches
        self.settings = settings
        self.checkpoints = checkpoints
        self.device = torch.device(device)
        self.config_id = config_id
        self.scaler = torch.amp.GradScaler(
            self.device.type, enabled=settings.autocast == "fp16" and self.device.type == "cuda"
        )
        self.total = settings.total_steps(batches.steps_per_epoch)
        self.scheduler_base = [group["lr"] for group in optimizer.param_groups]

    def train(self) -> list[dict[str, float]]:
        """Run to the last step and return the logged losses.

        SIGTERM and SIGINT save a checkpoint and raise; so does a loss that is not finite, without
        saving.
        """
        step = self.resume()
        self.model.train()
        history: list[dict[str, float]] = []
        progress = tqdm(total=self.total, initial=step, desc="Training", unit=" steps")
        with progress, stop_on_signal() as stopped:
            for batch in self._batches(step):
                losses = self.step(batch, step)
                step += 1
                progress.update()
                if step % self.settings.log_every == 0 or step == self.total:
                    history.append(self._log(step, losses, progress))
                if stopped:
                    self.save(step)
                    raise BergamotError(Errors.T209.format(step=step, path=self.checkpoints))
                if step % self.settings.checkpoint_every == 0 or step == self.total:
                    self._log(step, losses, progress)
                    self.save(step)
        return history

    def step(self, batch: Batch, step: int) -> dict[str, Tensor]:
        """Take one optimiser step and return the losses, on the device and unread."""
        factor = self.settings.rate(step, self.total)
        for group, base in zip(self.optimizer.param_groups, self.scheduler_base, strict=True):
            group["lr"] = base * factor
        with self._autocast():
            losses = self.model(batch.to(self.device))
            total = self.model.total(losses)
        self.optimizer.zero_grad(set_to_none=True)
        self.scaler.scale(total).backward()
        if self.settings.clip:
            self.scaler.unscale_(self.optimizer)
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return {"total": total.detach()} | {key: loss.detach() for key, loss in losses.items()}

    def resume(self) -> int:
        """Restore the newest checkpoint; return the step to go on from."""
        newest = newest_checkpoint(self.checkpoints)
        if newest is None:
            return 0
        step = load_checkpoint(
            newest,
            model=self.model,
            optimizer=self.optimizer,
            scaler=self.scaler,
            config_id=self.config_id,
        )
        logger.info("Going on from %s", newest)
        return step

    def save(self, step: int) -> None:
        save_checkpoint(
            self.checkpoints,
            step=step,
            model=self.model,
            optimizer=self.optimizer,
            scaler=self.scaler,
            config_id=self.config_id,
        )

    def _batches(self, start: int) -> Iterator[Batch]:
        """Yield the batches of all steps to come; worker processes prepare them ahead."""
        workers = self.batches.settings.workers
        loader = torch.utils.data.DataLoader(
            self.batches,
            batch_size=None,
            sampler=range(start, self.total),
            num_workers=workers,
            prefetch_factor=4 if workers else None,
            # A generator of its own: the loader must not draw from the random state that dropout
            # uses and checkpoints carry.
            generator=torch.Generator().manual_seed(0),
        )
        return iter(loader)

    def _autocast(self) -> Any:
        dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(self.settings.autocast)
        return torch.autocast(self.device.type, dtype=dtype, enabled=dtype is not None)

    def _log(self, step: int, losses: Mapping[str, Tensor], progress: tqdm) -> dict[str, float]:
        values = {name: float(loss) for name, loss in losses.items()}
        if not all(map(math.isfinite, values.values())):
            raise BergamotError(Errors.T208.format(step=step, losses=values, path=self.checkpoints))
        progress.set_postfix({name: f"{value:.3f}" for name, value in values.items()})
        return {"step": step, **values}


@contextmanager
def stop_on_signal() -> Iterator[list[int]]:
    """Yield a list that SIGTERM and SIGINT append to, so that the loop can end at a whole step."""
    received: list[int] = []
    previous = {}
    for number in (signal.SIGTERM, signal.SIGINT):
        try:
            previous[number] = signal.signal(number, lambda signum, _: received.append(signum))
        except ValueError:  # not in the main thread: nobody sends us signals there
            continue
    try:
        yield received
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
