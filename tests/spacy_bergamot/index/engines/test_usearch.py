"""Vectors in 8 bits: half of usearch's size, and what an exact search finds."""

from pathlib import Path

import numpy as np
import pytest

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.engines import ExactEngine, UsearchEngine
from spacy_bergamot.index.engines.usearch import to_8_bits


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
    with pytest.raises(BergamotError, match=r"B014.*'int8'.*i8"):
        UsearchEngine.build(tmp_path, vectors, dtype="int8")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("dtype", ["f32", "i8"])
@pytest.mark.parametrize(("first", "last"), [(50, 400), (0, 300), (100, 310), (0, 460)])
def test_a_graph_that_grew_finds_what_one_built_anew_finds(dtype, first, last, tmp_path: Path):
    """Vectors go, come, both, or only come; those that stay have other rows."""
    rng = np.random.default_rng(0)
    every = rng.standard_normal((500, 16)).astype(np.float32)
    every /= np.linalg.norm(every, axis=1, keepdims=True)
    UsearchEngine.build(tmp_path / "old", every[:400], dtype=dtype)
    old = UsearchEngine.open(tmp_path / "old")
    rows = rng.permutation(np.arange(first, last))
    now, sources = every[rows], np.where(rows < 400, rows, -1)
    old.grow(tmp_path / "grown", now, sources)
    UsearchEngine.build(tmp_path / "anew", now, dtype=dtype)
    grown, anew = (UsearchEngine.open(tmp_path / name) for name in ("grown", "anew"))
    assert grown.vectors(np.arange(len(now))) == pytest.approx(
        anew.vectors(np.arange(len(now))), abs=1e-6
    )
    found, scores = grown.search(now[:100], 5)
    expected, best = anew.search(now[:100], 5)
    assert (found >= 0).all()
    assert (found < len(now)).all()
    assert (found[:, 0] == expected[:, 0]).mean() > 0.99
    assert scores == pytest.approx(best, abs=0.02)
