"""The loss of xMEN's cross-encoder (Borchert et al. 2025): cross-entropy and rank regularisation.

L = Σ_i y_i (-s_i + log Σ_j exp(s_j)) + λ |s - c|, of one mention's candidates and NIL with logits
s; y says which are right, several add up; c are the generator's scores. The norm is not squared,
and NIL, which no generator scores, is left out of it.
"""

import torch
from torch import Tensor

_TINY = 1e-12  # the root of 0 has no gradient


def ranking_loss(logits: Tensor, right: Tensor, scores: Tensor, *, rank_weight: float) -> Tensor:
    """Return the loss of one mention.

    logits (Tensor): float32 (k + 1,), of its candidates, then of NIL.
    right (Tensor): bool (k + 1,).
    scores (Tensor): float32 (k,), the generator's.
    rank_weight (float): λ; the larger, the more the generator's order stays.
    """
    chosen = -logits.log_softmax(0)[right].sum()
    distance = ((logits[:-1] - scores) ** 2).sum()
    return chosen + rank_weight * torch.sqrt(distance + _TINY)
