"""Documents a second of `annotate`, against nlp.pipe on the same pipeline, and how memory grows.

    python -m benchmarks.annotate PIPELINE [--texts FILE.parquet] [--documents 10000] [--quick]

Without texts, documents are invented: three names of the pipeline's knowledge base each, between
words that no other document has. One thread a process. Every way is a process of its own; its
pipeline is loaded before its time begins, and of several workers each one's first batch is left
out. Growth is that of one worker's resident memory, in percent, from a tenth of the documents on to
the end.

The last line is JSON: pipe_1, pipe_2, annotate_1, annotate_2 (documents per second), workers_ratio
(annotate_2 by annotate_1), pipe_ratio (annotate_2 by pipe_2), cpu_ms of each way (CPU time a
document, all processes together: where others use the cores too, it says what the seconds do not),
feed_ms (of annotate_2, what of that the process takes that feeds the workers), equal (all four give
the same mentions, concepts and scores), memory_mib and growth_percent.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from spacy_bergamot.annotate.batches import AnnotateBatches, pieces, plain
from spacy_bergamot.annotate.workers import Workers
from spacy_bergamot.linking.spans import is_linked, spans_of
from spacy_bergamot.pipeline.pipelines import linker_of, load_pipeline

NAMES = 3
ENTRY = "import sys; from benchmarks.annotate import measure; measure(*sys.argv[1:])"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline")
    parser.add_argument("--texts", type=Path, help="Parquet with a column 'text'")
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--quick", action="store_true", help="1,500 documents")
    arguments = parser.parse_args()
    wanted = 1500 if arguments.quick else arguments.documents
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.parquet"
        if arguments.texts:
            texts = pq.read_table(arguments.texts, columns=["text"]).slice(0, wanted)
        else:
            texts = pa.table({"text": invented(arguments.pipeline, wanted)})
        pq.write_table(texts, path)
        found = {
            f"{way}_{processes}": alone(way, arguments.pipeline, path, processes)
            for way in ("pipe", "annotate")
            for processes in (1, 2)
        }
    rate = {name: row["documents_per_s"] for name, row in found.items()}
    both = found["annotate_2"]
    result = {
        **rate,
        "workers_ratio": round(rate["annotate_2"] / rate["annotate_1"], 2),
        "pipe_ratio": round(rate["annotate_2"] / rate["pipe_2"], 2),
        "cpu_ms": {name: row["cpu_ms"] for name, row in found.items()},
        "feed_ms": both["feed_ms"],
        "equal": len({row["answers"] for row in found.values()}) == 1,
        "mentions": both["mentions"],
        "memory_mib": found["annotate_1"]["memory_mib"],
        "growth_percent": found["annotate_1"]["growth_percent"],
    }
    for name, figure in result.items():
        print(f"{name:20} {figure}")
    print(json.dumps(result))


def invented(pipeline: str, wanted: int) -> list[str]:
    """Return documents with names of a knowledge base and words that are new in each."""
    linker, _ = linker_of(load_pipeline(pipeline))
    names = linker.parts.index.table.aliases.column("alias")
    rng = np.random.default_rng(0)
    rows = rng.integers(0, len(names), (wanted, NAMES))
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(word) for word in letters[rng.integers(0, 26, (wanted * NAMES * 6, 9))]]
    new = count()
    return [
        " ".join(
            f"{' '.join(words[next(new)] for _ in range(6))} {names[int(row)].as_py()}."
            for row in of
        )
        for of in rows
    ]


def alone(way: str, pipeline: str, path: Path, processes: int) -> dict[str, Any]:
    """Measure in a process of its own."""
    command = [sys.executable, "-c", ENTRY, way, pipeline, str(path), str(processes)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        sys.exit(f"{way} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def measure(way: str, pipeline: str, path: str, processes: str) -> None:
    """Print what a way gives."""
    texts = pq.read_table(path).column("text").combine_chunks()
    run = by_pipe if way == "pipe" else by_annotate
    print(json.dumps(run(pipeline, texts, int(processes))))


def by_pipe(pipeline: str, texts: pa.Array, processes: int) -> dict[str, Any]:
    nlp = load_pipeline(pipeline)
    linker, _ = linker_of(nlp)
    digest, mentions = hashlib.sha256(), 0
    start, before = time.perf_counter(), used()
    for doc in nlp.pipe(texts.to_pylist(), n_process=processes, batch_size=128):
        found = [
            (span.start_char, span.end_char, span.label_, span.kb_id_, span._.kb_ents[0][1])
            if is_linked(span)
            else (span.start_char, span.end_char, span.label_, None, None)
            for span in spans_of(doc, linker.settings.spans_key)
        ]
        mentions += add(digest, found)
    seconds = time.perf_counter() - start
    return {
        "documents_per_s": round(len(texts) / seconds, 1),
        "cpu_ms": round(1000 * (used() - before) / len(texts), 2),
        "answers": digest.hexdigest(),
        "mentions": mentions,
    }


def by_annotate(pipeline: str, texts: pa.Array, processes: int) -> dict[str, Any]:
    table = pa.table({"text": plain(texts)})
    readings, made = [], []
    with Workers(AnnotateBatches(pipeline, keep=()), count=processes, timeout=600) as workers:
        for rows, batch in workers.map(batches(table)):
            made.append(batch)
            readings.append((time.perf_counter(), rows, resident(), time.process_time(), used()))
    times, rows, memory, feed, cpu = np.array(readings).T
    first = min(processes, len(rows) - 1)  # at the first answer, each worker has one
    timed = rows[first:].sum()
    digest, mentions = hashlib.sha256(), 0
    for batch in made:
        for of in batch.column("mentions").to_pylist():
            mentions += add(digest, [answer(one) for one in of])
    return {
        "documents_per_s": round(timed / (times[-1] - times[0]), 1),
        "cpu_ms": round(1000 * (cpu[-1] - cpu[0]) / timed, 2),
        "feed_ms": round(1000 * (feed[-1] - feed[0]) / timed, 3),
        "answers": digest.hexdigest(),
        "mentions": mentions,
        "memory_mib": round(memory[-1]),
        "growth_percent": round(100 * (memory[-1] / memory[max(len(memory) // 10, 1)] - 1), 1),
    }


def batches(table: pa.Table) -> Iterator[tuple[int, pa.RecordBatch]]:
    for start, end in pieces(table.column("text")):
        yield end - start, table.slice(start, end - start).combine_chunks().to_batches()[0]


def answer(one: dict[str, Any]) -> tuple:
    """Return a mention as `by_pipe` has it."""
    return one["start"], one["end"], one["label"], one["concept_id"], one["score"]


def add(digest: Any, found: list[tuple]) -> int:
    """Add a document's mentions to a digest; of scores four decimals of 32 bits, as a column's."""
    rounded = [(*first, score and round(float(np.float32(score)), 4)) for *first, score in found]
    digest.update(json.dumps(rounded).encode())
    return len(found)


def used() -> float:
    """Return the CPU seconds of this process and its children, of those too that have ended."""
    own = psutil.Process().cpu_times()
    alive = [child.cpu_times() for child in psutil.Process().children()]
    return sum(own[:4]) + sum(sum(times[:2]) for times in alive)


def resident() -> float:
    """Return the resident memory of the workers in MiB."""
    return sum(child.memory_info().rss for child in psutil.Process().children()) / 2**20


if __name__ == "__main__":
    main()
