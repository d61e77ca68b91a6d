"""The engine that compares a query with every vector."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from spacy_bergamot.index.engines import common
from spacy_bergamot.index.engines.common import Engine, Vectors
from spacy_bergamot.storage.files import mapped_array

_BLOCK = 256  # queries at once, fewer where their scores are more than
_SCORES = 1 << 26


class ExactEngine(Engine):
    """Exact product with every vector, blockwise over a memory-mapped array."""

    name = "exact"

    def __init__(self, saved: np.ndarray) -> None:
        super().__init__(count=saved.shape[0], dim=saved.shape[1])
        self.saved = saved

    @classmethod
    def build(cls, folder: Path, vectors: Vectors, *, progress: bool = False) -> None:
        """Save unit vectors, float32 (n, d).

        folder (Path): Where they are saved. progress (bool): Unused: it takes no time.
        """
        shape = common.shape_of(vectors)
        folder.mkdir(parents=True, exist_ok=True)
        saved = mapped_array(folder / "vectors.npy", np.float32, shape)
        for rows in common.blocks(vectors):
            saved[rows] = vectors[rows]
        saved.flush()
        common.write_facts(folder, shape)

    @classmethod
    def open(cls, folder: Path, *, ef_search: int = 0) -> "ExactEngine":
        """Map the vectors; `ef_search` has no meaning here.

        folder (Path): Of `build`.
        """
        common.read_facts(folder)
        with common.readable(folder / "vectors.npy", "an array of vectors") as path:
            return cls(np.load(path, mmap_mode="r"))

    def _nearest(self, vectors: np.ndarray, k: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        size = max(1, min(_BLOCK, _SCORES // self.count))
        for start in range(0, len(vectors), size):
            scores = vectors[start : start + size] @ self.saved.T
            for of_one in scores:
                rows = np.flatnonzero(of_one >= np.partition(of_one, -k)[-k])
                yield common.best_of(rows, of_one[rows], k)

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self.saved[rows])
