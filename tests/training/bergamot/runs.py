"""Training runs, interrupted or in several processes, and what they leave, compared."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from confection import Config
from safetensors.torch import load_file

from training.bergamot.trainer import Trainer

ROOT = Path(__file__).parents[3]


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


def run_processes(config: Config, count: int, path: Path) -> Path:
    """Train in so many processes; return the folder of the run."""
    config["paths"]["output"] = str(path / f"run{count}")
    config.to_disk(path / f"{count}.cfg")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(count), "-m", "training", "train"]
    command += [str(path / f"{count}.cfg")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return path / f"run{count}"
