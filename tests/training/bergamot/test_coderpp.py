"""CODER++: groups of an anchor, its nearest names and its synonyms, and runs on them."""

import json
from pathlib import Path

import numpy as np
import pytest
from confection import Config

from tests.training.bergamot.runs import (
    equal,
    interrupt,
    names_by_concept,
    run_processes,
    shipped,
)
from tests.training.preprocess.conftest import build, name
from training.bergamot.draws.groups import GroupBatches, GroupDraws
from training.bergamot.hard_negatives import Near
from training.bergamot.run import train
from training.errors import BergamotError
from training.preprocess.training_set import TrainingSet

ROOT = Path(__file__).parents[3]


@pytest.fixture
def coderpp(config: Config) -> Config:
    """The shipped config with the tiny base, 8 steps of 4 groups, searches at steps 0 and 4."""
    path = ROOT / "configs/train/coderpp.cfg"
    batches = {"size": 4, "near": 5, "synonyms": 2, "refresh": 4}
    return shipped(path, config, batches, max_steps=8, warmup_steps=0, checkpoint_every=3)


def drawn(data: TrainingSet, **settings: int) -> GroupDraws:
    """Return draws with a list of random names, own ones and homonyms' among them."""
    draws = GroupDraws(GroupBatches(**{"size": 1, "near": 5, **settings}), data, seed=0)
    names, _ = draws.search.items(0)
    rng = np.random.default_rng(0)
    others = [rng.permutation(np.delete(np.arange(len(names)), i))[:60] for i in range(len(names))]
    draws.near = Near(names, np.array(others))
    return draws


def test_a_group_is_an_anchor_its_nearest_names_and_its_synonyms(data: TrainingSet):
    draws, names = drawn(data, synonyms=2), names_by_concept(data)
    anchors = []
    for step in range(draws.steps_per_epoch):
        place = int(draws._anchors[draws._rows(step, 1)][0])
        anchor = int(data.node_names[place])
        concept = next(c for c in range(60) if data.node_names_indptr[c + 1] > place)
        anchors.append((concept, anchor))
        found = draws.draw(step)
        group = list(zip(found.labels[0].tolist(), found.names[0].tolist(), strict=True))
        assert len(set(group)) == len(group)
        assert (concept, anchor) in group
        assert all(name in names[label] for label, name in group)
        near = set(draws.near.of(np.array([anchor]))[0].tolist())
        assert near <= {name for _, name in group}
        assert all(label == concept for label, name in group if name in names[concept])
        synonyms = {name for label, name in group if label == concept} - near - {anchor}
        others = names[concept] - {anchor}
        assert synonyms <= others
        assert len(synonyms | (near & others)) >= min(2, len(others))
    assert len(set(anchors)) == len(anchors) == sum(map(len, names))


def test_homonyms_among_the_nearest_are_no_negatives(coderpp: Config, data: TrainingSet):
    from training.bergamot.batches import BatchMaker
    from training.bergamot.token_store import TokenStore

    lm = train(coderpp)
    settings = GroupBatches(size=40, near=5)
    tokens = TokenStore.open(lm.parent / "tokens")
    maker = BatchMaker(data, tokens, settings, seed=0, graph=False, pad=0)
    maker.draws.near = Near.open(lm.parent / "near/step-00000004")
    batch, found = maker[0], maker.draws.draw(0)
    assert batch.labels.shape == batch.rows.shape == found.names.shape
    labels, names = found.labels[0], names_by_concept(data)
    excluded = batch.excluded[batch.labels[0][:, None], batch.labels[0]].numpy()
    for i, j in zip(*np.nonzero(labels[:, None] != labels), strict=True):
        assert excluded[i, j] == bool(names[labels[i]] & names[labels[j]])
    assert excluded.any()


def test_no_list_has_a_held_out_name(tmp_path: Path):
    lines = [name(f"C{c:03}", f"sign {c} {word}") for c in range(60) for word in "abcdef"]
    run = build(tmp_path, lines, held_out=0.2, valid_concepts=0.2)
    items, _ = GroupDraws(GroupBatches(), run.train, seed=0).search.items(0)
    listed = {run.strings[item] for item in items}
    hidden = {line.split("||")[1].lower() for line in run.queries()["ENG"]}
    valid = (run.folder / "valid/queries/ENG.txt").read_text("utf8").split()
    concepts = {line.split("||")[0] for line in valid if "||" in line}
    kept_aside = {
        text for cui, texts in run.node_names().items() for text in texts if cui in concepts
    }
    assert hidden
    assert kept_aside
    assert not listed & (hidden | kept_aside)
    assert len(listed) > 150


@pytest.mark.parametrize("stop", [4, 7])
def test_a_resumed_run_has_the_lists_of_its_checkpoint(
    coderpp: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int
):
    whole = train(coderpp)
    lists = [Near.open(whole.parent / f"near/step-{step:08d}") for step in (0, 4)]
    assert not np.array_equal(lists[0].near, lists[1].near)
    coderpp["paths"]["output"] = str(tmp_path / "resumed")
    interrupt(monkeypatch, stop)
    with pytest.raises(KeyboardInterrupt):
        train(coderpp)
    coderpp["batches"]["workers"] = 2
    assert equal(whole, train(coderpp))


def test_two_processes_take_the_steps_of_one(coderpp: Config, tmp_path: Path):
    coderpp["training"].update(max_steps=5, autocast="none")
    coderpp["batches"]["chunk_tokens"] = 60
    alone, together = train(coderpp).parent, run_processes(coderpp, 2, tmp_path)
    first, second = (json.loads((run / "history.json").read_text()) for run in (alone, together))
    for a, b in zip(first, second, strict=True):
        for key in ("total", "text", "grad_norm"):
            assert b[key] == pytest.approx(a[key], rel=1e-3), (key, a["step"])


def test_a_batch_of_more_groups_than_anchors_is_refused(data: TrainingSet):
    with pytest.raises(BergamotError, match=r"B232.* anchors"):
        GroupDraws(GroupBatches(size=1000), data, seed=0)
