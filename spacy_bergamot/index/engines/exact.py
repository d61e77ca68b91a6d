"""The engine that compares a query with every vector."""

from pathlib import Path

import numpy as np

from spacy_bergamot.index.engines.common import (
    Vectors,
    blocks,
    check_queries,
    read_facts,
    write_facts,
)
from spacy_bergamot.storage.files import mapped_array

_BLOCK = 256  # queries at once, fewer where their scores are more than
_SCORES = 1 << 26


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
        for rows in blocks(vectors):
            saved[rows] = vectors[rows]
        saved.flush()
        write_facts(folder, vectors.shape)

    @classmethod
    def open(cls, folder: Path, *, ef_search: int = 0) -> "ExactEngine":
        """Map the vectors; `ef_search` has no meaning here."""
        read_facts(folder)
        return cls(np.load(folder / "vectors.npy", mmap_mode="r"))

    def search(self, vectors: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        check_queries(vectors, self.dim)
        rows = np.full((len(vectors), k), -1, dtype=np.int64)
        best = np.full((len(vectors), k), -1, dtype=np.float32)
        k_here = min(k, self.count)
        size = max(1, min(_BLOCK, _SCORES // self.count))
        for start in range(0, len(vectors), size):
            scores = vectors[start : start + size] @ self.saved.T
            top = np.argpartition(-scores, k_here - 1, axis=1)[:, :k_here]
            values = np.take_along_axis(scores, top, axis=1)
            order = np.lexsort([top, -values], axis=1)
            block = slice(start, start + len(scores))
            rows[block, :k_here] = np.take_along_axis(top, order, axis=1)
            best[block, :k_here] = np.take_along_axis(values, order, axis=1)
        return rows, best

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self.saved[rows])
