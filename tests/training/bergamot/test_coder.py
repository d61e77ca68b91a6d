"""CODER: batches of triples, the relation objective, and runs of both."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from confection import Config
from safetensors.torch import load_file
from torch.nn.functional import normalize

from tests.training.bergamot.runs import equal, interrupt, run_launched, shipped
from training.bergamot.batches import BatchMaker
from training.bergamot.draws.triples import TripleBatches, TripleDraws, known_edges
from training.bergamot.losses import MinedLoss
from training.bergamot.objectives import Embeddings
from training.bergamot.objectives.relation import RelationObjective, make_relation
from training.bergamot.run import train
from training.errors import BergamotError
from training.preprocess.training_set import TrainingSet

ROOT = Path(__file__).parents[3]
N, DIM, KINDS = 6, 5, 3


@pytest.fixture
def coder(config: Config) -> Config:
    """The shipped config with the tiny base, 8 steps of 16 triples."""
    path, batches = ROOT / "configs/train/coder.cfg", {"size": 16}
    return shipped(path, config, batches, max_steps=8, warmup_steps=0, checkpoint_every=4)


@pytest.fixture
def six() -> Embeddings:
    """Six rows: tails 1 and 4 are one concept, 2 and 5 homonyms; a third of the rest is known."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.tensor([[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 7, 10]])
    homonyms = torch.zeros(11, 11, dtype=torch.bool)
    homonyms[8, 10] = homonyms[10, 8] = True
    known = torch.eye(N, dtype=torch.bool) | (torch.rand(N, N, generator=generator) < 0.3)
    text = torch.randn(2, N, DIM, generator=generator, requires_grad=True)
    links = torch.tensor([2, 0, 2, 1, 0, 2])
    return Embeddings(labels, homonyms, text, links=links, known=known)


def plain_loss(embeddings: Embeddings, moved: torch.Tensor) -> float:
    """Mine and add up anchor by anchor, pair by pair."""
    tails, labels = embeddings.text[1], embeddings.labels[1]
    total = 0.0
    for i in range(N):
        positives, negatives = [], []
        for j in range(N):
            cosine = float(moved[i] @ tails[j] / moved[i].norm() / tails[j].norm())
            if labels[i] == labels[j]:
                positives.append(cosine)
            elif not embeddings.known[i, j] and not embeddings.no_negatives[labels[i], labels[j]]:
                negatives.append(cosine)
        hard = [p for p in positives if negatives and p < max(negatives) + 0.1]
        near = [n for n in negatives if n > min(positives) - 0.1]
        total += np.log1p(sum(np.exp(-2 * (p - 0.5)) for p in hard)) / 2
        total += np.log1p(sum(np.exp(50 * (n - 0.5)) for n in near)) / 50
    return total / N


@pytest.mark.parametrize("kind", ["bilinear", "diagonal"])
def test_the_relation_loss_equals_plain_loops(six: Embeddings, kind: str):
    objective = make_relation(relation=kind)(DIM, KINDS)
    torch.nn.init.normal_(objective.moves, generator=torch.Generator().manual_seed(1))
    moved = []
    for head, link in zip(six.text[0], six.links, strict=True):
        move = objective.moves[link]
        moved.append(move.T @ head if kind == "bilinear" else move * head)
    assert objective(six).item() == pytest.approx(plain_loss(six, torch.stack(moved)), rel=1e-4)


def test_translation_equals_plain_loops(six: Embeddings):
    objective = make_relation(relation="transe")(DIM, KINDS)
    torch.nn.init.normal_(objective.moves, generator=torch.Generator().manual_seed(1))
    torch.manual_seed(3)
    drawn = torch.randperm(N)
    lost = []
    for i, j in enumerate(drawn.tolist()):
        a, b = six.labels[1][[i, j]]
        if a == b or six.known[i, j] or six.no_negatives[a, b]:
            continue
        moved = six.text[0][i] + objective.moves[six.links[i]]
        near, far = (float((moved - six.text[1][k]).norm()) for k in (i, j))
        lost.append(max(0.0, 1 + near - far))
    assert 0 < len(lost) < N
    torch.manual_seed(3)
    assert objective(six).item() == pytest.approx(np.mean(lost), rel=1e-4)


def test_relations_that_move_nothing_give_the_loss_of_heads_against_tails(six: Embeddings):
    heads, tails = (normalize(view, dim=-1) for view in six.text)
    same = six.labels[1][:, None] == six.labels[1]
    spared = six.known | six.excluded(six.labels[1])
    loss = MinedLoss(miner="multi_similarity", margin=0.1)
    expected = loss.of(heads @ tails.T, same, ~(same | spared))
    for kind in ("bilinear", "diagonal"):
        objective = make_relation(relation=kind)(DIM, KINDS)
        assert objective(six).item() == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.parametrize("kind", ["bilinear", "diagonal", "transe"])
def test_the_gradient_reaches_the_relations_of_the_batch_alone(six: Embeddings, kind: str):
    objective = make_relation(relation=kind)(DIM, KINDS + 1)
    for seed in range(8):  # translations draw their negatives
        torch.manual_seed(seed)
        objective(replace(six, known=torch.eye(N, dtype=torch.bool))).backward()
    moved = objective.moves.grad.flatten(1).abs().sum(1)
    assert (moved[:KINDS] > 0).all()
    assert moved[KINDS] == 0
    assert (six.text.grad.abs().sum(-1) > 0).any()


def test_too_many_relations_for_a_matrix_each_are_refused():
    with pytest.raises(BergamotError, match=r"B231.* 65 .*diagonal or transe"):
        make_relation()(DIM, 65)
    assert make_relation(relation="diagonal")(DIM, 65).moves.shape == (65, DIM)


