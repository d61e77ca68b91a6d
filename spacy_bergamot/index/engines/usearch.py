"""The engine of a small index: usearch's graph, memory-mapped."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from spacy_bergamot.errors import check_choice, importing
from spacy_bergamot.index.engines import common
from spacy_bergamot.index.engines.common import Engine, Vectors

_GRAPH = "hnsw.usearch"
_USEARCH_BYTES = {"f32": 4, "bf16": 2, "f16": 2, "i8": 1}


class UsearchEngine(Engine):
    """The same kind of graph by usearch: half precision, and memory-mapped.

    Many processes share one copy, and opening costs nothing.
    """

    name = "usearch"

    def __init__(self, index: Any, folder: Path, *, dim: int, count: int) -> None:
        super().__init__(count=count, dim=dim)
        self.index = index
        self.folder = folder

    @classmethod
    def require(cls, settings: Mapping[str, Any]) -> None:
        """B014 for an unknown dtype, B109 without usearch; see `Engine.require`."""
        import_usearch()
        super().require(settings)
        check_choice("type of vectors", settings.get("dtype", "f32"), _USEARCH_BYTES)

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

        folder (Path): Where it is saved. progress (bool): Show a bar.
        m (int): HNSW's M, neighbours of a node in the graph.
        ef_construction (int): Nodes that are compared while a new one finds its neighbours.
        dtype (str): "f32", "bf16", "f16" or "i8", of the stored vectors.
        threads (int): As `NmslibEngine.build` takes it.
        RAISES (BergamotError): B014 for an unknown dtype.
        """
        from tqdm import tqdm

        cls.require({"dtype": dtype})
        count, dim = common.shape_of(vectors)
        threads = common.build_threads(count, threads)
        size = count * (_USEARCH_BYTES[dtype] * dim + 10 * m)
        seconds = common.build_seconds(count, dim, m, ef_construction, threads) / 2
        common.announce_build(folder, count, size=size, seconds=seconds)
        index = import_usearch().Index(
            ndim=dim, metric="cos", dtype=dtype, connectivity=m, expansion_add=ef_construction
        )
        with tqdm(total=count, unit=" names", desc="Indexing", disable=not progress) as bar:
            for rows in common.blocks(vectors):
                keys = np.arange(rows.start, rows.stop, dtype=np.uint64)
                block = vectors[rows]
                index.add(keys, to_8_bits(block) if dtype == "i8" else block, threads=threads)
                bar.update(len(keys))
        _save(index, folder, vectors, {"m": m, "ef_construction": ef_construction, "dtype": dtype})

    def grow(self, folder: Path, vectors: Vectors, sources: np.ndarray) -> None:
        """Save the graph of other vectors, of which many are in this one: only new ones are linked.

        folder (Path): Where it is saved. vectors (Vectors): Unit vectors, float32 (n, d).
        sources (int64 (n,)): The row that every vector has here, each once, and -1 for a new one.
        """
        _, _, settings = common.read_facts(self.folder)
        index = import_usearch().Index.restore(str(self.folder / _GRAPH))
        index.expansion_add = settings["ef_construction"]
        kept = np.flatnonzero(sources >= 0)
        if len(gone := np.setdiff1d(np.arange(self.count), sources[kept])):
            index.remove(gone.astype(np.uint64))
        # By way of numbers that no vector has: a new number may be another's old one.
        beyond = (kept + max(self.count, len(sources))).astype(np.uint64)
        if len(kept):
            index.rename(sources[kept].astype(np.uint64), beyond)
            index.rename(beyond, kept.astype(np.uint64))
        threads = common.build_threads(len(sources) - len(kept), 0)
        for rows in common.blocks(vectors):
            new = np.flatnonzero(sources[rows] < 0)
            if len(new):
                block = vectors[rows][new]
                block = to_8_bits(block) if settings["dtype"] == "i8" else block
                index.add((new + rows.start).astype(np.uint64), block, threads=threads)
        _save(index, folder, vectors, settings)

    @classmethod
    def open(cls, folder: Path, *, ef_search: int = 100) -> "UsearchEngine":
        """Map the graph.

        folder (Path): Of `build`.
        ef_search (int): Candidates while searching.
        """
        count, dim, _ = common.read_facts(folder)
        with common.readable(folder / _GRAPH, "a usearch index") as path:
            index = import_usearch().Index.restore(str(path), view=True)
            if (len(index), index.ndim) != (count, dim):
                raise ValueError(f"it does not hold {count} vectors of width {dim}")
        index.expansion_search = ef_search
        return cls(index, folder, dim=dim, count=count)

    def _nearest(self, vectors: np.ndarray, k: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        eight = self.index.dtype == import_usearch().ScalarKind.I8
        for asked in to_8_bits(vectors) if eight else vectors:
            found = self.index.search(asked, k, threads=1)
            yield found.keys, 1 - found.distances

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        if not len(rows):  # which usearch answers by nothing
            return np.empty((0, self.dim), dtype=np.float32)
        found = np.asarray(self.index.get(rows.astype(np.uint64), "f32"), dtype=np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)


def _save(index: Any, folder: Path, vectors: Vectors, settings: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    index.save(str(folder / _GRAPH))
    common.write_facts(folder, vectors.shape, **settings)


def to_8_bits(vectors: np.ndarray) -> np.ndarray:
    """Return vectors of the same directions, int8 (n, d), the largest component of each ±127.

    usearch by itself multiplies by 127 what is far from 1: of a unit vector of 384 it uses a tenth
    of the range.
    """
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = vectors * (127 / np.maximum(largest, 1e-12))
    return np.rint(scaled).astype(np.int8)


def import_usearch() -> Any:
    """Return the module `usearch.index`. RAISES (BergamotError): B109 if it is missing."""
    with importing("The engine 'usearch'", packages="usearch"):
        import usearch.index
    return usearch.index
