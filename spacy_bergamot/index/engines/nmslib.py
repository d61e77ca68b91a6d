"""The engine that is taken by default: nmslib's graph."""

import ctypes
import logging
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from spacy_bergamot.index.engines import common
from spacy_bergamot.index.engines.common import Engine, Vectors
from spacy_bergamot.index.engines.nmslib_file import (
    check_graph,
    import_nmslib,
    map_records,
    new_index,
    nmslib_build,
)

logger = logging.getLogger(__name__)


class NmslibEngine(Engine):
    """Hierarchical navigable small world graph (Malkov and Yashunin 2018) of nmslib.

    nmslib resets efSearch on loading, answers queries of a wrong width, and matches NaN with
    anything: the first is set again, the others are refused.
    """

    name = "nmslib"

    def __init__(self, index: Any, path: Path, *, dim: int, count: int) -> None:
        super().__init__(count=count, dim=dim)
        self.index = index
        self.path = path

    @classmethod
    def require(cls, settings: Mapping[str, Any]) -> None:
        """B022 without nmslib; see `Engine.require`."""
        import_nmslib()
        super().require(settings)

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

        folder (Path): Where it is saved. progress (bool): Show a bar.
        m (int): HNSW's M, neighbours of a node in the graph.
        ef_construction (int): Nodes that are compared while a new one finds its neighbours.
        threads (int): 0 for one per core, or one for a small graph: threads that begin a graph
            together lose some of its nodes. It is the same on every run only with 1.
        """
        count, dim = common.shape_of(vectors)
        threads = common.build_threads(count, threads)
        size = count * (4 * dim + 10 * m)
        seconds = common.build_seconds(count, dim, m, ef_construction, threads)
        common.announce_build(folder, count, size=size, memory=2 * size, seconds=seconds)
        logger.info("Building with %s", nmslib_build())
        index = new_index()
        for rows in common.blocks(vectors):
            block = np.ascontiguousarray(vectors[rows], dtype=np.float32)
            index.addDataPointBatch(block, np.arange(rows.start, rows.stop, dtype=np.int32))
        settings = {"M": m, "efConstruction": ef_construction, "post": 0}
        settings["indexThreadQty"] = threads
        index.createIndex(settings, print_progress=progress)
        folder.mkdir(parents=True, exist_ok=True)
        index.saveIndex(str(folder / "hnsw.nmslib"), save_data=False)
        common.write_facts(folder, vectors.shape, m=m, ef_construction=ef_construction)

    @classmethod
    def open(cls, folder: Path, *, ef_search: int = 100) -> "NmslibEngine":
        """Load the graph.

        folder (Path): Of `build`.
        ef_search (int): Candidates while searching.
        """
        count, dim, _ = common.read_facts(folder)
        index = new_index()
        with common.readable(folder / "hnsw.nmslib", "an nmslib index") as path:
            check_graph(path, count=count, dim=dim)
            try:
                index.loadIndex(str(path), load_data=False)
            except (RuntimeError, ValueError, MemoryError):
                # Freeing an index that was read in part crashes the process: let it live.
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(index))
                raise
        index.setQueryTimeParams({"efSearch": ef_search})
        return cls(index, path, dim=dim, count=count)

    def _nearest(self, vectors: np.ndarray, k: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for rows, distances in self.index.knnQueryBatch(vectors, k=k, num_threads=1):
            yield rows, 1 - distances

    @cached_property
    def records(self) -> np.ndarray:
        """The vectors in the graph's file, mapped."""
        return map_records(self.path, count=self.count, dim=self.dim)

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self.records["vector"][rows])
