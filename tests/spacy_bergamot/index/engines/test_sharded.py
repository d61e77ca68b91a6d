"""Shards: together they answer as one engine does, and those that are built stay built."""

from pathlib import Path

import numpy as np
import pytest

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.engines import ExactEngine, require_engine
from spacy_bergamot.index.engines.sharded import ShardedEngine


@pytest.mark.parametrize(
    ("count", "shards", "k"), [(1, 1, 1), (1, 4, 3), (5, 2, 1), (60, 7, 5), (9, 9, 12)]
)
def test_exact_shards_answer_as_one_exact_engine(tmp_path: Path, count: int, shards: int, k: int):
    rng = np.random.default_rng(count)
    vectors = rng.integers(1, 4, (count, 4)).astype(np.float32)  # whole numbers: many ties
    asked = rng.integers(1, 4, (7, 4)).astype(np.float32)
    ShardedEngine.build(tmp_path, vectors, engine="exact", shards=shards)
    engine = ShardedEngine.open(tmp_path)
    sizes = [one.count for one in engine.shards]
    assert len(sizes) == min(shards, count)
    assert max(sizes) - min(sizes) <= 1
    found, expected = engine.search(asked, k), ExactEngine(vectors).search(asked, k)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    rows = rng.integers(0, count, 20)
    np.testing.assert_array_equal(engine.vectors(rows), vectors[rows])


def test_a_build_that_was_killed_does_not_build_its_shards_again(
    vectors: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    build, built = ExactEngine.build.__func__, []

    def killed(cls: type, folder: Path, share: np.ndarray, **settings: object) -> None:
        built.append(share[0:1][0, 0])
        if len(built) == 3:
            raise KeyboardInterrupt
        build(cls, folder, share, **settings)

    monkeypatch.setattr(ExactEngine, "build", classmethod(killed))
    for folder in ("a", "b"):
        options = {"engine": "exact", "shards": 4, "parts": tmp_path / "parts"}
        try:
            ShardedEngine.build(tmp_path / folder, vectors, **options)
        except KeyboardInterrupt:
            assert folder == "a"
    starts = [0, 500, 1000, 1000, 1500]
    assert built == [vectors[start, 0] for start in starts]
    rows = ShardedEngine.open(tmp_path / "b").search(vectors[:50], 1)[0]
    np.testing.assert_array_equal(rows[:, 0], np.arange(50))
    ShardedEngine.build(tmp_path / "c", vectors, engine="exact", shards=4)
    names = sorted(str(path.relative_to(tmp_path / "c")) for path in (tmp_path / "c").rglob("*"))
    assert names == sorted(
        str(path.relative_to(tmp_path / "b")) for path in (tmp_path / "b").rglob("*")
    )


def test_shards_of_another_number_are_not_taken(vectors: np.ndarray, tmp_path: Path):
    for shards in (2, 3):
        ShardedEngine.build(
            tmp_path / str(shards), vectors, engine="exact", shards=shards, parts=tmp_path / "parts"
        )
        assert len(ShardedEngine.open(tmp_path / str(shards)).shards) == shards


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"shards": 0}, "B037"),
        ({"engine": "nothing"}, "B014"),
        ({"engine": "usearch", "settings": {"dtype": "i7"}}, "B014"),
        ({"engine": "exact", "settings": {"m": 3}}, "B014.*'exact'.*'m'"),
    ],
)
def test_what_its_engines_do_not_take_is_refused(given: dict, code: str):
    with pytest.raises(BergamotError, match=code):
        require_engine("sharded", given)
