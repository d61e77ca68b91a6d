"""What a training step takes where word embeddings are trained whole, row by row, or not at all.

    python -m benchmarks.word_embeddings CONFIG corpus/train [key=value …] [--steps 5]

The config's first steps, without saving anything, each way in a process of its own; the first one
is not counted. On the CPU. The last line is JSON: of each way cpu_s and s, CPU-seconds and seconds
a step, and peak_mib, the most that the process held.
"""

import argparse
import json
import multiprocessing
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from training.bergamot.config import read_config
from training.bergamot.run import prepared

WAYS = ("trained", "rows", "frozen")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", type=Path)
    parser.add_argument("training_set", type=Path)
    parser.add_argument("settings", nargs="*", help="key=value of the config: system.seed=1")
    parser.add_argument("--steps", type=int, default=5)
    arguments = parser.parse_args()
    settings = {key: json.loads(value) for key, value in (s.split("=") for s in arguments.settings)}
    found = {}
    for way in WAYS:
        with (
            tempfile.TemporaryDirectory() as folder,
            ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool,
        ):
            paths = {"paths.training_set": str(arguments.training_set), "paths.output": folder}
            given = paths | settings | {"training.word_embeddings": way}
            found[way] = pool.submit(measure, arguments.config, given, arguments.steps).result()
        print(way, found[way])
    print(json.dumps(found))


def measure(config: Path, settings: dict[str, Any], steps: int) -> dict[str, float]:
    with prepared(read_config(config, settings)) as run:
        trainer = run.trainer()
        trainer.model.train()
        trainer.step(trainer.batches[0], 0)
        cpu, start = time.process_time(), time.perf_counter()
        for step in range(1, steps + 1):
            trainer.step(trainer.batches[step], step)
        cpu, seconds = time.process_time() - cpu, time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = {"cpu_s": cpu / steps, "s": seconds / steps}
    return {name: round(value, 3) for name, value in figures.items()} | {"peak_mib": round(peak)}


if __name__ == "__main__":
    main()
