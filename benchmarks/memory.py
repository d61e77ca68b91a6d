"""Whether memory stands still while names that were never seen come in batches of changing size.

    python -m benchmarks.memory PIPELINE [--names 500000] [--quick]

The language model of a packaged pipeline encodes invented names, then the pipeline links documents
of them in spaCy's memory zones, a mention a document. The first 20,000 names, or half of them, make
what is kept once; freed memory is given back before every reading. The linker remembers 1,000
mentions here. The last line is JSON, of either: _mib, the growth of the resident memory after the
first names, first_mib, by them, and names_per_s.
"""

import argparse
import ctypes
import gc
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

REMEMBERED = 1000
WARM_UP = 20_000
LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline", type=Path)
    parser.add_argument("--names", type=int, default=500_000)
    parser.add_argument("--quick", action="store_true", help="40,000 names")
    arguments = parser.parse_args()
    count = 40_000 if arguments.quick else arguments.names
    nlp = spacy.load(arguments.pipeline)
    name = next(name for name in nlp.pipe_names if hasattr(nlp.get_pipe(name), "generator"))
    config: Any = {"components": {name: {"cache_size": REMEMBERED}}}
    nlp = spacy.load(arguments.pipeline, config=config)
    linker: Any = nlp.get_pipe(name)
    first = min(WARM_UP, count // 2)
    encode = measure(linker.parts.encoder.encode, invented(count, seed=0), first=first)
    pipe = measure(lambda names: link(nlp, linker, names), invented(count, seed=1), first=first)
    result = {f"encode_{key}": value for key, value in encode.items()}
    result |= {f"pipe_{key}": value for key, value in pipe.items()}
    for key, figure in result.items():
        print(f"{key:20} {figure}")
    print(json.dumps(result))


def invented(count: int, *, seed: int) -> Iterator[list[str]]:
    """Yield names of one to six made-up words, in batches of 1 to 500 names, mostly small."""
    rng = np.random.default_rng(seed)
    while count > 0:
        size = min(count, int(500 ** rng.random()))
        words = ["".join(word) for word in LETTERS[rng.integers(0, 26, (size * 6, 7))]]
        lengths = rng.integers(1, 7, size)
        yield [" ".join(words[6 * row : 6 * row + length]) for row, length in enumerate(lengths)]
        count -= size


def link(nlp: Language, linker: Any, names: list[str]) -> None:
    """Link documents that are a mention each."""
    with nlp.memory_zone():
        docs = [nlp.make_doc(name) for name in names]
        for doc in docs:
            mention(doc, linker.settings.spans_key)
        for _ in nlp.pipe(docs):
            pass


def mention(doc: Doc, spans_key: str | None) -> None:
    """Make a whole document a mention."""
    span = Span(doc, 0, len(doc), label="MENTION")
    if spans_key is None:
        doc.ents = [span]
    else:
        doc.spans[spans_key] = [span]


def measure(
    take: Callable[[list[str]], object], batches: Iterator[list[str]], *, first: int
) -> dict[str, float | int]:
    """Return how resident memory grew by the names that warm up, and by all others."""
    before, start, done = resident(), time.perf_counter(), 0
    warm = None
    for batch in batches:
        take(batch)
        done += len(batch)
        if warm is None and done >= first:
            warm = resident()
    seconds = time.perf_counter() - start
    warm = warm or before
    return {
        "mib": round(resident() - warm, 1),
        "first_mib": round(warm - before, 1),
        "names_per_s": round(done / seconds),
    }


def resident() -> float:
    """Return the resident memory in MiB, without what is free to be used again."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    return psutil.Process().memory_info().rss / 2**20


if __name__ == "__main__":
    main()
