import pytest
import torch
from pytorch_metric_learning.losses import MultiSimilarityLoss
from pytorch_metric_learning.miners import TripletMarginMiner
from torch import Tensor
from torch.nn import functional

from training.bergamot.losses import MinedMultiSimilarity, mine_triplet_margin, pair_masks


def batch(seed: int, items: int = 40, concepts: int = 12) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(concepts, (items,), generator=generator)
    centres = torch.randn(concepts, 16, generator=generator)
    embeddings = centres[labels] + 1.2 * torch.randn(items, 16, generator=generator)
    return embeddings.double().requires_grad_(), labels


@pytest.mark.parametrize("seed", range(8))
def test_loss_and_gradient_equal_pytorch_metric_learning(seed: int):
    embeddings, labels = batch(seed)
    reference_input = embeddings.detach().float().requires_grad_()
    miner = TripletMarginMiner(margin=0.2, type_of_triplets="all")
    reference = MultiSimilarityLoss(alpha=2, beta=50, base=0.5)(
        reference_input, labels, miner(reference_input, labels)
    )
    ours_input = embeddings.detach().float().requires_grad_()
    ours = MinedMultiSimilarity()(ours_input, labels)
    assert ours.item() == pytest.approx(reference.item(), rel=1e-5)
    ours.backward()
    reference.backward()
    torch.testing.assert_close(ours_input.grad, reference_input.grad, rtol=1e-4, atol=1e-6)


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
    loss = MinedMultiSimilarity(margin=None)(embeddings, labels)
    assert loss.item() == pytest.approx(total / 12, rel=1e-4)


def test_excluded_pairs_are_no_negatives():
    embeddings, _ = batch(1, items=6)
    labels = torch.tensor([0, 1, 0, 1, 0, 1])
    excluded = labels[:, None] != labels[None, :]
    kept = MinedMultiSimilarity(margin=None)(embeddings, labels)
    without = MinedMultiSimilarity(margin=None)(embeddings, labels, excluded)
    assert without.item() < kept.item()
    all_different = torch.arange(6)
    nothing = MinedMultiSimilarity()(embeddings, all_different, ~torch.eye(6, dtype=torch.bool))
    assert nothing.item() == 0.0


def test_loss_is_finite_for_equal_embeddings():
    embeddings = torch.ones(8, 4, requires_grad=True)
    loss = MinedMultiSimilarity()(embeddings, torch.tensor([0, 0, 1, 1, 2, 2, 3, 3]))
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(embeddings.grad).all()
