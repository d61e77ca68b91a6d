"""Vectors that engines are built of."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    """Return unit vectors (2000, 384) in 100 clusters, near enough to each other to be mixed up."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((100, 384))
    made = centres[rng.integers(0, 100, 2000)] + 0.5 * rng.standard_normal((2000, 384))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
