"""FAISS's lists: refined to what an exact search finds, and built in parts that are kept."""

from pathlib import Path

import numpy as np
import pytest

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.engines import ExactEngine, require_engine

pytest.importorskip("faiss", reason="faiss-cpu is not installed")

from spacy_bergamot.index.engines import faiss
from spacy_bergamot.index.engines.faiss import FaissEngine, lists_of


@pytest.fixture
def queries(vectors: np.ndarray) -> np.ndarray:
    mixed = vectors[:200] + 0.3 * vectors[1000:1200]
    return mixed / np.linalg.norm(mixed, axis=1, keepdims=True)


def test_a_search_finds_what_an_exact_one_finds(
    vectors: np.ndarray, queries: np.ndarray, tmp_path: Path
):
    FaissEngine.build(tmp_path / "faiss", vectors)
    rows, scores = FaissEngine.open(tmp_path / "faiss").search(queries, 10)
    exact, cosines = ExactEngine(vectors).search(queries, 10)
    assert (rows[:, 0] == exact[:, 0]).mean() > 0.99
    assert (rows == exact).mean() > 0.98
    np.testing.assert_allclose(scores[:, 0], cosines[:, 0], atol=1e-3)


def test_more_lists_and_more_vectors_compared_find_more(tmp_path: Path):
    vectors = np.random.default_rng(0).standard_normal((2000, 32)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)  # without clusters: hard to find
    queries = -vectors[:200]
    exact = ExactEngine(vectors).search(queries, 3)[0]
    found = {}
    for nprobe in (1, 8):
        FaissEngine.build(tmp_path / str(nprobe), vectors, nlist=64, nprobe=nprobe)
        for ef_search in (1, 200):
            engine = FaissEngine.open(tmp_path / str(nprobe), ef_search=ef_search)
            rows = engine.search(queries, 3)[0]
            shared = [len(set(a) & set(b)) for a, b in zip(rows, exact, strict=True)]
            found[nprobe, ef_search] = np.mean(shared)
    assert found[1, 200] < found[8, 200] - 0.5, found
    assert found[8, 1] < found[8, 200] - 0.1, found


def test_what_is_on_disk_is_two_bytes_a_number_and_a_code(vectors: np.ndarray, tmp_path: Path):
    FaissEngine.build(tmp_path / "e", vectors, nlist=8)
    sizes = {path.name: path.stat().st_size for path in (tmp_path / "e").iterdir()}
    assert sorted(sizes) == ["engine.json", "index.faiss", "vectors.npy"]
    assert sizes["vectors.npy"] == pytest.approx(2000 * 2 * 384, rel=0.01)
    assert sizes["index.faiss"] == pytest.approx(2000 * (384 // 8 + 16) + 8 * 4 * 384, rel=0.01)


def test_a_build_that_was_killed_goes_on_to_the_same_bytes(
    vectors: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(faiss, "_PART", 500)
    FaissEngine.build(tmp_path / "whole", vectors, threads=1)
    coded, parts = faiss._coded, tmp_path / "parts"
    done = []

    def killed(index: object, saved: np.ndarray, start: int, end: int) -> object:
        if start == 1000 and len(done) < 3:
            done.append("killed")
            raise KeyboardInterrupt
        done.append(start)
        return coded(index, saved, start, end)

    monkeypatch.setattr(faiss, "_coded", killed)
    with pytest.raises(KeyboardInterrupt):
        FaissEngine.build(tmp_path / "a", vectors, threads=1, parts=parts)
    monkeypatch.setattr(faiss, "_trained", None)
    FaissEngine.build(tmp_path / "b", vectors, threads=1, parts=parts)
    assert done == [0, 500, "killed", 1000, 1500]
    for path in (tmp_path / "whole").iterdir():
        assert (tmp_path / "b" / path.name).read_bytes() == path.read_bytes(), path.name
    cut = next(parts.rglob("part-00001.faiss"))
    cut.write_bytes(cut.read_bytes()[:-9])
    with pytest.raises(BergamotError, match=r"B002.*part-00001\.faiss"):
        FaissEngine.build(tmp_path / "c", vectors, threads=1, parts=parts)


@pytest.mark.parametrize(
    ("count", "lists"),
    [(1, 4), (2000, 128), (300_000, 2048), (16 * 10**6, 16384), (3 * 10**8, 65536)],
)
def test_lists_grow_with_the_root_of_the_number_of_vectors(count: int, lists: int):
    assert lists_of(count) == lists


@pytest.mark.parametrize("settings", [{"nlist": -1}, {"nprobe": 0}, {"threads": -1}])
def test_numbers_that_are_too_small_are_named(settings: dict[str, int]):
    with pytest.raises(BergamotError, match=f"B037.*{next(iter(settings))}"):
        require_engine("faiss", settings)


def test_faiss_is_left_with_the_threads_that_it_had(vectors: np.ndarray, tmp_path: Path):
    import faiss as library

    library.omp_set_num_threads(3)
    FaissEngine.build(tmp_path, vectors[:100], threads=1)
    FaissEngine.open(tmp_path).search(vectors[:3], 2)
    assert library.omp_get_max_threads() == 3
    library.omp_set_num_threads(1)
