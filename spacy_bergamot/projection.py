"""Principal components of unit vectors: a smaller and faster index, at a cost in recall."""

from pathlib import Path

import numpy as np

from spacy_bergamot.engines import Vectors
from spacy_bergamot.errors import BergamotError, Errors

FILE = "projection.npy"
_SAMPLE = 50_000


class Projection:
    """Centre on the mean and keep the first components; the results are unit vectors again.

    matrix (float32 (1 + width, d)): The mean, then the components.
    """

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = np.ascontiguousarray(matrix, dtype=np.float32)
        self.width, self.dim = len(matrix) - 1, matrix.shape[1]

    @classmethod
    def fit(cls, vectors: Vectors, width: int) -> "Projection":
        """Fit on at most 50,000 evenly spaced vectors (n, d).

        RAISES (BergamotError): B044 unless 0 < width < d, and width <= n.
        """
        count, dim = vectors.shape
        if not 0 < width < dim or width > count:
            raise BergamotError(Errors.B044.format(value=width, dim=dim, count=count))
        size = 1000
        starts = np.linspace(0, max(0, count - size), max(1, min(count, _SAMPLE) // size))
        sample = np.concatenate([vectors[slice(int(s), int(s) + size)] for s in starts])
        sample = sample.astype(np.float64)
        mean = sample.mean(0)
        _, components = np.linalg.eigh(np.cov(sample - mean, rowvar=False))
        return cls(np.vstack([mean, components.T[::-1][:width]]))

    @classmethod
    def open(cls, folder: Path) -> "Projection | None":
        """Open what `save` wrote, or return None."""
        path = folder / FILE
        return cls(np.load(path, allow_pickle=False)) if path.is_file() else None

    def save(self, folder: Path) -> None:
        np.save(folder / FILE, self.matrix)

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        """Return unit vectors float32 (n, width) of vectors (n, d)."""
        projected = (vectors - self.matrix[0]) @ self.matrix[1:].T
        norms = np.linalg.norm(projected, axis=1, keepdims=True)
        return projected / np.maximum(norms, 1e-12)


class Projected:
    """Vectors that are projected block by block as they are read."""

    def __init__(self, vectors: Vectors, projection: Projection) -> None:
        self.vectors = vectors
        self.projection = projection
        self.shape = (vectors.shape[0], projection.width)

    def __getitem__(self, rows: slice) -> np.ndarray:
        return self.projection(self.vectors[rows])
