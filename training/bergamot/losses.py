"""Multi-similarity loss and the triplet-margin miner, in exact O(B²) form."""

import torch
from torch import Tensor
from torch.nn import functional


def pair_masks(labels: Tensor, excluded: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Return masks of positive and negative pairs, bool (b, b).

    labels (int64 (b,)): Concept of every item; equal labels are positives, an item never its own.
    excluded (bool (b, b)): Pairs that are no negatives, such as homonyms.
    """
    same = labels[:, None] == labels[None, :]
    positives = same & ~torch.eye(len(labels), dtype=torch.bool, device=labels.device)
    negatives = ~same if excluded is None else ~same & ~excluded
    return positives, negatives


@torch.no_grad()
def mine_triplet_margin(
    similarities: Tensor, positives: Tensor, negatives: Tensor, *, margin: float
) -> tuple[Tensor, Tensor]:
    """Keep the pairs that occur in some triplet with d(a, n) - d(a, p) <= margin.

    A positive is in such a triplet iff the nearest negative is, and a negative iff the farthest
    positive is, so no triplet is ever formed.

    similarities (float (b, b)): Cosines; d is the L2 distance of the unit vectors.
    RETURNS (bool (b, b), bool (b, b)): The positives and the negatives that are kept.
    """
    distances = (2 - 2 * similarities).clamp(min=0).sqrt()
    infinity = torch.inf
    nearest_negative = distances.masked_fill(~negatives, infinity).amin(1, keepdim=True)
    farthest_positive = distances.masked_fill(~positives, -infinity).amax(1, keepdim=True)
    kept_positives = positives & (nearest_negative - distances <= margin)
    kept_negatives = negatives & (distances - farthest_positive <= margin)
    return kept_positives, kept_negatives


def multi_similarity(
    similarities: Tensor,
    positives: Tensor,
    negatives: Tensor,
    *,
    alpha: float,
    beta: float,
    epsilon: float,
) -> Tensor:
    """Return the multi-similarity loss (Wang et al. 2019, eq. 10), a scalar.

    1/|X| · Σ_i [ 1/α · log(1 + Σ_p exp(-α(S_ip - ε))) + 1/β · log(1 + Σ_n exp(β(S_in - ε))) ];
    an anchor without mined pairs adds 0 and counts in |X|.

    similarities (float (b, b)): Cosines.
    positives, negatives (bool (b, b)): Mined pairs, anchors in rows.
    """
    pulled = _log1p_sum_exp(-alpha * (similarities - epsilon), positives) / alpha
    pushed = _log1p_sum_exp(beta * (similarities - epsilon), negatives) / beta
    return (pulled + pushed).mean()


def _log1p_sum_exp(values: Tensor, mask: Tensor) -> Tensor:
    """Return log(1 + Σ exp(values)) over the masked entries of every row, without overflow."""
    masked = values.masked_fill(~mask, -torch.inf)
    return torch.logsumexp(functional.pad(masked, (1, 0)), dim=1)


class MinedMultiSimilarity(torch.nn.Module):
    """Mine pairs with the triplet-margin miner and return their multi-similarity loss.

    alpha, beta (float): Sharpness on positives and on negatives.
    epsilon (float): Similarity at which a pair is neither pulled nor pushed.
    margin (float | None): Margin of the miner; None keeps every pair.
    """

    def __init__(
        self,
        *,
        alpha: float = 2.0,
        beta: float = 50.0,
        epsilon: float = 0.5,
        margin: float | None = 0.2,
    ) -> None:
        super().__init__()
        self.alpha = alpha
        self.beta = beta
        self.epsilon = epsilon
        self.margin = margin

    def forward(self, embeddings: Tensor, labels: Tensor, excluded: Tensor | None = None) -> Tensor:
        """Return the loss of `embeddings` (b, d) under `labels` (b,), computed in float32."""
        unit = functional.normalize(embeddings.float(), dim=-1)
        similarities = unit @ unit.T
        positives, negatives = pair_masks(labels, excluded)
        if self.margin is not None:
            positives, negatives = mine_triplet_margin(
                similarities, positives, negatives, margin=self.margin
            )
        return multi_similarity(
            similarities,
            positives,
            negatives,
            alpha=self.alpha,
            beta=self.beta,
            epsilon=self.epsilon,
        )
