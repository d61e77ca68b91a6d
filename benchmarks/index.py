"""Search engines side by side: build, bytes, load, time a query, recall against exact search.

    python -m benchmarks.index LM DICTIONARY [--names 100000] [--copies] [--sweep]
    python -m benchmarks.index --vectors FOLDER [--names 300000] [--engines nmslib,faiss]
    python -m benchmarks.index --invented 1000000 --engines faiss

Vectors are those of names of a DICTIONARY with CUI||name lines (one of names with the same token
ids; all of them with --copies); or those that `--vectors` of `index` or `training encode` kept, a
folder with plan.json; or invented ones: 1,000 topics, of each as many concepts as it takes, of each
five names. The queries are vectors that are left out of the index. recall@1 counts equal scores as
equal. --sweep takes many settings of each engine, else its defaults are taken.

Every search runs with one thread, and every build unless --threads says otherwise; seconds and
milliseconds are of the CPU, one query at a time. The last line is JSON: for every engine, its
settings and ef_search: recall_at_1, recall_at_10, query_ms, build_s, bytes (of a vector), load_ms.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from spacy_bergamot.encoder.text_encoder import TextEncoder
from spacy_bergamot.index.distinct import group_names
from spacy_bergamot.index.engines import ExactEngine, engine_class
from spacy_bergamot.index.vector_store import Plan, open_store
from spacy_bergamot.text import normalize

Search = Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]]
GRAPHS = [{"m": m, "ef_construction": e} for m, e in ((8, 64), (16, 100), (16, 200), (32, 200))]
EFFORTS = [50, 100, 200, 400]
SWEEP: dict[str, list[dict[str, Any]]] = {
    "nmslib": [{}, *GRAPHS],
    "usearch": [{}, {"dtype": "f32"}, {"dtype": "i8"}, *GRAPHS],
    "faiss": [{}, *({"nprobe": nprobe} for nprobe in (64, 128, 256, 768))],
    "sharded": [{"engine": "faiss"}, {"engine": "nmslib"}],
    "hnswlib": GRAPHS,
}
TIMED = 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lm", type=Path, nargs="?")
    parser.add_argument("dictionary", type=Path, nargs="?")
    parser.add_argument("--vectors", type=Path, help="folder of vectors that were kept")
    parser.add_argument("--invented", type=int, help="so many invented vectors of 384")
    parser.add_argument("--names", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--engines", default=",".join(SWEEP))
    parser.add_argument("--threads", type=int, default=1, help="of a build")
    parser.add_argument("--sweep", action="store_true", help="many settings, not the defaults")
    parser.add_argument("--quick", action="store_true", help="10,000 names")
    parser.add_argument(
        "--copies", action="store_true", help="keep names that have the same token ids"
    )
    arguments = parser.parse_args()
    count = 10_000 if arguments.quick else arguments.names
    if arguments.invented:
        vectors, queries = invented(arguments.invented, arguments.queries)
    elif arguments.vectors:
        vectors, queries = kept(arguments.vectors, count, arguments.queries)
    else:
        vectors, queries = encoded(arguments, count)
    print(f"{len(vectors)} vectors of {vectors.shape[1]}, {len(queries)} queries")
    print(
        f"{'engine':10}{'settings':34}{'efS':>5}{'build s':>9}{'bytes':>7}{'load ms':>9}"
        f"{'ms':>8}{'recall@1':>10}{'@10':>8}"
    )
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        truth = exact(Path(folder) / "exact", vectors, queries)
        for name in arguments.engines.split(","):
            for settings in SWEEP[name] if arguments.sweep else SWEEP[name][:1]:
                try:
                    built = build(name, settings, vectors, Path(folder), arguments.threads)
                except ImportError as reason:
                    print(f"{name:10} not installed: {reason}")
                    break
                efforts = EFFORTS if arguments.sweep else [100]
                rows += [measure(built, effort, vectors, queries, truth) for effort in efforts]
    print(json.dumps({"vectors": len(vectors), "engines": rows}))


def encoded(arguments: argparse.Namespace, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors of a dictionary's names, and of some that are left out."""
    lines = arguments.dictionary.read_text(encoding="utf8").split("\n")
    names = sorted({normalize(line.partition("||")[2]) for line in lines} - {""})
    order = np.random.default_rng(0).permutation(len(names))[: count + arguments.queries]
    encoder = TextEncoder.open(arguments.lm, precision="bf16")
    names = [names[i] for i in order]
    queries, names = encoder.encode(names[: arguments.queries]), names[arguments.queries :]
    if not arguments.copies:
        groups = group_names(encoder, pa.array(names, pa.large_string()))
        names = [names[i] for i in groups.first]
    return encoder.encode(names, progress=True), queries


