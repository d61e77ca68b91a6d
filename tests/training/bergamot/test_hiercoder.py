"""HierCODER: graded pairs, mined negatives, loss and variants; and parents as positives."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from confection import Config

from tests.training.bergamot.runs import (
    equal,
    interrupt,
    names_by_concept,
    run_processes,
    shipped,
)
from tests.training.conftest import CONCEPTS
from training.bergamot.draws.graded import GradedBatches, GradedDraws
from training.bergamot.draws.pairs import PairBatches, PairDraws
from training.bergamot.hard_negatives import Near
from training.bergamot.objectives import Embeddings
from training.bergamot.objectives.graded import make_graded
from training.bergamot.run import train
from training.errors import BergamotError
from training.preprocess.training_set import TrainingSet

ROOT = Path(__file__).parents[3]


@pytest.fixture
def hiercoder(config: Config) -> Config:
    """The shipped config with the tiny base, 8 steps of 16 pairs."""
    path, batches = ROOT / "configs/train/hiercoder.cfg", {"size": 16}
    return shipped(path, config, batches, max_steps=8, checkpoint_every=3)


def draws(data: TrainingSet, **settings) -> GradedDraws:
    """Return draws with a list by which the nearest names are those before, so of ancestors."""
    made = GradedDraws(GradedBatches(size=40, **settings), data, seed=0)
    names, _ = made.search.items(0)
    places = np.arange(len(names))
    made.near = Near(names, (places[:, None] - np.arange(1, 13)) % len(names))
    return made


def test_the_loss_equals_plain_loops():
    text = torch.randn(2, 7, 5, generator=torch.Generator().manual_seed(0))
    targets = torch.tensor([1, 0.9, 0.5, 0, 0, 1, 0.3])
    none, labels = torch.zeros(14, 14, dtype=torch.bool), torch.arange(14).reshape(2, 7)
    total = 0.0
    for u, v, target in zip(*text, targets, strict=True):
        total += (float(u @ v / u.norm() / v.norm()) - float(target)) ** 2
    found = make_graded()(5, 0)(Embeddings(labels, none, text, targets=targets))
    assert found.item() == pytest.approx(total / 7, rel=1e-5)


def test_a_batch_is_half_positives_of_both_kinds_and_half_negatives(data: TrainingSet):
    known = {
        tuple(row): s for row, s in zip(data.graded_pairs.tolist(), data.graded_scores, strict=True)
    }
    names, found = names_by_concept(data), draws(data).draw(3)
    rows = np.stack([found.labels[0], found.names[0], found.labels[1], found.names[1]]).T.tolist()
    for (a, one, b, other), target in zip(rows, found.targets, strict=True):
        assert one in names[a]
        assert other in names[b]
        if target == 1:
            assert a == b
            assert one != other
        elif target:
            assert known[a, one, b, other] == target
    assert (found.targets == 1).sum() == 14
    assert ((found.targets > 0) & (found.targets < 1)).sum() == 6
    assert 15 < (found.targets == 0).sum() <= 20


def test_a_negative_is_the_nearest_name_that_is_neither_own_nor_above_nor_a_homonym(
    data: TrainingSet,
):
    made, names = draws(data), names_by_concept(data)
    mined = skipped = 0
    for step in range(30):
        found = made.draw(step)
        positives = found.targets > 0
        anchors = list(zip(found.labels[0][positives], found.names[0][positives], strict=True))
        expected = []
        for concept, name in anchors:
            for near in made.near.of(np.array([name]))[0]:
                of = {c for c in range(CONCEPTS) if near in names[c]}
                above = set(range(concept // 10 * 10, concept + 1))
                kin = {c for c in range(CONCEPTS) if names[c] & names[concept]}
                if not of & (above | kin):
                    expected.append((concept, name, min(of), near))
                    break
            else:
                skipped += 1
        zero = ~positives
        rows = [found.labels[0], found.names[0], found.labels[1], found.names[1]]
        assert [tuple(row) for row in np.stack(rows).T[zero].tolist()] == expected
        mined += len(expected)
    assert mined > 500
    crowded = draws(data, near=1)
    crowded.near = Near(crowded.near.items, crowded.near.near[:, :1])
    assert sum((crowded.draw(step).targets == 0).sum() for step in range(10)) < 200


def test_focus_takes_its_positives_then_their_negatives_at_another_rate(data: TrainingSet):
    whole, parts = draws(data), draws(data, negative_rate=0.25)
    assert parts.steps_per_epoch == 2 * whole.steps_per_epoch
    for step in range(3):
        first, second = parts.draw(2 * step), parts.draw(2 * step + 1)
        assert (first.rate, second.rate) == (1.0, 0.25)
        joined = np.concatenate([first.names, second.names], axis=1)
        np.testing.assert_array_equal(joined, whole.draw(step).names)
        assert (first.targets > 0).all()
        assert not second.targets.any()


def test_the_rate_of_negatives_is_the_optimiser_s(hiercoder: Config):
    from tests.training.bergamot.reference import make_trainer
    from training.bergamot.trainer import Trainer

    hiercoder["batches"]["negative_rate"] = 0.25
    rates, step = [], Trainer.step

    def noted(self, batch, number):
        losses = step(self, batch, number)
        rates.append({group["lr"] for group in self.optimizer.param_groups})
        return losses

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "step", noted)
        train(hiercoder)
    assert rates[:4] == [{2e-5}, {0.25 * 2e-5}] * 2
    assert make_trainer(hiercoder).total == 8


def test_a_resumed_run_ends_bit_identical(
    hiercoder: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    whole = train(hiercoder)
    assert [path.name for path in (whole.parent / "near").iterdir()] == ["step-00000000"]
    hiercoder["paths"]["output"] = str(tmp_path / "resumed")
    interrupt(monkeypatch, 6)
    with pytest.raises(KeyboardInterrupt):
        train(hiercoder)
    hiercoder["batches"]["workers"] = 2
    assert equal(whole, train(hiercoder))


def test_two_processes_take_the_steps_of_one(hiercoder: Config, tmp_path: Path):
    hiercoder["training"].update(max_steps=4, autocast="none")
    hiercoder["batches"]["chunk_tokens"] = 60
    alone, together = train(hiercoder).parent, run_processes(hiercoder, 2, tmp_path)
    first, second = (json.loads((run / "history.json").read_text()) for run in (alone, together))
    for a, b in zip(first, second, strict=True):
        assert b["total"] == pytest.approx(a["total"], rel=1e-3)
        assert b["graded"] == pytest.approx(a["graded"], rel=1e-3)


def test_a_training_set_without_graded_pairs_is_refused(data: TrainingSet):
    with pytest.raises(BergamotError, match=r"B233.*--hierarchy"):
        GradedDraws(GradedBatches(), replace(data, graded_pairs=None), seed=0)


def test_a_share_of_the_pairs_are_a_name_and_a_parent_s_or_grandparent_s(data: TrainingSet):
    """The invented graph is a ring: each concept's parent is the one before it."""
    plain = PairDraws(PairBatches(size=60), data, seed=0, graph=False)
    shared = PairDraws(PairBatches(size=60, parent_share=0.5), data, seed=0, graph=False)
    names, kinds = names_by_concept(data), []
    for step in range(4):
        before, after = plain.draw(step), shared.draw(step)
        np.testing.assert_array_equal(before.labels, after.labels)
        np.testing.assert_array_equal(before.names[0], after.names[0])
        for concept, old, new in zip(after.labels[0], before.names[1], after.names[1], strict=True):
            steps = next(k for k in (0, 1, 2) if new in names[(concept - k) % CONCEPTS])
            kinds.append(steps if old != new else 0)
    assert 0.35 < np.mean([kind > 0 for kind in kinds]) < 0.6
    assert 0.6 < kinds.count(1) / kinds.count(2) < 1.7
