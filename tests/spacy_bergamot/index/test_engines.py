"""Vectors in 8 bits: half of usearch's size, and what an exact search finds."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.engines import ExactEngine, NmslibEngine, UsearchEngine
from spacy_bergamot.index.engines.usearch import to_8_bits


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    """Return unit vectors (2000, 384) in 100 clusters, near enough to each other to be mixed up."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((100, 384))
    made = centres[rng.integers(0, 100, 2000)] + 0.5 * rng.standard_normal((2000, 384))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def test_8_bits_find_what_an_exact_search_finds(vectors: np.ndarray, tmp_path: Path):
    sizes, found = {}, {}
    queries = vectors[:200] + 0.01 * vectors[1000:1200]
    for dtype in ("i8", "bf16"):
        UsearchEngine.build(tmp_path / dtype, vectors, dtype=dtype, threads=1, m=16)
        found[dtype] = UsearchEngine.open(tmp_path / dtype).search(queries, 10)
        sizes[dtype] = (tmp_path / dtype / "hnsw.usearch").stat().st_size / len(vectors)
    assert sizes["bf16"] - sizes["i8"] == pytest.approx(384, abs=2)
    ExactEngine.build(tmp_path / "exact", vectors)
    rows, scores = ExactEngine.open(tmp_path / "exact").search(queries, 10)
    norms = np.linalg.norm(queries, axis=1, keepdims=True)
    assert (found["i8"][0] == rows).mean() > 0.9
    assert np.abs(found["i8"][1] - scores / norms).mean() < 1e-3
    one = UsearchEngine.open(tmp_path / "i8").search(queries[:1], 10)
    assert (one[0] == found["i8"][0][:1]).all()


def test_8_bits_use_their_range(vectors: np.ndarray):
    made = to_8_bits(vectors)
    assert made.dtype == np.int8
    assert (np.abs(made.astype(int)).max(1) == 127).all()
    directions = made / np.linalg.norm(made.astype(float), axis=1, keepdims=True)
    assert (directions * vectors).sum(1).min() > 0.9999
    assert not to_8_bits(np.zeros((2, 4), np.float32)).any()


def test_an_unknown_type_is_named(vectors: np.ndarray, tmp_path: Path):
    with pytest.raises(BergamotError, match=r"B039.*'int8'.*i8"):
        UsearchEngine.build(tmp_path, vectors, dtype="int8")
    assert not list(tmp_path.iterdir())


def test_a_small_graph_loses_no_vector_on_a_machine_of_many_cores(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr("spacy_bergamot.index.engines.common.cores", lambda: 16)
    orders = np.array(list(permutations(range(8), 3)))[:300]
    weights = np.array([1, 1.15, 1.3])
    for seed in range(20):
        words = np.random.default_rng(seed).standard_normal((8, 32))
        made = np.einsum("nwd,w->nd", words[orders], weights).astype(np.float32)
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        NmslibEngine.build(tmp_path / str(seed), made)
        scores = NmslibEngine.open(tmp_path / str(seed)).search(made, 1)[1]
        np.testing.assert_allclose(scores[:, 0], 1, atol=1e-5)