def kept(folder: Path, count: int, queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors of a folder, drawn by chance."""
    plan = Plan(**json.loads((folder / "plan.json").read_text(encoding="utf8")))
    every = open_store(folder, plan)[:]
    order = np.random.default_rng(0).permutation(len(every))[: count + queries]
    return every[order[queries:]], every[order[:queries]]


def invented(count: int, queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors of 384 in clusters of clusters, of a spectrum that falls."""
    rng = np.random.default_rng(0)
    spread = (np.arange(1, 385) ** -0.5).astype(np.float32)

    def drawn(rows: int) -> np.ndarray:
        return rng.standard_normal((rows, 384), dtype=np.float32) * spread

    topics, made = drawn(1000), np.empty((count + queries, 384), dtype=np.float32)
    concepts = topics[rng.integers(0, 1000, len(made) // 5 + 1)]
    for start in range(0, len(concepts), 1 << 14):
        concepts[start : start + (1 << 14)] += drawn(len(concepts[start : start + (1 << 14)]))
    for start in range(0, len(made), 1 << 16):
        rows = np.arange(start, min(start + (1 << 16), len(made)))
        made[rows] = concepts[rows % len(concepts)] + 0.7 * drawn(len(rows))
        made[rows] /= np.linalg.norm(made[rows], axis=1, keepdims=True)
    return made[:count], made[count:]


def build(
    name: str, settings: dict[str, Any], vectors: np.ndarray, folder: Path, threads: int
) -> dict[str, Any]:
    """Build an engine, and return how it is opened and what it took."""
    label = " ".join(f"{key}={value}" for key, value in settings.items()) or "defaults"
    path = folder / f"{name} {label}"
    path.mkdir()
    start = time.process_time()
    if name == "hnswlib":
        opener = hnswlib(path, vectors, **settings)
    else:
        made, of = engine_class(name), {"threads": threads}
        made.build(path, vectors, **settings, **({"settings": of} if name == "sharded" else of))
        opener = lambda effort: made.open(path, ef_search=effort).search  # noqa: E731
    return {
        "engine": name,
        "settings": label,
        "opener": opener,
        "build_s": round(time.process_time() - start, 1),
        "bytes": round(
            sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) / len(vectors)
        ),
    }


def measure(
    built: dict[str, Any],
    effort: int,
    vectors: np.ndarray,
    queries: np.ndarray,
    truth: tuple[np.ndarray, np.ndarray],
) -> dict[str, Any]:
    """Open and search with an effort."""
    start = time.perf_counter()
    search = built["opener"](effort)
    loaded = 1000 * (time.perf_counter() - start)
    found = search(queries, 10)
    start = time.process_time()
    for query in queries[:TIMED]:
        search(query[None], 10)
    spent = (time.process_time() - start) / min(TIMED, len(queries))
    first, tenth = recall(found[0], truth, vectors, queries)
    row = {key: built[key] for key in ("engine", "settings", "build_s", "bytes")} | {
        "ef_search": effort,
        "load_ms": round(loaded, 1),
        "query_ms": round(1000 * spent, 2),
        "recall_at_1": round(first, 4),
        "recall_at_10": round(tenth, 4),
    }
    print(
        f"{row['engine']:10}{row['settings']:34}{effort:>5}{row['build_s']:>9}{row['bytes']:>7}"
        f"{loaded:>9.1f}{row['query_ms']:>8}{first:>10.4f}{tenth:>8.4f}",
        flush=True,
    )
    return row


def recall(
    rows: np.ndarray, truth: tuple[np.ndarray, np.ndarray], vectors: np.ndarray, queries: np.ndarray
) -> tuple[float, float]:
    exact_rows, exact_scores = truth
    best = (queries * vectors[np.maximum(rows[:, 0], 0)]).sum(1)
    first = (rows[:, 0] >= 0) & (best >= exact_scores[:, 0] - 1e-6)
    shared = [len(set(a) & set(b)) for a, b in zip(rows.tolist(), exact_rows.tolist(), strict=True)]
    return float(first.mean()), float(np.mean(shared) / 10)


def exact(folder: Path, vectors: np.ndarray, queries: np.ndarray) -> Any:
    ExactEngine.build(folder, vectors)
    return ExactEngine.open(folder).search(queries, 10)


def hnswlib(
    path: Path, vectors: np.ndarray, m: int, ef_construction: int
) -> Callable[[int], Search]:
    import hnswlib as library

    index = library.Index("cosine", vectors.shape[1])
    index.init_index(len(vectors), ef_construction=ef_construction, M=m)
    index.add_items(vectors, num_threads=1)
    index.save_index(str(path / "index"))

    def opened(effort: int) -> Search:
        again = library.Index("cosine", vectors.shape[1])
        again.load_index(str(path / "index"))
        again.set_ef(effort)
        return lambda queries, k: again.knn_query(queries, k, num_threads=1)

    return opened


if __name__ == "__main__":
    main()
