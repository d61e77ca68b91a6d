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
    with pytest.raises(BergamotError, match=r"B039.*'int8'.*i8"):
        UsearchEngine.build(tmp_path, vectors, dtype="int8")
    assert not list(tmp_path.iterdir())
