import pytest
import torch
from pytorch_metric_learning import distances, losses
from pytorch_metric_learning.miners import MultiSimilarityMiner, TripletMarginMiner
from torch import Tensor
from torch.nn import functional

from training.bergamot.losses import MinedLoss, mine_triplet_margin, pair_masks
from training.registry import registry

REFERENCES = {
    "multi_similarity.v1": lambda: losses.MultiSimilarityLoss(alpha=2, beta=50, base=0.5),
    "cosine.v1": lambda: losses.ContrastiveLoss(1, 0, distance=distances.CosineSimilarity()),
    "triplet.v1": lambda: losses.TripletMarginLoss(margin=0.2),
    "nca.v1": lambda: losses.NCALoss(softmax_scale=20),
    "infonce.v1": lambda: losses.NTXentLoss(temperature=0.07),
    "circle.v1": lambda: losses.CircleLoss(m=0.25, gamma=256),
    "lifted_structure.v1": lambda: losses.LiftedStructureLoss(neg_margin=0.5),
}


def batch(seed: int, items: int = 40, concepts: int = 12) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(concepts, (items,), generator=generator)
    centres = torch.randn(concepts, 16, generator=generator)
    embeddings = centres[labels] + 1.2 * torch.randn(items, 16, generator=generator)
    return embeddings.requires_grad_(), labels


def compare(ours: MinedLoss, reference, embeddings: Tensor, labels: Tensor, mined=None) -> None:
    reference_input = embeddings.detach().clone().requires_grad_()
    expected = reference(reference_input, labels, mined)
    found = ours(embeddings, labels)
    assert found.item() == pytest.approx(expected.item(), rel=1e-4)
    found.backward()
    expected.backward()
    torch.testing.assert_close(embeddings.grad, reference_input.grad, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_every_loss_and_its_gradient_equal_pytorch_metric_learning(name: str, seed: int):
    embeddings, labels = batch(seed)
    ours = MinedLoss(registry.losses.get(name)(), margin=None)
    compare(ours, REFERENCES[name](), embeddings, labels)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", ["multi_similarity.v1", "triplet.v1", "circle.v1"])
def test_mined_loss_and_gradient_equal_pytorch_metric_learning(name: str, seed: int):
    embeddings, labels = batch(seed)
    mined = TripletMarginMiner(margin=0.2, type_of_triplets="all")(embeddings.detach(), labels)
    compare(MinedLoss(registry.losses.get(name)()), REFERENCES[name](), embeddings, labels, mined)


@pytest.mark.parametrize("seed", range(8))
def test_multi_similarity_miner_and_loss_equal_pytorch_metric_learning(seed: int):
    embeddings, labels = batch(seed, items=60)
    mined = MultiSimilarityMiner(epsilon=0.1)(embeddings.detach(), labels)
    ours = MinedLoss(miner="multi_similarity", margin=0.1)
    compare(ours, REFERENCES["multi_similarity.v1"](), embeddings, labels, mined)
    assert len(mined[0]) < 60 * 59, "everything was hard"


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_blocks_of_rows_change_nothing(name: str):
    embeddings, labels = batch(5)
    again = embeddings.detach().clone().requires_grad_()
    loss = registry.losses.get(name)()
    whole, parts = MinedLoss(loss)(embeddings, labels), MinedLoss(loss, block=7)(again, labels)
    assert parts.item() == pytest.approx(whole.item(), rel=1e-5)
    whole.backward()
    parts.backward()
    torch.testing.assert_close(embeddings.grad, again.grad, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", sorted(REFERENCES))
@pytest.mark.parametrize("labels", [[0, 1, 2, 3], [0, 0, 0, 0], [0, 0, 1, 1]])
def test_losses_are_finite_where_nothing_can_be_compared(name: str, labels: list[int]):
    embeddings = torch.ones(4, 4, requires_grad=True)
    loss = MinedLoss(registry.losses.get(name)(), margin=None)(embeddings, torch.tensor(labels))
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(embeddings.grad).all()


@pytest.mark.parametrize("seed", range(4))
def test_miner_equals_plain_loops_over_triplets(seed: int):
    embeddings, labels = batch(seed, items=18, concepts=5)
    unit = functional.normalize(embeddings.detach(), dim=-1)
    positives, negatives = pair_masks(labels)
    kept_p, kept_n = mine_triplet_margin(unit @ unit.T, positives, negatives, margin=0.2)
    distance = (unit[:, None] - unit[None]).norm(dim=-1)
    loop_p, loop_n = torch.zeros_like(kept_p), torch.zeros_like(kept_n)
    for a in range(len(labels)):
        for p in range(len(labels)):
            for n in range(len(labels)):
                same = p != a and labels[p] == labels[a]
                if same and labels[n] != labels[a] and distance[a, n] - distance[a, p] <= 0.2:
                    loop_p[a, p] = loop_n[a, n] = True
    assert kept_p.equal(loop_p)
    assert kept_n.equal(loop_n)


def test_loss_without_mining_equals_the_printed_sum():
    embeddings, labels = batch(3, items=12, concepts=4)
    unit = functional.normalize(embeddings.detach(), dim=-1)
    total = 0.0
    for i in range(12):
        pull = push = 0.0
        for j in range(12):
            similarity = float(unit[i] @ unit[j])
            if i != j and labels[i] == labels[j]:
                pull += torch.exp(torch.tensor(-2 * (similarity - 0.5))).item()
            elif labels[i] != labels[j]:
                push += torch.exp(torch.tensor(50 * (similarity - 0.5))).item()
        total += torch.log1p(torch.tensor(pull)).item() / 2
        total += torch.log1p(torch.tensor(push)).item() / 50
    loss = MinedLoss(margin=None)(embeddings, labels)
    assert loss.item() == pytest.approx(total / 12, rel=1e-4)


def test_excluded_pairs_are_no_negatives():
    embeddings, _ = batch(1, items=6)
    labels = torch.tensor([0, 1, 0, 1, 0, 1])
    excluded = labels[:, None] != labels[None, :]
    kept = MinedLoss(margin=None)(embeddings, labels)
    without = MinedLoss(margin=None)(embeddings, labels, excluded)
    assert without.item() < kept.item()
    all_different = torch.arange(6)
    nothing = MinedLoss()(embeddings, all_different, ~torch.eye(6, dtype=torch.bool))
    assert nothing.item() == 0.0
