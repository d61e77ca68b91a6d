"""What every engine of the index promises; one of another package may be held to it too."""

import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.engines import Engine, engine_class, require_engine

COUNT, DIM = 1200, 48
ENGINES = {
    "exact": ("exact", {}),
    "nmslib": ("nmslib", {"threads": 1}),
    "usearch": ("usearch", {"threads": 1}),
    "usearch i8": ("usearch", {"threads": 1, "dtype": "i8"}),
    "faiss": ("faiss", {"threads": 1}),
    "faiss, some lists": ("faiss", {"threads": 1, "nlist": 16, "nprobe": 12}),
    "sharded": ("sharded", {"engine": "exact", "shards": 3}),
    "sharded nmslib": ("sharded", {"engine": "nmslib", "settings": {"threads": 1}}),
}
TOLERANCE = {"usearch": 0.01, "usearch i8": 0.02, "faiss": 1e-3, "faiss, some lists": 1e-3}
"""Of a score, where vectors are stored in fewer bits."""


@pytest.fixture(scope="module")
def separable() -> np.ndarray:
    """Return unit vectors in pairs: of each, the next one to it is far nearer than all others."""
    rng = np.random.default_rng(3)
    made = np.repeat(rng.standard_normal((COUNT // 2, DIM)), 2, axis=0)
    made += 0.2 * rng.standard_normal(made.shape)
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module", params=ENGINES)
def built(
    request: pytest.FixtureRequest, separable: np.ndarray, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path]:
    """Return an engine's name among `ENGINES`, and the folder that it was saved into."""
    folder = tmp_path_factory.mktemp("engine") / "deep" / "er"
    build(request.param, folder, separable)
    return request.param, folder


def build(name: str, folder: Path, vectors: np.ndarray) -> None:
    engine, settings = ENGINES[name]
    engine_class(engine).build(folder, vectors, **settings)


def opened(built: tuple[str, Path], **settings: Any) -> Engine:
    return engine_class(ENGINES[built[0]][0]).open(built[1], **settings)


def test_the_nearest_come_first_with_their_cosines(built: tuple[str, Path], separable: np.ndarray):
    engine = opened(built)
    assert engine.name == ENGINES[built[0]][0]
    assert (engine.count, engine.dim) == separable.shape
    asked = separable[:200]
    rows, scores = engine.search(asked, 5)
    assert (rows.dtype, scores.dtype) == (np.int64, np.float32)
    assert rows.shape == scores.shape == (200, 5)
    numbers = np.arange(200)
    np.testing.assert_array_equal(rows[:, 0], numbers)
    np.testing.assert_array_equal(rows[:, 1], numbers ^ 1)
    assert (np.diff(scores, axis=1) <= 0).all()
    assert all(len(set(found)) == 5 for found in rows.tolist())
    exact = np.einsum("nd,nkd->nk", asked, separable[rows])
    np.testing.assert_allclose(scores, exact, atol=TOLERANCE.get(built[0], 1e-4))


def test_a_query_is_answered_as_it_is_among_others(built: tuple[str, Path], separable: np.ndarray):
    engine = opened(built)
    rows, scores = engine.search(separable[:40], 3)
    for number in (0, 17, 39):
        one = engine.search(separable[number : number + 1], 3)
        np.testing.assert_array_equal(one[0][0], rows[number])
        np.testing.assert_allclose(one[1][0], scores[number], atol=1e-6)
    assert engine.search(separable[:0], 3)[0].shape == (0, 3)


def test_what_is_saved_is_the_same_however_it_is_opened(
    built: tuple[str, Path], separable: np.ndarray
):
    first, again = (opened(built, ef_search=64).search(separable[:50], 4) for _ in range(2))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])


def test_the_vectors_come_back_in_any_order(built: tuple[str, Path], separable: np.ndarray):
    rows = np.array([7, 0, COUNT - 1, 7])
    found = opened(built).vectors(rows)
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(found, separable[rows], atol=TOLERANCE.get(built[0], 1e-3))
    assert opened(built).vectors(np.array([], dtype=np.int64)).shape == (0, DIM)


@pytest.mark.parametrize(
    "bad", [np.ones((2, 3)), np.ones(DIM), np.zeros((1, DIM)), np.full((1, DIM), np.nan)]
)
def test_what_is_no_query_is_refused(built: tuple[str, Path], bad: np.ndarray):
    with pytest.raises(BergamotError, match="B021"):
        opened(built).search(bad.astype(np.float32), 1)


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("count", [1, 3])
def test_fewer_vectors_than_are_asked_for_are_filled_up(name: str, count: int, tmp_path: Path):
    vectors = np.eye(count, DIM, dtype=np.float32)
    build(name, tmp_path, vectors)
    rows, scores = opened((name, tmp_path)).search(vectors[:1], 6)
    assert rows[0, 0] == 0
    assert sorted(rows[0, :count].tolist()) == list(range(count))
    assert (rows[0, count:] == -1).all()
    assert (scores[0, count:] == -1).all()


@pytest.mark.parametrize("name", ENGINES)
def test_copies_of_a_vector_are_all_found(name: str, separable: np.ndarray, tmp_path: Path):
    vectors = np.concatenate([separable[:100], separable[:1], separable[:1]])
    build(name, tmp_path, vectors)
    rows, scores = opened((name, tmp_path)).search(separable[:1], 4)
    assert set(rows[0, :3].tolist()) == {0, 100, 101}
    np.testing.assert_allclose(scores[0, :3], scores[0, 0], atol=1e-6)
    assert scores[0, 3] < scores[0, 0]


@pytest.mark.parametrize("name", ENGINES)
def test_there_is_no_index_of_nothing(name: str, tmp_path: Path):
    with pytest.raises(BergamotError, match="B201"):
        build(name, tmp_path / "e", np.empty((0, DIM), dtype=np.float32))
    assert not (tmp_path / "e").exists()


@pytest.mark.parametrize("name", ENGINES)
def test_settings_that_it_has_not_are_refused_by_name(name: str):
    engine, settings = ENGINES[name]
    require_engine(engine, settings)
    with pytest.raises(BergamotError, match=rf"B014.*'{engine}'.*'mm'"):
        require_engine(engine, {**settings, "mm": 3})


def test_a_file_that_is_missing_or_cut_is_named(built: tuple[str, Path], tmp_path: Path):
    for number, path in enumerate(built[1].rglob("*")):
        if not path.is_file():
            continue
        folder = tmp_path / str(number)
        place = folder / path.relative_to(built[1])
        shutil.copytree(built[1], folder)
        place.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        with pytest.raises(BergamotError, match=rf"B002.*{path.name}"):
            opened((built[0], folder))
        place.unlink()
        with pytest.raises(BergamotError, match=rf"B00[12].*{path.name}"):
            opened((built[0], folder))


ANSWERED: Any = None


def found_by_inherited(vectors: np.ndarray) -> list[list[int]]:
    return ANSWERED.search(vectors, 3)[0].tolist()


def test_forked_and_spawned_processes_find_the_same(
    built: tuple[str, Path], separable: np.ndarray, monkeypatch: pytest.MonkeyPatch
):
    asked = separable[:64]
    engine = opened(built)
    expected = engine.search(asked, 3)[0].tolist()
    monkeypatch.setattr(sys.modules[__name__], "ANSWERED", engine)
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        assert pool.submit(found_by_inherited, asked).result(60) == expected
    code = (
        "import sys, numpy as np; from pathlib import Path\n"
        "from spacy_bergamot.index.engines import engine_class\n"
        "engine = engine_class(sys.argv[1]).open(Path(sys.argv[2]))\n"
        "print(engine.search(np.load(sys.argv[3]), 3)[0].tolist())"
    )
    path = built[1].parent / "asked.npy"
    np.save(path, asked)
    command = [sys.executable, "-c", code, ENGINES[built[0]][0], str(built[1]), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == str(expected)
