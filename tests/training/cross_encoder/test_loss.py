"""The loss, by hand."""

import math

import pytest
import torch

from training.cross_encoder.loss import ranking_loss

LOGITS = torch.tensor([1.0, 2.0, -1.0, 0.5])
SCORES = torch.tensor([0.9, 0.4, 0.1])


def test_two_golds_of_three_candidates_by_hand():
    right = torch.tensor([True, False, True, False])
    total = math.log(sum(math.exp(s) for s in (1.0, 2.0, -1.0, 0.5)))
    entropy = (-1.0 + total) + (1.0 + total)
    distance = math.sqrt(0.1**2 + 1.6**2 + 1.1**2)  # NIL, which has no score, is left out
    loss = ranking_loss(LOGITS, right, SCORES, rank_weight=2.0)
    assert loss.item() == pytest.approx(entropy + 2 * distance, rel=1e-5)


def test_nil_alone_by_hand_and_without_regularisation():
    right = torch.tensor([False, False, False, True])
    total = math.log(sum(math.exp(s) for s in (1.0, 2.0, -1.0, 0.5)))
    loss = ranking_loss(LOGITS, right, SCORES, rank_weight=0.0)
    assert loss.item() == pytest.approx(total - 0.5, rel=1e-5)


def test_where_logits_are_the_scores_there_is_a_gradient():
    logits = torch.tensor([*SCORES.tolist(), 0.0], requires_grad=True)
    ranking_loss(
        logits, torch.tensor([True, False, False, False]), SCORES, rank_weight=1
    ).backward()
    assert torch.isfinite(logits.grad).all()


@pytest.mark.parametrize(("rank_weight", "best"), [(1000.0, 0), (0.01, 2)])
def test_a_large_weight_keeps_the_generators_order(rank_weight: float, best: int):
    logits = torch.zeros(4, requires_grad=True)
    optimizer = torch.optim.Adam([logits], lr=0.02)
    right = torch.tensor([False, False, True, False])
    for _ in range(200):
        optimizer.zero_grad()
        ranking_loss(logits, right, SCORES, rank_weight=rank_weight).backward()
        optimizer.step()
    order = logits.detach()[:-1].argsort(descending=True).tolist()
    assert order[0] == best
    if best == 0:
        assert order == [0, 1, 2]
