"""The engine that is taken by default: nmslib's graph."""

import ctypes
import logging
from functools import cached_property
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
    write_facts,
)
from spacy_bergamot.index.engines.nmslib_file import (
    check_graph,
    map_records,
    new_index,
    nmslib_build,
)
from spacy_bergamot.storage.preflight import announce

logger = logging.getLogger(__name__)


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

        m (int): HNSW's M, neighbours of a node in the graph.
        ef_construction (int): Nodes that are compared while a new one finds its neighbours.
        threads (int): 0 for one per core, or one for a small graph: threads that begin a graph
            together lose some of its nodes. It is the same on every run only with 1.
        """
        count, dim = vectors.shape
        threads = build_threads(count, threads)
        announce(
            f"Building the index of {count} vectors",
            memory=2 * count * (4 * dim + 10 * m),
            disk=count * (4 * dim + 10 * m),
            folder=folder,
            seconds=build_seconds(count, dim, m, ef_construction, threads),
        )
        logger.info("Building with %s", nmslib_build())
        index = new_index()
        for rows in blocks(vectors):
            block = np.ascontiguousarray(vectors[rows], dtype=np.float32)
            index.addDataPointBatch(block, np.arange(rows.start, rows.stop, dtype=np.int32))
        settings = {"M": m, "efConstruction": ef_construction, "post": 0}
        settings["indexThreadQty"] = threads
        index.createIndex(settings, print_progress=progress)
        folder.mkdir(parents=True, exist_ok=True)
        index.saveIndex(str(folder / "hnsw.nmslib"), save_data=False)
        write_facts(folder, vectors.shape, m=m, ef_construction=ef_construction)

    @classmethod
    def open(cls, folder: Path, *, ef_search: int = 100) -> "NmslibEngine":
        """Load the graph. ef_search (int): Candidates while searching."""
        count, dim = read_facts(folder)
        index = new_index()
        path = folder / "hnsw.nmslib"
        check_graph(path, count=count, dim=dim)
        try:
            index.loadIndex(str(path), load_data=False)
        except (RuntimeError, ValueError, MemoryError) as reason:
            # Freeing an index that was read in part crashes the process: let it live.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(index))
            raise BergamotError(
                Errors.B002, path=path, what="an nmslib index", reason=reason
            ) from None
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
