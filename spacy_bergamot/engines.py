"""Search engines over unit vectors: build into a folder, open, search by cosine.

An engine is a class with a `name`, `build(folder, vectors, **settings)`, `open(folder, **settings)`
`search(vectors, k)` and `vectors(rows)`; `ENGINES` finds it by name, and others can be registered.
"""

import ctypes
import json
import logging
import math
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import catalogue
import numpy as np

from spacy_bergamot.engine_packages import PACKAGES, import_nmslib, import_usearch
from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.files import mapped_array
from spacy_bergamot.nmslib_file import map_records, nmslib_build
from spacy_bergamot.preflight import announce, cores

_FACTS = "engine.json"
_BLOCK = 256
_BUILD_BLOCK = 1 << 16
_FEW = 10_000  # vectors that one thread links in seconds
_HNSW_RATE = 3.2e-10  # seconds a core; docs/scale.md
_USEARCH_BYTES = {"f32": 4, "bf16": 2, "f16": 2, "i8": 1}

logger = logging.getLogger(__name__)


class Engine(Protocol):
    """What an alias index searches with."""

    name: str

    def search(self, vectors: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rows (int64) and cosines (float32), both (n, k), best first; -1 fills up."""
        ...

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        """Return the unit vectors of some rows, float32 (n, d)."""
        ...


ENGINES = catalogue.create("spacy_bergamot", "engines")


class Vectors(Protocol):
    """Unit vectors that a build reads block by block: an array, or a `VectorStore`."""

    shape: Any

    def __getitem__(self, rows: Any, /) -> np.ndarray: ...


class NmslibEngine:
    """Hierarchical navigable small world graph (Malkov and Yashunin 2018) of nmslib.

    nmslib resets efSearch on loading, answers queries of a wrong width, and matches NaN with
    anything: the first is set again, the others are refused.
    """

    name = "nmslib"

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
        ef_construction: int = 100,
        threads: int = 0,
        progress: bool = False,
    ) -> None:
        """Build the graph of unit vectors, float32 (n, d), and save it.

        m (int): Links a node. ef_construction (int): Candidates while linking.
        threads (int): 0 for one a core, and for one where the vectors are few: threads that
            begin a graph together lose some of its first nodes, which in a small one is seen.
            The graph is the same on every run only with 1.
        """
        count, dim = vectors.shape
        threads = threads or (cores() if count > _FEW else 1)
        announce(
            f"Building the index of {count} vectors",
            memory=2 * count * (4 * dim + 10 * m),
            disk=count * (4 * dim + 10 * m),
            folder=folder,
            seconds=_hnsw_seconds(count, dim, m, ef_construction, threads),
        )
        logger.info("Building with %s", nmslib_build())
        index = _nmslib_index()
        for rows in _blocks(vectors):
            block = np.ascontiguousarray(vectors[rows], dtype=np.float32)
            index.addDataPointBatch(block, np.arange(rows.start, rows.stop, dtype=np.int32))
        settings = {"M": m, "efConstruction": ef_construction, "post": 0}
        settings["indexThreadQty"] = threads
        index.createIndex(settings, print_progress=progress)
        folder.mkdir(parents=True, exist_ok=True)
        index.saveIndex(str(folder / "hnsw.nmslib"), save_data=False)
        _write_facts(folder, vectors.shape, m=m, ef_construction=ef_construction)

    @classmethod
    def open(cls, folder: Path, *, ef_search: int = 100) -> "NmslibEngine":
        """Load the graph. ef_search (int): Candidates while searching."""
        count, dim = _read_facts(folder)
        index = _nmslib_index()
        path = folder / "hnsw.nmslib"
        try:
            index.loadIndex(str(path), load_data=False)
        except (RuntimeError, ValueError, MemoryError) as reason:
            # Freeing an index that was read in part crashes the process: let it live.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(index))
            message = Errors.B002.format(path=path, what="an nmslib index", reason=reason)
            raise BergamotError(message) from None
        index.setQueryTimeParams({"efSearch": ef_search})
        return cls(index, path, dim=dim, count=count)

    def search(self, vectors: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        check_queries(vectors, self.dim)
        rows = np.full((len(vectors), k), -1, dtype=np.int64)
        scores = np.full((len(vectors), k), -1, dtype=np.float32)
        found = self.index.knnQueryBatch(vectors, k=min(k, self.count), num_threads=1)
        for number, (ids, distances) in enumerate(found):
            rows[number, : len(ids)] = ids
            scores[number, : len(ids)] = 1 - distances
        return rows, scores

    @cached_property
    def records(self) -> np.ndarray:
        """The vectors in the graph's file, mapped."""
        return map_records(self.path, count=self.count, dim=self.dim)

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self.records["vector"][rows])


