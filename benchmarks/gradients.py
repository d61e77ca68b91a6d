"""What each objective asks of the language model in the course of a training run.

    python -m benchmarks.gradients CONFIG TRAINING_SET [key=value …] [--steps 0 50 200]

Trains the config and stops at the steps named: there every objective's gradient on the language
model, times its weight, is taken by itself over batches of the run's end. Prints its loss, its
norm, its cosine with the text objective's, and, where it mines, the anchors with a pair and the
negatives. The last line is JSON: {step: {objective: {loss, norm, cosine, anchors, negatives}}}.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from tqdm import trange

from training.bergamot.config import read_config
from training.bergamot.losses import MinedLoss
from training.bergamot.processes import Processes
from training.bergamot.run import prepared
from training.bergamot.step import GradientStep
from training.bergamot.trainer import Trainer

COLUMNS = ("loss", "norm", "cosine", "anchors", "negatives")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", type=Path)
    parser.add_argument("training_set", type=Path)
    parser.add_argument("settings", nargs="*", help="key=value of the config: system.seed=1")
    parser.add_argument("--steps", type=int, nargs="+", default=[0, 50, 200])
    parser.add_argument("--batches", type=int, default=3)
    arguments = parser.parse_args()
    settings = {key: json.loads(value) for key, value in (s.split("=") for s in arguments.settings)}
    with tempfile.TemporaryDirectory() as folder:
        paths = {"paths.training_set": str(arguments.training_set), "paths.output": folder}
        config = read_config(arguments.config, paths | {"training.max_steps": 0} | settings)
        with prepared(config) as run:
            trainer = run.trainer()
            found = {}
            for step in trange(max(arguments.steps) + 1, unit=" steps"):
                if step in arguments.steps:
                    found[step] = measure(trainer, step, arguments.batches)
                if step < max(arguments.steps):
                    trainer.step(trainer.batches[step], step)
    for step, objectives in found.items():
        print(f"\nstep {step:<13}" + "".join(f"{column:>11}" for column in COLUMNS))
        for name, row in objectives.items():
            cells = (f"{row[c]:11.3f}" if c in row else " " * 11 for c in COLUMNS)
            print(f"{name:<18}" + "".join(cells))
    print(json.dumps(found))


def measure(trainer: Trainer, step: int, batches: int) -> dict[str, dict[str, float]]:
    """Return the figures of every objective, means over the last batches of the run."""
    model = trainer.model
    weights = dict(model.weights)
    asked = {name: weight for name, weight in weights.items() if weight}
    gradient = GradientStep(model, Processes(), seed=0, cache=True, scaler=trainer.scaler)
    directions: dict[str, Tensor] = {}
    found: dict[str, dict[str, float]] = {}
    for name, weight in asked.items():
        model.weights = {other: weight * (other == name) for other in weights}
        counts = Counts(getattr(model.objectives[name], "loss", None))
        vectors, losses = [], []
        for number in range(batches):
            model.zero_grad(set_to_none=True)
            batch = trainer.batches[len(trainer.batches) - 1 - number]
            losses.append(float(gradient(batch, step)[name]))
            vectors.append(torch.cat([_flat(p) for p in model.lm.parameters()]))
        directions[name] = torch.stack(vectors).sum(0)
        norm = sum(float(vector.norm()) for vector in vectors) / batches
        found[name] = {"loss": sum(losses) / batches, "norm": norm, **counts.stop()}
    model.weights = weights
    model.zero_grad(set_to_none=True)
    for name in found:
        if name != "text" and "text" in directions:
            cosine = torch.cosine_similarity(directions[name], directions["text"], 0)
            found[name]["cosine"] = float(cosine)
    return found


class Counts:
    """Counts what a mined loss is given, until it is stopped."""

    def __init__(self, loss: Any) -> None:
        self.loss = loss if isinstance(loss, MinedLoss) else None
        self.given: list[tuple[int, int]] = []
        if self.loss is not None:
            self.inner = self.loss.loss
            self.loss.loss = self

    def __call__(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> Tensor:
        self.given.append((int(positives.any(1).sum()), int(negatives.sum())))
        return self.inner(similarities, positives, negatives)

    def stop(self) -> dict[str, float]:
        if self.loss is None:
            return {}
        self.loss.loss = self.inner
        anchors, negatives = (sum(column) / len(column) for column in zip(*self.given, strict=True))
        return {"anchors": anchors, "negatives": negatives}


def _flat(parameter: Tensor) -> Tensor:
    gradient = parameter.grad
    return torch.zeros(parameter.numel()) if gradient is None else gradient.detach().flatten().cpu()


if __name__ == "__main__":
    main()
