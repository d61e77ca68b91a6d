"""OntoEA learns which concepts of two graphs are the same."""

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix
from torch.nn.functional import normalize

from tests.training.align.graphs import copied
from training.align.ontoea import schedule
from training.align.ontoea import train as training
from training.align.ontoea.classes import Classes
from training.align.ontoea.measure import figures, nearest_pairs, ranks
from training.align.ontoea.model import OntoEA, limit_loss
from training.align.ontoea.nearest import Pool, nearest
from training.align.ontoea.schedule import Schedule, Settings
from training.align.ontoea.train import train
from training.errors import BergamotError

QUICK = Settings(iterations=3, validate_every=1)


def conflicts(members: list[tuple[int, str]], seeds: list[tuple[int, int]]) -> dict:
    classes = Classes.of(["T047", "T191", "T023", "T184", "MINE"])
    rows, types = zip(*members, strict=True) if members else ((), ())
    at = [classes.ids.index(one) for one in types]
    table = csr_matrix((np.ones(len(at)), (rows, at)), shape=(9, len(classes.ids)))
    found = classes.conflicts(table, np.array(seeds, dtype=np.int64).reshape(-1, 2))
    assert (found == found.T).all()
    return {
        (one, other): found[row, column]
        for row, one in enumerate(classes.ids)
        for column, other in enumerate(classes.ids)
    }


def test_conflicts_follow_from_the_tree():
    found = conflicts([], [])
    assert found["T047", "T047"] == 0
    # B2.2.1.2.1 and B2.2.1.2.1.2: of seven on both paths to the root they have six in common.
    assert found["T047", "T191"] == pytest.approx(1 / 7)
    # A1.2.3.1 and A2.2.2 have only A in common, of eight.
    assert found["T023", "T184"] == pytest.approx(7 / 8)
    assert found["T047", "T023"] == 1
    assert found["MINE", "T047"] == 1


def test_classes_of_one_concept_or_of_a_seed_do_not_conflict():
    assert conflicts([(0, "T047"), (0, "T023")], [])["T047", "T023"] == 0
    assert conflicts([(0, "T047"), (1, "T023")], [(0, 1)])["T023", "T047"] == 0
    assert conflicts([(0, "T047"), (1, "T023")], [])["T023", "T047"] == 1


def test_the_nearest_are_those_of_brute_force():
    vectors = normalize(torch.randn((50, 8), generator=torch.Generator().manual_seed(0)))
    found = nearest(vectors, 7)
    for row in range(50):
        cosines = (vectors[row] @ vectors.T).tolist()
        others = sorted((other for other in range(50) if other != row), key=lambda o: -cosines[o])
        assert set(found[row].tolist()) == set(others[:7])


def test_negatives_are_of_one_graph_and_near():
    vectors = normalize(torch.randn((50, 8), generator=torch.Generator().manual_seed(0)))
    pool = Pool.nearest_of(vectors, (30, 20), 0.9)
    drawn = pool.draw(torch.arange(50), 40, torch.Generator().manual_seed(0))
    near = nearest(vectors[:30], 3).tolist() + (nearest(vectors[30:], 2) + 30).tolist()
    assert [set(row) for row in drawn.tolist()] == [set(row) for row in near]
    every = Pool.all_of((30, 20), torch.device("cpu"))
    drawn = every.draw(torch.arange(50), 400, torch.Generator().manual_seed(0))
    assert set(drawn[3].tolist()) == {*range(30)}
    assert set(drawn[40].tolist()) == {*range(30, 50)}


def a_model() -> tuple[OntoEA, torch.Tensor, torch.Tensor]:
    """Return a model with seeds, and its unit vectors of entities and classes."""
    graphs, pairs, start = copied(12, triples=40, relations=3, dim=8)
    torch.manual_seed(0)
    model = OntoEA(graphs, graphs.entities(pairs[:4]), torch.from_numpy(start))
    return model, normalize(model.entities).detach(), normalize(model.classes).detach()


