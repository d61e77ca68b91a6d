"""A corpus by `annotate`: documents a second, memory over time, and the files after a kill.

    python -m benchmarks.annotate_killed PIPELINE [--documents 50000] [--workers 1] [--quick]

Documents are invented: three names of the pipeline's knowledge base each, between words that no
other document has. The command runs twice as a user gives it. The second run and its workers get
SIGKILL when half of the files are there, and the same command goes on. Memory is the resident one
of the command and its workers; its table has a row for every tenth of the documents.

The last line is JSON: documents, documents_per_s and cpu_ms (CPU time a document, all processes
together) of the first run, both with the loading of the pipeline; memory_mib (a tenth each),
growth_percent (from the second tenth to the last), kept (files that the killed run left), and equal
(every file of both outputs is the same to the byte).
"""

import argparse
import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.annotate import invented

FILES = 50
"""Files of an output, so that there is something to see of the time between."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline")
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="1,000 documents")
    arguments = parser.parse_args()
    wanted = 1000 if arguments.quick else arguments.documents
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        notes = folder / "notes.parquet"
        texts = invented(arguments.pipeline, wanted)
        pq.write_table(pa.table({"id": range(wanted), "text": texts}), notes)
        command = [sys.executable, "-m", "spacy", "bergamot", "annotate", arguments.pipeline]
        command += [str(notes), "--workers", str(arguments.workers), "--rows", str(wanted // FILES)]
        start, before = time.perf_counter(), cpu_seconds()
        memory = watched([*command, str(folder / "whole")], folder / "whole", lambda _: False)
        seconds, cpu = time.perf_counter() - start, cpu_seconds() - before
        killed = folder / "killed"
        watched([*command, str(killed)], killed, lambda files: files >= FILES // 2)
        kept = len(list(killed.glob("*.parquet")))
        subprocess.run([*command, str(killed)], check=True, capture_output=True)
        equal = checksums(folder / "whole") == checksums(killed)
    tenths = [max(of for files, of in memory if files <= FILES * n / 10) for n in range(1, 11)]
    result = {
        "documents": wanted,
        "documents_per_s": round(wanted / seconds, 1),
        "cpu_ms": round(1000 * cpu / wanted, 2),
        "memory_mib": tenths,
        "growth_percent": round(100 * (tenths[-1] / tenths[1] - 1), 1),
        "kept": kept,
        "equal": equal,
    }
    for name, figure in result.items():
        print(f"{name:20} {figure}")
    print(json.dumps(result))


def watched(
    command: list[str], output: Path, enough: Callable[[int], bool]
) -> list[tuple[int, int]]:
    """Run a command; return how many files and how much memory, in MiB, there were at a time.

    enough (Callable[[int], bool]): Whether it is killed, with all of its workers, at so many files.
    """
    readings = []
    with subprocess.Popen(
        command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as run:
        while run.poll() is None:
            files = len(list(output.glob("*.parquet")))
            readings.append((files, resident(run.pid)))
            if enough(files):
                os.killpg(run.pid, signal.SIGKILL)
                return readings
            time.sleep(0.2)
    if run.returncode:
        sys.exit(f"{' '.join(command)} ended with {run.returncode}")
    return readings


def resident(pid: int) -> int:
    """Return the resident memory of a process and all below it, in MiB."""
    try:
        process = psutil.Process(pid)
        every = [process, *process.children(recursive=True)]
        return sum(one.memory_info().rss for one in every) >> 20
    except psutil.NoSuchProcess:  # it has just ended
        return 0


def cpu_seconds() -> float:
    """Return the CPU time of processes that this one began and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def checksums(output: Path) -> dict[str, str]:
    """Return the checksum of every file of an output by its name."""
    files = sorted(output.glob("*.parquet"))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


if __name__ == "__main__":
    main()
