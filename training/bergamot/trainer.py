"""The training loop: batches to steps, logged, validated, checkpointed and resumable."""

import json
import logging
import math
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor
from tqdm import tqdm

from spacy_bergamot.storage.files import atomic_file
from training.bergamot.batches import Batch, BatchMaker, prepared
from training.bergamot.checkpoint import (
    HISTORY,
    RATE,
    load_checkpoint,
    newest_checkpoint,
    save_checkpoint,
    with_rates,
)
from training.bergamot.hard_negatives import Near
from training.bergamot.loggers import Write
from training.bergamot.model import BergamotModel
from training.bergamot.processes import Processes
from training.bergamot.row_gradients import clip_gradients
from training.bergamot.step import GradientStep
from training.bergamot.trainer_settings import TrainerSettings
from training.bergamot.validation import Validation, best
from training.errors import BergamotError, Errors

logger = logging.getLogger(__name__)

FindNear = Callable[[int, bool], Near]
"""A step at which near names are looked for, and whether this is that step: if not, they were
found then, and are only opened."""


class Trainer:
    """Train a model on batches, from the newest checkpoint if there is one.

    output (Path): Gets `checkpoints/` and `history.json`, written by the main process alone.
    config_id (str): Identifies the config; a checkpoint made under another one is refused.
    validation (Validation | None): Run every `validation.settings.every` steps.
    keep_best (Callable[[int], None]): Called after a validation that beat all before it.
    find_near (FindNear | None): Gives the near names that batches take hard negatives from.
    writers (Sequence[Write]): Get every logged value.
    """

    def __init__(
        self,
        model: BergamotModel,
        optimizer: torch.optim.Optimizer,
        batches: BatchMaker,
        settings: TrainerSettings,
        *,
        output: Path,
        device: str,
        config_id: str,
        seed: int = 0,
        processes: Processes | None = None,
        validation: Validation | None = None,
        keep_best: Callable[[int], None] | None = None,
        find_near: FindNear | None = None,
        writers: Sequence[Write] = (),
    ) -> None:
        self.model = model
        self.optimizer = optimizer
        self.batches = batches
        self.settings = settings
        self.output = output
        self.checkpoints = output / "checkpoints"
        self.device = torch.device(device)
        self.config_id = config_id
        self.processes = processes or Processes()
        self.validation = validation
        self.keep_best = keep_best
        self.find_near = find_near
        self.writers = writers
        self.scaler = torch.amp.GradScaler(
            self.device.type, enabled=settings.autocast == "fp16" and self.device.type == "cuda"
        )
        self.gradients = GradientStep(
            model,
            self.processes,
            seed=seed,
            cache=settings.gradient_cache,
            scaler=self.scaler,
        )
        self.total = settings.total_steps(batches.steps_per_epoch)
        self.base_rates = [group["lr"] for group in optimizer.param_groups]
        self.history: list[dict[str, float]] = []

    def train(self) -> list[dict[str, float]]:
        """Run to the last step and return the logged values.

        SIGTERM and SIGINT save a checkpoint and raise; so does a loss that is not finite or
        explodes, without saving.
        """
        step = self.resume()
        self.model.train()
        window = _Window(self.settings)
        progress = tqdm(
            total=self.total,
            initial=step,
            desc="Training",
            unit=" steps",
            disable=not self.processes.main,
        )
        with progress, stop_on_signal() as stopped:
            for batch in self._batches(step):
                if self._out_of_patience():
                    logger.info("Stopping early at step %d: recall@1 no longer rises", step)
                    self.save(step)
                    break
                losses, norm = self.step(batch, step)
                window.add(batch, losses, norm)
                step += 1
                progress.update()
                self._after(step, window, progress)
                if self.processes.any(bool(stopped)):
                    self._check(step, window.means())
                    self.save(step)
                    raise BergamotError(Errors.T209, step=step, path=self.checkpoints)
        return self.history

    def _batches(self, step: int) -> Iterator[Batch]:
        """Yield the batches from a step on; near names are looked for anew when it is time."""
        search = self.batches.draws.search
        every = (search.every if search else 0) or self.total
        while step < self.total:
            start = step // every * every
            if self.find_near is not None:
                self.batches.draws.near = self.find_near(start, step == start)
            steps = range(step, min(self.total, start + every))
            yield from prepared(self.batches, steps, pin=self.device.type == "cuda")
            step = steps.stop

    def step(self, batch: Batch, step: int) -> tuple[dict[str, Tensor], Tensor]:
        """Take one optimiser step; return losses and gradient norm, on the device and unread."""
        factor = self.settings.rate(step, self.total) * batch.rate
        for group, base in zip(self.optimizer.param_groups, self.base_rates, strict=True):
            group["lr"] = base * factor
        self.optimizer.zero_grad(set_to_none=True)
        losses = self.gradients(batch.to(self.device), step)
        self.scaler.unscale_(self.optimizer)
        limit = self.settings.clip or math.inf
        norm = clip_gradients(self.model.parameters(), limit)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return losses, norm

    def resume(self) -> int:
        """Restore the newest checkpoint and the history in it; return the step to go on from."""
        newest = newest_checkpoint(self.checkpoints)
        if newest is None:
            return 0
        step, entries = load_checkpoint(
            newest,
            model=self.model,
            optimizer=self.optimizer,
            scaler=self.scaler,
            config_id=self.config_id,
        )
        self.history = with_rates(entries, self.output / HISTORY)
        logger.info("Going on from %s", newest)
        return step

    def save(self, step: int) -> None:
        """Write history and checkpoint, in this order, from the main process."""
        if self.processes.main:
            with atomic_file(self.output / HISTORY) as path:
                path.write_text(json.dumps(self.history, indent=0), encoding="utf8")
            save_checkpoint(
                self.checkpoints,
                step=step,
                model=self.model,
                optimizer=self.optimizer,
                scaler=self.scaler,
                config_id=self.config_id,
                history=self.history,
            )
        self.processes.wait()

    def _after(self, step: int, window: "_Window", progress: tqdm) -> None:
        """Log, validate and save where it is time."""
        last = step == self.total
        if last or step % self.settings.log_every == 0:
            self._log(step, window, progress)
        if self.validation and (last or step % self.validation.settings.every == 0):
            self._validate(step, progress)
        if last or step % self.settings.checkpoint_every == 0:
            self._check(step, window.means())
            self.save(step)

    def _log(self, step: int, window: "_Window", progress: tqdm) -> None:
        values = window.means()
        self._check(step, values)
        values |= window.rates()
        window.clear()
        self.history.append({"step": step, **values})
        shown = {name: f"{values[name]:.3f}" for name in [*self._loss_names(), "grad_norm"]}
        shown["pairs/s"] = f"{values['pairs_per_s']:.0f}"
        progress.set_postfix(shown, refresh=False)
        self._write(step, values)

    def _validate(self, step: int, progress: tqdm) -> None:
        """Measure recall in the main process and tell the others."""
        assert self.validation is not None
        before, _ = best(self.history)
        values = {"recall@1": 0.0, "recall@5": 0.0}
        if self.processes.main:
            values = self.validation(self.model.lm, str(self.device))
        shared = self.processes.sum(torch.tensor(list(values.values()), device=self.device))
        values = dict(zip(values, shared.tolist(), strict=True))
        self.history.append({"step": step, **values})
        progress.write(f"Step {step}: " + ", ".join(f"{k} {v:.1f}" for k, v in values.items()))
        self._write(step, values)
        if values["recall@1"] > before and self.keep_best and self.processes.main:
            self.keep_best(step)

    def _out_of_patience(self) -> bool:
        if self.validation is None or not self.validation.settings.patience:
            return False
        return best(self.history)[1] >= self.validation.settings.patience

    def _check(self, step: int, values: Mapping[str, float]) -> None:
        """Raise if a loss is not finite or the total has exploded."""
        if not all(map(math.isfinite, values.values())):
            raise BergamotError(Errors.T208, step=step, losses=dict(values), path=self.checkpoints)
        first = next((entry["total"] for entry in self.history if "total" in entry), math.inf)
        limit = self.settings.explosion * first
        if self.settings.explosion and values.get("total", 0.0) > limit:
            raise BergamotError(
                Errors.T216, step=step, total=values["total"], first=first, path=self.checkpoints
            )

    def _loss_names(self) -> list[str]:
        return ["total", *self.model.objectives]

    def _write(self, step: int, values: Mapping[str, float]) -> None:
        if self.processes.main:
            for write in self.writers:
                write(step, values)


class _Window:
    """What happened since the last log. The losses are added up where they are, and not read."""

    def __init__(self, settings: TrainerSettings) -> None:
        self.settings = settings
        self.clear()

    def clear(self) -> None:
        self.sums: dict[str, Tensor] = {}
        self.steps = self.pairs = self.tokens = self.slots = 0
        self.started = time.perf_counter()

    def add(self, batch: Batch, losses: Mapping[str, Tensor], norm: Tensor) -> None:
        for name, value in {**losses, "grad_norm": norm}.items():
            self.sums[name] = self.sums[name] + value if name in self.sums else value
        self.steps += 1
        self.pairs += batch.centres
        self.tokens += batch.tokens
        self.slots += batch.slots

    def means(self) -> dict[str, float]:
        return {name: float(value) / self.steps for name, value in self.sums.items()}

    def rates(self) -> dict[str, float]:
        seconds = time.perf_counter() - self.started
        return {RATE: self.pairs / seconds, "useful_tokens": self.tokens / self.slots}


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