def test_the_loss_of_triples_is_that_of_loops():
    model, entities, _ = a_model()
    graphs = copied(12, triples=40, relations=3, dim=8).graphs
    triples = torch.from_numpy(graphs.triples)
    known = {tuple(triple) for triple in triples.tolist()}
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randint(12, (len(triples), 5), generator=generator)
    of_head = torch.rand(len(triples), generator=generator) < 0.5
    relations = normalize(model.relations).detach()

    def distance(h: int, r: int, t: int) -> float:
        return float(((entities[h] + relations[r] - entities[t]) ** 2).sum())

    total = 0.0
    for (h, r, t), others, head in zip(triples.tolist(), drawn.tolist(), of_head, strict=True):
        total += max(0.0, distance(h, r, t) - 0.01)
        for other in others:
            negative = (other, r, t) if head else (h, r, other)
            if negative not in known:
                total += 0.2 * max(0.0, 2 - distance(*negative))
    assert model.triple_loss(triples, drawn, of_head).item() == pytest.approx(total, rel=1e-4)


def test_the_losses_of_classes_are_those_of_loops():
    model, entities, classes = a_model()
    pairs, drawn = torch.tensor([[0, 2], [5, 1]]), torch.tensor([[0, 3], [1, 3]])

    def mapped(vector: torch.Tensor, by: torch.nn.Linear) -> torch.Tensor:
        return normalize(torch.tanh(vector @ by.weight.T + by.bias), dim=0)

    def limit(near: list, far: list) -> float:
        apart = (max(0.0, 2 - (a - b).pow(2).sum().item()) for a, b in far)
        return sum(max(0.0, (a - b).pow(2).sum().item() - 0.01) for a, b in near) + 0.2 * sum(apart)

    own = [mapped(entities[e], model.membership) for e in (0, 5)]
    members = model.members
    far = [(own[i], classes[c]) for i in (0, 1) for c in drawn[i] if not members[(0, 5)[i], c]]
    expected = limit([(own[0], classes[2]), (own[1], classes[1])], far)
    assert model.membership_loss(pairs, drawn).item() == pytest.approx(expected, rel=1e-4)

    of_child, paths = torch.tensor([True, False]), model.paths
    far = [(c, 2) for c in (0, 3) if not paths[c, 2]] + [(5, c) for c in (1, 3) if not paths[5, c]]
    up = {c: mapped(classes[c], model.upward) for c in range(len(classes))}
    expected = limit(
        [(up[0], classes[2]), (up[5], classes[1])], [(up[one], classes[of]) for one, of in far]
    )
    assert model.class_loss(pairs, drawn, of_child).item() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("of_left", [True, False])
def test_the_loss_of_seeds_is_that_of_loops(of_left):
    model, entities, _ = a_model()
    with torch.no_grad():
        model.mapping += 0.1 * torch.randn((8, 8), generator=torch.Generator().manual_seed(0))
    seeds, drawn = torch.tensor([[0, 12], [3, 15]]), torch.tensor([[0, 1], [4, 5]])
    drawn = drawn if of_left else drawn + 12

    def distance(one: int, other: int) -> torch.Tensor:
        return (entities[one] @ model.mapping - entities[other]).pow(2).sum()

    near = torch.stack([distance(*seed) for seed in seeds.tolist()])
    far = torch.stack(
        [
            torch.stack([distance(o, seed[1]) if of_left else distance(seed[0], o) for o in others])
            for seed, others in zip(seeds.tolist(), drawn.tolist(), strict=True)
        ]
    )
    is_other = torch.tensor([[False, True], [True, True]])
    orthogonal = (model.mapping @ model.mapping.T - torch.eye(8)).pow(2).sum()
    alike = (model.classes_of(seeds[:, 0]) - model.classes_of(seeds[:, 1])).pow(2).sum()
    expected = 5 * (limit_loss(near, far, is_other) + orthogonal) + alike
    assert model.alignment_loss(seeds, drawn, of_left=of_left).item() == pytest.approx(
        expected.item(), rel=1e-4
    )


