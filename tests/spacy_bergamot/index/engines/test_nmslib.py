"""nmslib's graph: its settings are taken, and one that is broken is refused."""

import os
import subprocess
import sys
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from spacy_bergamot.index.engines import NmslibEngine


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


def test_settings_of_the_graph_are_taken(tmp_path: Path):
    vectors = np.random.default_rng(0).standard_normal((3000, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found = []
    for m, ef_construction, ef_search in ((2, 4, 10), (16, 100, 100)):
        folder = tmp_path / str(m)
        NmslibEngine.build(folder, vectors, m=m, ef_construction=ef_construction, threads=1)
        engine = NmslibEngine.open(folder, ef_search=ef_search)
        rows, _ = engine.search(vectors[:500], 1)
        found.append((rows[:, 0] == np.arange(500)).mean())
    assert found[0] < 0.95 < found[1]


def test_a_graph_that_cannot_be_read_is_an_error_and_no_crash(tmp_path):
    vectors = np.random.default_rng(0).standard_normal((500, 16)).astype(np.float32)
    NmslibEngine.build(tmp_path, vectors, threads=1)
    path = tmp_path / "hnsw.nmslib"
    path.write_bytes(path.read_bytes()[:-100])
    script = f"""
from pathlib import Path
from spacy_bergamot.index.engines import NmslibEngine
from spacy_bergamot.errors import BergamotError
try:
    NmslibEngine.open(Path({str(tmp_path)!r}))
except BergamotError as error:
    print(error)
"""
    environment = {**os.environ, "MALLOC_PERTURB_": "165"}
    command = [sys.executable, "-c", script]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert "B002" in result.stdout
    assert "hnsw.nmslib" in result.stdout
