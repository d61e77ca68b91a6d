"""How long a training batch takes to make from a graph of UMLS's size, on the CPU.

    python -m benchmarks.sampler [--concepts 4400000] [--edges 38800000] [--step-ms MS] [--quick]

A training set of random numbers in UMLS's shape is written (`--folder` keeps it for another call)
and mapped: 3.6 names per concept and as many edges, both with a heavy tail, 7 pairs per concept, 11
tokens per name. The batches are those of the config (`--config`), made by the trainer's own loader.
The last line is JSON: sampler_ms (the neighbourhoods of a batch alone, median), ms_per_batch and
cpu_ms_per_batch (whole batches, median and mean in one process), epoch_ms (the order of an
epoch's pairs, once), batches_per_s (from the config's workers), edges; and with --step-ms, the
time of a step that you measured, sampler_share and step_share: the time of a neighbourhood and of
a batch from the workers by it. Below 1 the step never waits.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from confection import Config

from spacy_bergamot.storage.files import atomic_folder
from spacy_bergamot.storage.manifest import write_manifest
from training.bergamot.batches import BatchMaker, prepared
from training.bergamot.draws.pairs import PairBatches
from training.bergamot.token_store import KIND as TOKENS
from training.bergamot.token_store import TokenStore
from training.preprocess.training_set import TrainingSet

NAMES, PAIRS, TOKENS_PER_NAME, HOMONYMS = 3.6, 7, 11, 0.02
LABELS = ["PAR", "CHD", "RB", "RN", "RO", "RQ", "SIB", "SY", "AQ", "QB"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--concepts", type=int, default=4_400_000)
    parser.add_argument("--edges", type=int, default=38_800_000)
    parser.add_argument("--config", type=Path, default=Path("configs/train/bergamot_gat.cfg"))
    parser.add_argument("--batches", type=int, default=300)
    parser.add_argument("--step-ms", type=float, help="time of a training step to compare with")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--quick", action="store_true", help="20,000 concepts, 20 batches")
    arguments = parser.parse_args()
    concepts, edges, count = arguments.concepts, arguments.edges, arguments.batches
    if arguments.quick:
        concepts, edges, count = 20_000, 180_000, 20
    settings = dict(Config().from_disk(arguments.config)["batches"])
    settings.pop("@batches")
    with tempfile.TemporaryDirectory() as temporary:
        root = (arguments.folder or Path(temporary)) / f"{concepts}-{edges}"
        if not root.exists():
            write(root, concepts, edges)
        data, tokens = TrainingSet.open(root / "train"), TokenStore.open(root / "tokens")
        maker = BatchMaker(data, tokens, PairBatches(**settings), seed=0, graph=True, pad=0)
        figures = {"edges": len(data.graph_sources), "concepts": concepts, **measure(maker, count)}
    if arguments.step_ms:
        share = 1000 / figures["batches_per_s"] / arguments.step_ms
        figures |= {
            "step_ms": arguments.step_ms,
            "sampler_share": round(figures["sampler_ms"] / arguments.step_ms, 4),
            "step_share": round(share, 4),
        }
    for name, value in figures.items():
        print(f"{name:18}{value}")
    print(json.dumps(figures))


def measure(maker: BatchMaker, count: int) -> dict[str, Any]:
    """Make batches in this process, and as many in the workers."""
    count = min(count, maker.steps_per_epoch // 2)
    start = time.perf_counter()
    maker.draws.draw(0)
    epoch = time.perf_counter() - start
    times, nodes, cpu = [], [], time.process_time()
    for step in range(count):
        start = time.perf_counter()
        nodes.append(maker[step].rows.shape[1])
        times.append(time.perf_counter() - start)
    cpu = (time.process_time() - cpu) / count
    rng, drawn = np.random.default_rng(0), []
    for step in range(count):
        centres = maker.draws.draw(step).labels[0]
        start = time.perf_counter()
        maker.draws.sampler.sample(centres, rng)
        drawn.append(time.perf_counter() - start)
    workers = maker.settings.workers
    stream = prepared(maker, range(count, 2 * count))
    for _ in range(max(1, count // 4)):  # the workers order the epoch's pairs, and run ahead
        next(stream)
    start = time.perf_counter()
    rest = sum(1 for _ in stream)
    rate = rest / (time.perf_counter() - start)
    return {
        "pairs_per_batch": maker.settings.size,
        "nodes_per_batch": round(float(np.mean(nodes))),
        "sampler_ms": round(1000 * float(np.median(drawn)), 2),
        "ms_per_batch": round(1000 * float(np.median(times)), 2),
        "cpu_ms_per_batch": round(1000 * cpu, 2),
        "epoch_ms": round(1000 * epoch),
        "workers": workers,
        "batches_per_s": round(rate, 1),
    }


def write(root: Path, concepts: int, edges: int) -> None:
    """Write train/ and tokens/ of random numbers."""
    rng = np.random.default_rng(0)
    names = 1 + spread(round((NAMES - 1) * concepts), concepts, rng)
    own = indptr(names)
    chosen = np.sort(rng.integers(0, concepts, PAIRS * concepts, dtype=np.int32))
    chosen = chosen[names[chosen] > 1]
    first = (rng.random(len(chosen)) * names[chosen]).astype(np.int64)
    apart = 1 + (rng.random(len(chosen)) * (names[chosen] - 1)).astype(np.int64)
    second = (first + apart) % names[chosen]
    pairs = np.stack([chosen, own[chosen] + first, own[chosen] + second], axis=1)
    sources = np.repeat(np.arange(concepts, dtype=np.int32), spread(edges, concepts, rng))
    rng.shuffle(sources)
    some = np.sort(rng.permutation(concepts)[: max(2, round(HOMONYMS * concepts)) // 2 * 2])
    every = np.arange(concepts, dtype=np.int32)
    edge = {
        "target": np.repeat(every, spread(edges, concepts, rng)),
        "source": sources,
        "relation": rng.integers(0, len(LABELS), edges, dtype=np.int32),
    }
    TrainingSet.write(
        root / "train",
        # Batches are made of token ids; the strings of the names are not asked for.
        names=pa.array([""]),
        pairs=pairs,
        node_names=pl.DataFrame({"concept": np.repeat(every, names), "name": np.arange(own[-1])}),
        edges=pl.DataFrame(edge),
        homonyms=pl.DataFrame({"concept": some, "other": some.reshape(-1, 2)[:, ::-1].ravel()}),
        n_concepts=concepts,
        relation_labels=LABELS,
    )
    with atomic_folder(root / "tokens") as folder:
        lengths = np.minimum(25, 2 + rng.poisson(TOKENS_PER_NAME - 2, int(own[-1])))
        ends = indptr(lengths)
        np.save(folder / "tokens.npy", rng.integers(0, 1 << 16, int(ends[-1]), dtype=np.uint16))
        np.save(folder / "indptr.npy", ends)
        write_manifest(folder, kind=TOKENS, version=1)


def spread(total: int, parts: int, rng: np.random.Generator) -> np.ndarray:
    """Return `parts` counts that add up to `total`, int64, with a heavy tail."""
    weights = 1 + rng.pareto(1.5, parts)
    return rng.multinomial(total, weights / weights.sum())


def indptr(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


if __name__ == "__main__":
    main()
