"""Search engines on real vectors: build, file, load, latency, recall, side by side.

    python -m benchmarks.index LM DICTIONARY [--names 100000] [--queries 1000] [--copies] [--quick]

DICTIONARY has CUI||name lines; the queries are names of it that are left out of the index, which
holds one vector of names with the same token ids (all of them with --copies). Recall
is against exact search: recall@1 counts equal scores as equal. Every build and search runs with
one thread. The last line is JSON: for every engine and setting recall_at_1, recall_at_10, p50_us
(one query), build_cpu_s, file_mib, load_ms; and `chosen`, the default setting's figures.
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
from spacy_bergamot.index.engines import ExactEngine, NmslibEngine, UsearchEngine
from spacy_bergamot.text import normalize

Search = Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]]
GRAPHS = [(8, 64), (16, 100), (16, 200), (32, 100), (32, 200)]
CHOSEN = (32, 100, 100)  # the defaults: M, efConstruction, efSearch
EFFORTS = [50, 100, 200, 400]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lm", type=Path)
    parser.add_argument("dictionary", type=Path)
    parser.add_argument("--names", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--quick", action="store_true", help="10,000 names, the default graph")
    parser.add_argument(
        "--copies", action="store_true", help="keep names that have the same token ids"
    )
    arguments = parser.parse_args()
    count = 10_000 if arguments.quick else arguments.names
    graphs = [CHOSEN[:2]] if arguments.quick else GRAPHS
    lines = arguments.dictionary.read_text(encoding="utf8").split("\n")
    names = sorted({normalize(line.partition("||")[2]) for line in lines} - {""})
    order = np.random.default_rng(0).permutation(len(names))[: count + arguments.queries]
    encoder = TextEncoder.open(arguments.lm, precision="bf16")
    names = [names[i] for i in order]
    queries, names = encoder.encode(names[: arguments.queries]), names[arguments.queries :]
    if not arguments.copies:
        groups = group_names(encoder, pa.array(names, pa.large_string()))
        names = [names[i] for i in groups.first]
    vectors = encoder.encode(names, progress=True)
    print(
        f"{'engine':18}{'M':>4}{'efC':>5}{'efS':>5}{'build CPU s':>13}{'MiB':>7}{'load ms':>9}"
        f"{'p50 µs':>8}{'recall@1':>10}{'@10':>7}"
    )
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        truth = exact(Path(folder) / "exact", vectors, queries)
        for graph in graphs:
            for name, build in BUILDERS.items():
                try:
                    rows += measure(name, build, graph, vectors, queries, truth, Path(folder))
                except ImportError as reason:
                    print(f"{name:14} not installed: {reason}")
    chosen = next(
        row
        for row in rows
        if (row["engine"], row["m"], row["ef_construction"], row["ef_search"])
        == ("nmslib", *CHOSEN)
    )
    print(json.dumps({"chosen": chosen, "engines": rows}))


def measure(
    name: str,
    build: Any,
    graph: tuple[int, int],
    vectors: np.ndarray,
    queries: np.ndarray,
    truth: tuple[np.ndarray, np.ndarray],
    folder: Path,
) -> list[dict[str, Any]]:
    """Build once, open and search with every effort."""
    m, ef_construction = graph
    path = folder / f"{name.replace(' ', '_')}_{m}_{ef_construction}"
    path.mkdir()
    start = time.process_time()
    opener = build(path, vectors, m, ef_construction)
    built = time.process_time() - start
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) / 2**20
    rows = []
    for effort in EFFORTS:
        start = time.perf_counter()
        search = opener(effort)
        loaded = 1000 * (time.perf_counter() - start)
        found = search(queries, 10)
        times = []
        for query in queries[:300]:
            start = time.perf_counter()
            search(query[None], 10)
            times.append(1e6 * (time.perf_counter() - start))
        first, tenth = recall(found[0], truth, vectors, queries)
        row = {
            "engine": name,
            "m": m,
            "ef_construction": ef_construction,
            "ef_search": effort,
            "build_cpu_s": round(built, 2),
            "file_mib": round(size, 1),
            "load_ms": round(loaded, 1),
            "p50_us": round(float(np.median(times))),
            "recall_at_1": round(first, 4),
            "recall_at_10": round(tenth, 4),
        }
        rows.append(row)
        print(
            f"{name:18}{m:>4}{ef_construction:>5}{effort:>5}{built:>13.1f}{size:>7.0f}"
            f"{loaded:>9.1f}{row['p50_us']:>8}{first:>10.4f}{tenth:>7.3f}",
            flush=True,
        )
    return rows


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


def nmslib(path: Path, vectors: np.ndarray, m: int, efc: int) -> Callable[[int], Search]:
    NmslibEngine.build(path, vectors, m=m, ef_construction=efc, threads=1)
    return lambda effort: NmslibEngine.open(path, ef_search=effort).search


def usearch(dtype: str) -> Any:
    def build(path: Path, vectors: np.ndarray, m: int, efc: int) -> Callable[[int], Search]:
        UsearchEngine.build(path, vectors, m=m, ef_construction=efc, dtype=dtype, threads=1)
        return lambda effort: UsearchEngine.open(path, ef_search=effort).search

    return build


def hnswlib(path: Path, vectors: np.ndarray, m: int, efc: int) -> Callable[[int], Search]:
    import hnswlib as library

    index = library.Index("cosine", vectors.shape[1])
    index.init_index(len(vectors), ef_construction=efc, M=m)
    index.add_items(vectors, num_threads=1)
    index.save_index(str(path / "index"))

    def opened(effort: int) -> Search:
        again = library.Index("cosine", vectors.shape[1])
        again.load_index(str(path / "index"))
        again.set_ef(effort)
        return lambda queries, k: again.knn_query(queries, k, num_threads=1)

    return opened


def faiss(path: Path, vectors: np.ndarray, m: int, efc: int) -> Callable[[int], Search]:
    import faiss as library

    library.omp_set_num_threads(1)
    index = library.IndexHNSWFlat(vectors.shape[1], m, library.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = efc
    index.add(vectors)
    library.write_index(index, str(path / "index"))

    def opened(effort: int) -> Search:
        again = library.read_index(str(path / "index"))
        again.hnsw.efSearch = effort

        def search(queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
            scores, rows = again.search(queries, k)
            return rows, scores

        return search

    return opened


BUILDERS = {
    "nmslib": nmslib,
    "usearch f32": usearch("f32"),
    "usearch bf16": usearch("bf16"),
    "hnswlib": hnswlib,
    "faiss": faiss,
}

if __name__ == "__main__":
    main()
