"""Tokenising a training set's names, against one call of the tokenizer a name.

    python -m benchmarks.tokens LM NAMES.txt [--names 1000000] [--quick]

NAMES has a name a line, or CUI||name lines. The other side calls transformers' tokenizer for
20,000 of them, drawn at random, one at a time.
The last line is JSON: names, tokens_per_name, bytes_per_name (of the store on disk), cpu_s,
seconds, peak_mib (of this process), and ratio and ratio_seconds (names per CPU-second and per
second by the other side's, which has one thread).
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from spacy_bergamot.encoder.text_encoder import EncoderSettings
from spacy_bergamot.text import normalize
from training.bergamot.token_store import TokenStore

ONE_BY_ONE = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lm", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--names", type=int, default=1_000_000)
    parser.add_argument("--quick", action="store_true", help="20,000 names")
    arguments = parser.parse_args()
    count = ONE_BY_ONE if arguments.quick else arguments.names
    lines = arguments.file.read_text(encoding="utf8").split("\n")
    distinct = dict.fromkeys(normalize(line.rpartition("||")[2]) for line in lines if line)
    names = pa.array([*distinct][:count], pa.large_string())
    settings = EncoderSettings("cls")
    drawn = np.random.default_rng(0).permutation(len(names))[:ONE_BY_ONE]
    sample = names.take(pa.array(drawn)).to_pylist()
    slow = one_by_one(arguments.lm, settings, sample)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokens"
        start, cpu = time.perf_counter(), time.process_time()
        store = TokenStore.open_or_build(
            path, names, lm=arguments.lm, settings=settings, names_id="benchmark"
        )
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        size = sum(file.stat().st_size for file in path.iterdir())
        tokens = int(store.indptr[-1])
    unit = 1 << (20 if sys.platform == "darwin" else 10)
    figures = {
        "names": len(names),
        "tokens_per_name": round(tokens / len(names), 2),
        "bytes_per_name": round(size / len(names), 1),
        "cpu_s": round(cpu, 1),
        "seconds": round(seconds, 1),
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit),
        "ratio": round(len(names) / cpu / slow, 2),
        "ratio_seconds": round(len(names) / seconds / slow, 2),
    }
    for name, value in figures.items():
        print(f"{name:16}{value}")
    print(json.dumps(figures))


def one_by_one(lm: Path, settings: EncoderSettings, names: list[str]) -> float:
    """Return names per CPU-second of calling transformers' tokenizer a name."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(lm, trust_remote_code=False)
    tokenizer(names[0])
    start = time.process_time()
    for name in names:
        tokenizer(name, max_length=settings.max_length, truncation=True)
    return len(names) / (time.process_time() - start)


if __name__ == "__main__":
    main()
