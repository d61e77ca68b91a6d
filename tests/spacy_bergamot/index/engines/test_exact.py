"""The exact engine: what a full sort finds."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.engines import ExactEngine


@settings(max_examples=25)
@given(st.integers(0, 1000), st.integers(1, 9), st.integers(1, 300), st.integers(1, 12))
def test_the_best_are_those_of_a_full_sort(seed: int, count: int, queries: int, k: int):
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-2, 3, (count, 4)).astype(np.float32)  # whole numbers: many ties
    asked = rng.integers(1, 3, (queries, 4)).astype(np.float32)
    rows, scores = ExactEngine(vectors).search(asked, k)
    assert (rows.dtype, scores.dtype) == (np.int64, np.float32)
    products = asked @ vectors.T
    here = min(k, count)
    np.testing.assert_array_equal(scores[:, :here], -np.sort(-products, axis=1)[:, :here])
    np.testing.assert_array_equal(np.take_along_axis(products, rows[:, :here], 1), scores[:, :here])
    assert all(len(set(found)) == here for found in rows[:, :here].tolist())
    ties = scores[:, : here - 1] == scores[:, 1:here]
    assert (rows[:, : here - 1] < rows[:, 1:here])[ties].all()
    assert (rows[:, here:] == -1).all()
    order = np.argsort(-products, axis=1, kind="stable")  # of equal ones, the lower row
    np.testing.assert_array_equal(rows[:, :here], order[:, :here])


def test_vectors_come_back_from_disk(vectors: np.ndarray, tmp_path: Path):
    ExactEngine.build(tmp_path / "e", vectors)
    engine = ExactEngine.open(tmp_path / "e")
    assert (engine.count, engine.dim) == vectors.shape
    chosen = np.array([3, 0, 1999, 3])
    np.testing.assert_array_equal(engine.vectors(chosen), vectors[chosen])


@pytest.mark.parametrize(
    "bad", [np.ones((2, 3)), np.ones(4), np.zeros((1, 4)), np.full((1, 4), np.nan)]
)
def test_what_is_no_query_is_refused(bad: np.ndarray):
    with pytest.raises(BergamotError, match="B021"):
        ExactEngine(np.eye(4, dtype=np.float32)).search(bad.astype(np.float32), 1)