def test_tails_that_are_rotated_heads_are_found():
    """Two planted rotations: the right tail, at first found by chance, comes first."""
    generator = torch.Generator().manual_seed(0)
    heads = torch.randn(60, 8, generator=generator)
    turns = [torch.linalg.qr(torch.randn(8, 8, generator=generator))[0] for _ in range(2)]
    links = torch.arange(60) % 2
    tails = torch.stack([head @ turns[link] for head, link in zip(heads, links, strict=True)])
    labels = torch.arange(120).reshape(2, 60)
    none = torch.zeros(120, 120, dtype=torch.bool)
    known = torch.eye(60, dtype=torch.bool)
    batch = Embeddings(labels, none, torch.stack([heads, tails]), links=links, known=known)
    objective: RelationObjective = make_relation()(8, 2)

    def hits() -> float:
        moved = normalize(objective.move(heads, links), dim=-1)
        found = (moved @ normalize(tails, dim=-1).T).argmax(1)
        return float((found == torch.arange(60)).float().mean())

    assert hits() < 0.15
    optimizer = torch.optim.Adam(objective.parameters(), lr=0.03)
    for _ in range(150):
        optimizer.zero_grad()
        objective(batch).backward()
        optimizer.step()
    assert hits() > 0.8


def test_the_edge_mask_equals_brute_force(data: TrainingSet):
    rng = np.random.default_rng(0)
    targets = np.repeat(np.arange(data.n_concepts), np.diff(data.graph_indptr))
    edges = set(zip(data.graph_sources, data.graph_relations, targets, strict=True))
    labels, links = rng.integers(0, data.n_concepts, (2, 300)), rng.integers(0, 3, 300)
    mask = known_edges(data, labels, links)
    expected = [
        [(h, r, t) in edges for t in labels[1]] for h, r in zip(labels[0], links, strict=True)
    ]
    np.testing.assert_array_equal(mask, expected)
    assert mask.any()


def test_a_batch_has_distinct_names_of_both_ends_of_its_edges(data: TrainingSet):
    draws = TripleDraws(TripleBatches(size=16, names=3), data, seed=0)
    found = draws.draw(4)
    assert found.labels.shape == found.names.shape == (2, len(found.links))
    assert found.known.diagonal().all()
    for labels, names in zip(found.labels, found.names, strict=True):
        for concept, name in zip(labels, names, strict=True):
            start, end = data.node_names_indptr[concept : concept + 2]
            assert name in data.node_names[start:end]
    triples = np.stack([found.labels[0], found.links, found.labels[1]]).T
    kinds, places = np.unique(triples, axis=0, return_inverse=True)
    assert len(kinds) == 16
    for kind in range(16):
        for names in found.names[:, places == kind]:
            assert len(set(names.tolist())) == len(names) == 3


def test_edges_are_drawn_once_an_epoch_and_names_uniformly(data: TrainingSet):
    draws = TripleDraws(TripleBatches(size=20, names=1), data, seed=0)
    edges, names = [], []
    for step in range(draws.steps_per_epoch):
        found = draws.draw(step)
        edges += zip(*found.labels, found.links, strict=True)
        names += found.names.ravel().tolist()
    assert len(set(edges)) == len(edges) == len(data.graph_sources) // 20 * 20
    shares = []  # how often the first of a concept's three names stands for it
    for concept in range(data.n_concepts):
        start, end = data.node_names_indptr[concept : concept + 2]
        if end - start == 3:
            own = data.node_names[start:end].tolist()
            shares.append([names.count(name) for name in own])
    counts = np.sum(shares, axis=0)
    expected = counts.sum() / 3
    assert ((counts - expected) ** 2 / expected).sum() < 13.8  # chi-square, p = 0.001


def test_a_run_trains_the_relations_too_and_is_resumed_bit_identical(
    coder: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    whole = train(coder)
    history = json.loads((whole.parent / "history.json").read_text())
    assert {"text", "relation"} <= set(history[0])
    trained = load_file(whole.parent / "checkpoints/step-00000008/model.safetensors")
    assert not trained["objectives.relation.moves"].equal(torch.eye(32).expand(3, 32, 32))
    coder["paths"]["output"] = str(tmp_path / "resumed")
    interrupt(monkeypatch, 7)
    with pytest.raises(KeyboardInterrupt):
        train(coder)
    coder["batches"]["workers"] = 2
    assert equal(whole, train(coder))


def test_two_processes_take_the_steps_of_one(coder: Config, tmp_path: Path):
    """By matrices, and by translations, which draw their negatives at random."""
    translation = {"@objectives": "relation.v1", "relation": "transe"}
    coder["objectives"]["translation"] = translation
    coder["training"].update(max_steps=4, autocast="none")
    coder["batches"]["chunk_tokens"] = 60
    alone, together = train(coder).parent, run_launched(coder, 2, tmp_path)
    first, second = (json.loads((run / "history.json").read_text()) for run in (alone, together))
    for a, b in zip(first, second, strict=True):
        for name in ("total", "text", "relation", "translation", "grad_norm"):
            assert b[name] == pytest.approx(a[name], rel=1e-3), (name, a["step"])


def test_what_batches_do_not_have_is_named(coder: Config, config: Config):
    coder["batches"] = config["batches"]
    with pytest.raises(BergamotError, match=r"B230.*'relation' needs triples"):
        train(coder)
    config["batches"] = {"@batches": "triples.v1", "size": 4}
    config["paths"]["output"] += "_other"
    with pytest.raises(BergamotError, match=r"B230.*'node' needs graph"):
        train(config)


def test_a_batch_of_more_triples_than_there_are_is_refused(data: TrainingSet):
    with pytest.raises(BergamotError, match=r"B232.* 240 triples"):
        BatchMaker(data, None, TripleBatches(size=1000), seed=0, graph=False, pad=0)
