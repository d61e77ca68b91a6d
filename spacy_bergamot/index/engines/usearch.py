"""The engine of a small index: usearch's graph, memory-mapped."""

from pathlib import Path
from typing import Any

import numpy as np

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.index.engines.common import (
    Vectors,
    blocks,
    build_seconds,
    build_threads,
    check_queries,
    read_facts,
    read_settings,
    write_facts,
)
from spacy_bergamot.storage.preflight import announce

_USEARCH_BYTES = {"f32": 4, "bf16": 2, "f16": 2, "i8": 1}


class UsearchEngine:
    """The same kind of graph by usearch: half precision, and memory-mapped, so that many processes
    share one copy and opening costs nothing."""

    name = "usearch"

    def __init__(self, index: Any, path: Path, *, dim: int, count: int) -> None:
        self.index = index
        self.path = path
        self.dim = dim
        self.count = count

    @classmethod
    def build(
        cls,
        folder: Path,
        vectors: Vectors,
        *,
        m: int = 32,
        ef_construction: int = 128,
        dtype: str = "bf16",
        threads: int = 0,
        progress: bool = False,
    ) -> None:
        """Build the graph of unit vectors, float32 (n, d), and save it.

        m (int): HNSW's M, neighbours of a node in the graph.
        ef_construction (int): Nodes that are compared while a new one finds its neighbours.
        dtype (str): "f32", "bf16", "f16" or "i8", of the stored vectors.
        threads (int): As `NmslibEngine.build` takes it.
        RAISES (BergamotError): B039 for an unknown dtype.
        """
        from tqdm import tqdm

        if dtype not in _USEARCH_BYTES:
            raise BergamotError(Errors.B039, value=dtype, choices=", ".join(_USEARCH_BYTES))
        count, dim = vectors.shape
        threads = build_threads(count, threads)
        width = _USEARCH_BYTES[dtype]
        announce(
            f"Building the index of {count} vectors",
            memory=count * (width * dim + 10 * m),
            disk=count * (width * dim + 10 * m),
            folder=folder,
            seconds=build_seconds(count, dim, m, ef_construction, threads) / 2,
        )
        index = import_usearch().Index(
            ndim=dim, metric="cos", dtype=dtype, connectivity=m, expansion_add=ef_construction
        )
        with tqdm(total=count, unit=" names", desc="Indexing", disable=not progress) as bar:
            for rows in blocks(vectors):
                keys = np.arange(rows.start, rows.stop, dtype=np.uint64)
                block = vectors[rows]
                index.add(keys, to_8_bits(block) if dtype == "i8" else block, threads=threads)
                bar.update(len(keys))
        settings = {"m": m, "ef_construction": ef_construction, "dtype": dtype}
        _save(index, folder, vectors, settings)

    def grow(self, folder: Path, vectors: Vectors, sources: np.ndarray) -> None:
        """Save the graph of other vectors, of which many are in this one: only new ones are linked.

        sources (int64 (n,)): The row that every vector has here, each once, and -1 for a new one.
        """
        settings = read_settings(self.path.parent)
        index = import_usearch().Index.restore(str(self.path))
        index.expansion_add = settings["ef_construction"]
        kept = np.flatnonzero(sources >= 0)
        if len(gone := np.setdiff1d(np.arange(self.count), sources[kept])):
            index.remove(gone.astype(np.uint64))
        # By way of numbers that no vector has: a new number may be another's old one.
        beyond = (kept + max(self.count, len(sources))).astype(np.uint64)
        if len(kept):
            index.rename(sources[kept].astype(np.uint64), beyond)
            index.rename(beyond, kept.astype(np.uint64))
        threads = build_threads(len(sources) - len(kept), 0)
        for rows in blocks(vectors):
            new = np.flatnonzero(sources[rows] < 0)
            if len(new):
                block = vectors[rows][new]
                block = to_8_bits(block) if settings["dtype"] == "i8" else block
                index.add((new + rows.start).astype(np.uint64), block, threads=threads)
        facts = {key: of for key, of in settings.items() if key not in ("count", "dim")}
        _save(index, folder, vectors, facts)

    @classmethod
    def open(cls, folder: Path, *, ef_search: int = 100) -> "UsearchEngine":
        """Map the graph. ef_search (int): Candidates while searching."""
        count, dim = read_facts(folder)
        path = folder / "hnsw.usearch"
        try:
            index = import_usearch().Index.restore(str(path), view=True)
        except (RuntimeError, ValueError) as reason:
            raise BergamotError(
                Errors.B002, path=path, what="a usearch index", reason=reason
            ) from None
        index.expansion_search = ef_search
        return cls(index, path, dim=dim, count=count)

    def search(self, vectors: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        check_queries(vectors, self.dim)
        rows = np.full((len(vectors), k), -1, dtype=np.int64)
        scores = np.full((len(vectors), k), -1, dtype=np.float32)
        eight = self.index.dtype == import_usearch().ScalarKind.I8
        for number, asked in enumerate(to_8_bits(vectors) if eight else vectors):
            found = self.index.search(asked, min(k, self.count), threads=1)
            rows[number, : len(found)] = found.keys
            scores[number, : len(found)] = 1 - found.distances
        return rows, scores

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        found = np.asarray(self.index.get(rows.astype(np.uint64), "f32"), dtype=np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)


def _save(index: Any, folder: Path, vectors: Vectors, settings: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    index.save(str(folder / "hnsw.usearch"))
    write_facts(folder, vectors.shape, **settings)


def to_8_bits(vectors: np.ndarray) -> np.ndarray:
    """Return vectors of the same directions, int8 (n, d), the largest component of each ±127.

    usearch by itself multiplies by 127 what is far from 1: of a unit vector of 384 it uses a tenth
    of the range.
    """
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = vectors * (127 / np.maximum(largest, 1e-12))
    rounded: np.ndarray = np.rint(scaled).astype(np.int8)
    return rounded


def import_usearch() -> Any:
    try:
        import usearch.index
    except ImportError:
        raise BergamotError(Errors.B042, name="usearch", package="usearch") from None
    return usearch.index