class ExactEngine:
    """Exact product with every vector, blockwise over a memory-mapped array."""

    name = "exact"

    def __init__(self, saved: np.ndarray) -> None:
        self.saved = saved
        self.count, self.dim = saved.shape

    @classmethod
    def build(cls, folder: Path, vectors: Vectors, *, progress: bool = False) -> None:
        """Save unit vectors, float32 (n, d)."""
        folder.mkdir(parents=True, exist_ok=True)
        path, shape = folder / "vectors.npy", tuple(vectors.shape)
        saved = mapped_array(path, np.float32, shape)
        for rows in _blocks(vectors):
            saved[rows] = vectors[rows]
        saved.flush()
        _write_facts(folder, vectors.shape)

    @classmethod
    def open(cls, folder: Path, *, ef_search: int = 0) -> "ExactEngine":
        """Map the vectors; `ef_search` has no meaning here."""
        _read_facts(folder)
        return cls(np.load(folder / "vectors.npy", mmap_mode="r"))

    def search(self, vectors: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        check_queries(vectors, self.dim)
        rows = np.full((len(vectors), k), -1, dtype=np.int64)
        best = np.full((len(vectors), k), -1, dtype=np.float32)
        k_here = min(k, self.count)
        for start in range(0, len(vectors), _BLOCK):
            scores = vectors[start : start + _BLOCK] @ self.saved.T
            top = np.argpartition(-scores, k_here - 1, axis=1)[:, :k_here]
            values = np.take_along_axis(scores, top, axis=1)
            order = np.lexsort([top, -values], axis=1)
            block = slice(start, start + len(scores))
            rows[block, :k_here] = np.take_along_axis(top, order, axis=1)
            best[block, :k_here] = np.take_along_axis(values, order, axis=1)
        return rows, best

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self.saved[rows])


class UsearchEngine:
    """The same kind of graph by usearch: half precision, and memory-mapped, so that many processes
    share one copy and opening costs nothing."""

    name = "usearch"

    def __init__(self, index: Any, *, dim: int, count: int) -> None:
        self.index = index
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

        m (int): Links a node. ef_construction (int): Candidates while linking.
        dtype (str): "f32", "bf16", "f16" or "i8", of the stored vectors.
        threads (int): As `NmslibEngine.build` takes it.
        RAISES (BergamotError): B039 for an unknown dtype.
        """
        from tqdm import tqdm

        if dtype not in _USEARCH_BYTES:
            raise BergamotError(Errors.B039.format(value=dtype, choices=", ".join(_USEARCH_BYTES)))
        count, dim = vectors.shape
        threads = threads or (cores() if count > _FEW else 1)
        width = _USEARCH_BYTES[dtype]
        announce(
            f"Building the index of {count} vectors",
            memory=count * (width * dim + 10 * m),
            disk=count * (width * dim + 10 * m),
            folder=folder,
            seconds=_hnsw_seconds(count, dim, m, ef_construction, threads) / 2,
        )
        index = import_usearch().Index(
            ndim=dim, metric="cos", dtype=dtype, connectivity=m, expansion_add=ef_construction
        )
        with tqdm(total=count, unit=" names", desc="Indexing", disable=not progress) as bar:
            for rows in _blocks(vectors):
                keys = np.arange(rows.start, rows.stop, dtype=np.uint64)
                block = vectors[rows]
                index.add(keys, to_8_bits(block) if dtype == "i8" else block, threads=threads)
                bar.update(len(keys))
        folder.mkdir(parents=True, exist_ok=True)
        index.save(str(folder / "hnsw.usearch"))
        settings = {"m": m, "ef_construction": ef_construction, "dtype": dtype}
        _write_facts(folder, vectors.shape, **settings)

    @classmethod
    def open(cls, folder: Path, *, ef_search: int = 100) -> "UsearchEngine":
        """Map the graph. ef_search (int): Candidates while searching."""
        count, dim = _read_facts(folder)
        path = folder / "hnsw.usearch"
        try:
            index = import_usearch().Index.restore(str(path), view=True)
        except (RuntimeError, ValueError) as reason:
            message = Errors.B002.format(path=path, what="a usearch index", reason=reason)
            raise BergamotError(message) from None
        index.expansion_search = ef_search
        return cls(index, dim=dim, count=count)

    def search(self, vectors: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        check_queries(vectors, self.dim)
        rows = np.full((len(vectors), k), -1, dtype=np.int64)
        scores = np.full((len(vectors), k), -1, dtype=np.float32)
        if not len(vectors):
            return rows, scores
        # At least two queries: for one, usearch answers in another shape.
        asked = vectors if len(vectors) > 1 else np.repeat(vectors, 2, axis=0)
        if self.index.dtype == import_usearch().ScalarKind.I8:
            asked = to_8_bits(asked)
        found = self.index.search(asked, min(k, self.count), threads=1)
        for number in range(len(vectors)):
            size = int(found.counts[number])
            rows[number, :size] = found.keys[number, :size]
            scores[number, :size] = 1 - found.distances[number, :size]
        return rows, scores

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        found = np.asarray(self.index.get(rows.astype(np.uint64), "f32"), dtype=np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)


ENGINES.register("nmslib", func=NmslibEngine)
ENGINES.register("usearch", func=UsearchEngine)
ENGINES.register("exact", func=ExactEngine)


def engine_class(name: str) -> Any:
    """Return an engine's class by name. RAISES (BergamotError): B020 if there is none."""
    known = ENGINES.get_all()
    if name not in known:
        raise BergamotError(Errors.B020.format(name=name, choices=", ".join(sorted(known))))
    return known[name]