def test_a_permuted_copy_is_found(tmp_path: Path):
    graphs, pairs, start = copied()
    seeds, test = np.split(pairs, [len(pairs) * 3 // 10])
    settings = Settings(iterations=20)
    trained = train(graphs, seeds, test, start, tmp_path / "run", settings=settings)
    assert trained.history[-1]["iteration"] == 20
    for csls in (False, True):
        assert figures(ranks(trained.left, trained.right, test, csls=csls))["hits@1"] > 0.9


def test_the_mapping_stays_near_orthogonal():
    graphs, pairs, start = copied()
    torch.manual_seed(0)
    model = OntoEA(graphs, graphs.entities(pairs[:12]), torch.from_numpy(start))
    learning = Schedule(model, graphs, graphs.entities(pairs[:12]), QUICK)
    for iteration in range(3):
        learning.run(iteration)
    stretched = torch.linalg.svdvals(model.mapping.detach())
    assert 0.8 < stretched.min() < 0.999
    assert stretched.max() < 1.2


@pytest.mark.parametrize("epochs", [0, 40])
def test_homonyms_of_disjoint_classes_are_kept_apart_by_conflicts(epochs, monkeypatch):
    monkeypatch.setitem(schedule.RATES, "C", 0.05)  # a whole run has more epochs
    graphs, _, start = copied(types=("T047", "T023"))
    homonyms = [graphs.members[:40, at].nonzero()[0][0] for at in range(len(graphs.classes.ids))
                if graphs.members[:40, at].nnz]  # fmt: skip
    start[homonyms] = start[homonyms[0]]
    torch.manual_seed(0)
    nothing = np.zeros((0, 2), dtype=np.int64)
    model = OntoEA(graphs, nothing, torch.from_numpy(start))
    with torch.no_grad():  # classes that begin alike
        model.classes.copy_(model.classes[0] + 0.1 * model.classes)
    settings = Settings(epochs={"C": epochs})
    Schedule(model, graphs, nothing, settings).run(0)
    left, _ = model.vectors(0.5)
    same = float(left[homonyms[0]] @ left[homonyms[1]])
    assert same < 0.6 if epochs else same > 0.9


class Interrupted(Exception):
    pass


def test_a_resumed_run_ends_with_the_same(tmp_path: Path, monkeypatch):
    graphs, pairs, start = copied(20, triples=60)
    given = (graphs, pairs[:6], pairs[6:9], start)
    whole = train(*given, tmp_path / "one", settings=QUICK)
    own = Schedule.run

    def run(self: Schedule, iteration: int) -> dict[str, float]:
        if iteration == 2:
            raise Interrupted
        return own(self, iteration)

    monkeypatch.setattr(Schedule, "run", run)
    with pytest.raises(Interrupted):
        train(*given, tmp_path / "two", settings=QUICK)
    monkeypatch.undo()
    with pytest.raises(BergamotError, match="B040"):
        train(graphs, pairs[:5], pairs[6:9], start, tmp_path / "two", settings=QUICK)
    torch.rand(3)  # what else was drawn in between does not count
    resumed = train(*given, tmp_path / "two", settings=QUICK)
    assert resumed.history == whole.history
    assert (resumed.left == whole.left).all()
    assert (resumed.right == whole.right).all()
    monkeypatch.setattr(Schedule, "run", None)
    again = train(*given, tmp_path / "two", settings=QUICK)
    assert (again.left == whole.left).all()


def test_a_broken_checkpoint_is_refused(tmp_path: Path):
    graphs, pairs, start = copied(20, triples=60)
    (tmp_path / "run").mkdir()
    (tmp_path / "run/manifest.json").write_text("{}", "utf8")
    with pytest.raises(BergamotError, match="B243"):
        train(graphs, pairs[:6], pairs[6:9], start, tmp_path / "run", settings=QUICK)


def test_it_stops_when_hits_have_not_risen_twice_running():
    for hits, over in (([0.1, 0.2, 0.2], False), ([0.2, 0.2, 0.1], True), ([0.2, 0.1], False)):
        assert training._is_over([{"hits@1": one} for one in hits]) is over


def test_ranks_are_among_all_and_ties_count_against():
    left = np.eye(3, dtype=np.float32)
    right = np.array([[1, 0, 0], [0.5, 1, 0], [0.5, 1, 1]], dtype=np.float32)
    pairs = np.array([[0, 0], [1, 1], [0, 2]])
    found = ranks(left, right, pairs, csls=False)
    assert found.tolist() == [1, 2, 3]
    assert figures(found) == {
        "hits@1": 0.3333, "hits@5": 1, "hits@10": 1, "mr": 2,
        "mrr": pytest.approx((1 + 1 / 2 + 1 / 3) / 3, abs=1e-4),
    }  # fmt: skip
    # The third is near to all on average, and that is taken off.
    assert ranks(left, right, np.array([[1, 1]]), csls=True).tolist() == [1]


def test_the_nearest_of_either_side_are_pairs():
    left = np.array([[1, 0], [0.8, 0.1]], dtype=np.float32)
    right = np.array([[1, 0], [0, 1], [0.5, 0.1]], dtype=np.float32)
    assert nearest_pairs(left, right, 1).tolist() == [[0, 0], [0, 2], [1, 0], [1, 1]]
