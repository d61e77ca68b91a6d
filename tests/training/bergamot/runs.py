"""Training runs, interrupted or in several processes, and what they leave, compared."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from confection import Config
from safetensors.torch import load_file

from tests.processes import ROOT, Command, free_port
from training.bergamot.config import read_config
from training.bergamot.trainer import Trainer
from training.preprocess.training_set import TrainingSet

ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1"}


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
    output = configured(config, path / f"run{count}")
    address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    processes = [
        Command(
            "training",
            "train",
            f"{output}.cfg",
            environment={**ONE_THREAD, **address, **ranked(rank, count)},
            files=(os.devnull, os.devnull, f"{output}-{rank}.log"),
        )
        for rank in range(count)
    ]
    for rank, process in enumerate(processes):
        assert process.wait(240) == 0, Path(f"{output}-{rank}.log").read_text("utf8")[-3000:]
    return output


def ranked(rank: int, count: int) -> dict[str, str]:
    """Return what a launcher says to a process of several on one machine."""
    return {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(count)}


def run_launched(config: Config, count: int, path: Path) -> Path:
    """Do the same with torch's launcher."""
    output = configured(config, path / f"launched{count}")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(count), "-m", "training", "train", f"{output}.cfg"]
    done = subprocess.run(
        command, cwd=ROOT, env=ONE_THREAD, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return output


def configured(config: Config, output: Path) -> Path:
    """Write the config of a run beside its folder."""
    config["paths"]["output"] = str(output)
    config.to_disk(f"{output}.cfg")
    return output


def shipped(path: Path, tiny: Config, batches: dict[str, int], **training: object) -> Config:
    """Return a shipped config with paths and base of a tiny one, other batches and training."""
    made = read_config(path, {})
    for section in ("paths", "text_encoder"):
        made[section] = tiny[section]
    made["batches"].update(workers=0, **batches)
    made["training"].update(log_every=1, **training)
    return made


def names_by_concept(data: TrainingSet) -> list[set[int]]:
    bounds = data.node_names_indptr
    return [set(data.node_names[a:b].tolist()) for a, b in itertools.pairwise(bounds)]