def require_engine(name: str) -> None:
    """Raise unless an engine is known and its package can be imported.

    RAISES (BergamotError): B020 for an unknown engine, B022 or B042 without its package.
    """
    engine_class(name)
    if name in PACKAGES:
        PACKAGES[name]()


def check_queries(vectors: np.ndarray, dim: int) -> None:
    """Raise B021 unless vectors are finite, of the index's width and not zero."""
    if vectors.ndim != 2 or vectors.shape[1] != dim:
        raise BergamotError(Errors.B021.format(what=f"shape {vectors.shape}", dim=dim))
    norms = np.einsum("nd,nd->n", vectors, vectors)
    if not np.isfinite(norms).all() or (norms == 0).any():
        raise BergamotError(Errors.B021.format(what="a zero or NaN vector", dim=dim))


def to_8_bits(vectors: np.ndarray) -> np.ndarray:
    """Return vectors of the same directions, int8 (n, d), the largest component of each ±127.

    usearch by itself multiplies by 127 what is far from 1: of a unit vector of 384 it uses a tenth
    of the range.
    """
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = vectors * (127 / np.maximum(largest, 1e-12))
    rounded: np.ndarray = np.rint(scaled).astype(np.int8)
    return rounded


def _nmslib_index() -> Any:
    return import_nmslib().init(method="hnsw", space="cosinesimil")


def _hnsw_seconds(count: int, dim: int, m: int, ef_construction: int, threads: int) -> float:
    """Estimate the time of a build: links sought by every vector grow with log n."""
    work = count * math.log2(count + 2) * dim * ef_construction * m**0.3
    return _HNSW_RATE * work / min(threads or cores(), cores())


def _blocks(vectors: Vectors) -> Iterator[slice]:
    count = vectors.shape[0]
    for start in range(0, count, _BUILD_BLOCK):
        yield slice(start, min(start + _BUILD_BLOCK, count))


def _write_facts(folder: Path, shape: tuple[int, ...], **settings: Any) -> None:
    facts = {"count": shape[0], "dim": shape[1], **settings}
    (folder / _FACTS).write_text(json.dumps(facts) + "\n", encoding="utf8")


def _read_facts(folder: Path) -> tuple[int, int]:
    path = folder / _FACTS
    try:
        facts = json.loads(path.read_text(encoding="utf8"))
        return int(facts["count"]), int(facts["dim"])
    except (OSError, ValueError, KeyError) as reason:
        message = Errors.B002.format(path=path, what="an engine's facts", reason=reason)
        raise BergamotError(message) from None
