"""Training runs of an ablation: one process each, side by side; what is done is not done again."""

import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from confection import Config

from spacy_bergamot.storage.files import MANIFEST, write_text
from spacy_bergamot.storage.preflight import cores
from training.errors import BergamotError, Errors

_LINES = 15


@dataclass(frozen=True)
class TrainingRun:
    """One variant with one seed, in a folder of its own.

    folder (Path): Gets config.cfg, log.txt and model/, which has lm/ at the end.
    """

    variant: str
    seed: int
    folder: Path

    @property
    def lm(self) -> Path:
        """The language model after training."""
        return self.folder / "model" / "lm"

    @property
    def base(self) -> Path:
        """The language model before training."""
        return self.folder / "model" / "base"


def plan(variants: Mapping[str, Config], seeds: int, folder: Path) -> list[TrainingRun]:
    """Write the config of every run; each can be trained by hand with `python -m training train`.

    RAISES (BergamotError): B040 if a folder has a run of another config.
    """
    runs = []
    for seed in range(seeds):
        for name, config in variants.items():
            run = TrainingRun(name, seed, folder / f"{name.replace(' ', '-')}-{seed}")
            made = config.copy()
            made["system"]["seed"] = seed
            made["paths"]["output"] = str(run.folder / "model")
            path, text = run.folder / "config.cfg", made.to_str()
            if path.is_file() and path.read_text(encoding="utf8") != text:
                raise BergamotError(Errors.B040, path=path, what="a run with another config")
            write_text(path, text)
            runs.append(run)
    return runs


def train_all(runs: list[TrainingRun], *, processes: int, gpu_id: int) -> None:
    """Train the runs that are not trained yet. RAISES (BergamotError): T284, with the log's end."""
    from tqdm import tqdm

    waiting = [run for run in runs if not (run.lm / MANIFEST).is_file()]
    threads = max(1, cores() // processes)
    with ThreadPoolExecutor(processes) as pool:
        done = pool.map(lambda run: _train(run, gpu_id, threads), waiting)
        for _ in tqdm(done, total=len(waiting), unit=" runs", desc="Training"):
            pass


def _train(run: TrainingRun, gpu_id: int, threads: int) -> None:
    command = [sys.executable, "-m", "training", "train", str(run.folder / "config.cfg")]
    command += ["--gpu-id", str(gpu_id)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    log = run.folder / "log.txt"
    with log.open("w", encoding="utf8") as stream:
        done = subprocess.run(command, stdout=stream, stderr=stream, env=environment, check=False)
    if done.returncode:
        end = "\n".join(log.read_text(encoding="utf8").splitlines()[-_LINES:])
        raise BergamotError(
            Errors.T284, command="training train", status=done.returncode, end=f"{log} says:\n{end}"
        )
