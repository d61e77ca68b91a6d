"""Near concepts as hard negatives: the lists, what is drawn from them, and resumed runs."""

from pathlib import Path

import numpy as np
import pytest
import torch
from confection import Config

from tests.training.bergamot.runs import equal, interrupt
from training.bergamot.draws.pairs import PairBatches
from training.bergamot.hard_negatives import Near, nearest
from training.bergamot.run import prepared, train
from training.errors import BergamotError


@pytest.fixture
def config(config: Config) -> Config:
    """Three near pairs beside each drawn one, looked for at steps 0 and 4."""
    config["batches"].update(hard_negatives=3, hard_negative_pool=5, hard_negative_refresh=4)
    config["objectives"] = {"text": config["objectives"]["text"]}
    return config


def test_nearest_equals_a_full_sort():
    vectors = torch.nn.functional.normalize(torch.randn(1500, 8), dim=1)
    cosines = (vectors @ vectors.T).fill_diagonal_(-2)
    expected = cosines.argsort(1, descending=True)[:, :4]
    found = torch.from_numpy(nearest(vectors, 4)).long()
    np.testing.assert_allclose(cosines.gather(1, found), cosines.gather(1, expected), atol=1e-6)


def test_a_batch_has_the_near_concepts_of_every_drawn_pair(config: Config):
    train(config)
    with prepared(config) as run:
        trainer = run.trainer()
        lists = Near.open(run.output / "near/step-00000004")
        trainer.batches.draws.near = lists
        found = trainer.batches.draws.draw(5)
        pairs = np.concatenate([found.labels[:1], found.names]).T
        drawn, near = pairs[:4], pairs[4:].reshape(4, 3, 3)
        for pair, group in zip(drawn, near, strict=True):
            row = np.searchsorted(lists.items, pair[0])
            allowed = set(lists.items[lists.near[row]].tolist())
            assert len(set(group[:, 0].tolist())) == 3
            assert set(group[:, 0].tolist()) <= allowed - {int(pair[0])}
        known = {tuple(row) for row in run.data.pairs.tolist()}
        assert {tuple(row) for row in pairs.tolist()} <= known


def test_lists_are_made_anew_with_the_model_of_their_step(config: Config):
    config["training"]["checkpoint_every"] = 3
    lm = train(config)
    lists = [Near.open(lm.parent / f"near/step-{step:08d}") for step in (0, 4)]
    assert not np.array_equal(lists[0].near, lists[1].near)


@pytest.mark.parametrize("stop", [3, 5, 7])
def test_a_resumed_run_draws_the_same_batches(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int
):
    config["training"]["checkpoint_every"] = 2
    whole = train(config)
    config["paths"]["output"] = str(tmp_path / "resumed")
    interrupt(monkeypatch, stop)
    with pytest.raises(KeyboardInterrupt):
        train(config)
    assert equal(whole, train(config))


def test_lists_that_no_checkpoint_needs_are_removed(config: Config):
    config["batches"]["hard_negative_refresh"] = 2
    config["training"].update(max_steps=12, checkpoint_every=3)
    lm = train(config)
    kept = sorted(path.name for path in (lm.parent / "near").iterdir())
    # At step 10, when the last list was made, checkpoints were of steps 6 and 9.
    assert kept == ["step-00000006", "step-00000008", "step-00000010"]


def test_a_pool_of_fewer_concepts_is_refused():
    few = Near(np.arange(3), np.array([[1, 2], [0, 2], [0, 1]]))
    with pytest.raises(BergamotError, match="T221"):
        few.draw(np.array([0]), 3, np.random.default_rng(0))


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(BergamotError, match="T221"):
        PairBatches(size=16, hard_negatives=4)
    with pytest.raises(BergamotError, match="T221"):
        PairBatches(size=64, hard_negatives=31, hard_negative_pool=30)
