"""A metric loss over mined pairs, in exact O(B²) form and in blocks of rows where B is large."""

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from training.bergamot.losses.functions import Loss, make_multi_similarity, reduce_terms

BLOCK = 2048
"""Rows of the similarity matrix that are held at once."""


def pair_masks(
    labels: Tensor, excluded: Tensor | None = None, *, start: int = 0, stop: int | None = None
) -> tuple[Tensor, Tensor]:
    """Return masks of positive and negative pairs, bool (r, b), for the rows start to stop.

    labels (int64 (b,)): Concept of every item; equal labels are positives, an item never its own.
    excluded (bool (b, b)): Pairs that are no negatives, such as homonyms.
    """
    rows = slice(start, len(labels) if stop is None else stop)
    same = labels[rows, None] == labels[None, :]
    numbers = torch.arange(len(labels), device=labels.device)
    positives = same & (numbers[rows, None] != numbers[None, :])
    negatives = ~same if excluded is None else ~same & ~excluded[rows]
    return positives, negatives


@torch.no_grad()
def mine_triplet_margin(
    similarities: Tensor, positives: Tensor, negatives: Tensor, *, margin: float
) -> tuple[Tensor, Tensor]:
    """Keep the pairs that occur in some triplet with d(a, n) - d(a, p) <= margin.

    A positive is in such a triplet iff the nearest negative is, and a negative iff the farthest
    positive is, so no triplet is ever formed.

    similarities (float (r, b)): Cosines; d is the L2 distance of the unit vectors.
    RETURNS (bool (r, b), bool (r, b)): The positives and the negatives that are kept.
    """
    distances = (2 - 2 * similarities).clamp(min=0).sqrt()
    infinity = torch.inf
    nearest_negative = distances.masked_fill(~negatives, infinity).amin(1, keepdim=True)
    farthest_positive = distances.masked_fill(~positives, -infinity).amax(1, keepdim=True)
    kept_positives = positives & (nearest_negative - distances <= margin)
    kept_negatives = negatives & (distances - farthest_positive <= margin)
    return kept_positives, kept_negatives


@torch.no_grad()
def mine_multi_similarity(
    similarities: Tensor, positives: Tensor, negatives: Tensor, *, margin: float
) -> tuple[Tensor, Tensor]:
    """Keep what is hard for its anchor (Wang et al. 2019, eq. 7 and 8).

    A negative is kept if it is more similar than the least similar positive less the margin, a
    positive if it is less similar than the most similar negative plus the margin. Where an anchor
    has no positive, or no negative, all that it has of the other is easy.

    similarities (float (r, b)): Cosines.
    RETURNS (bool (r, b), bool (r, b)): The positives and the negatives that are kept.
    """
    infinity = torch.inf
    least_positive = similarities.masked_fill(~positives, infinity).amin(1, keepdim=True)
    most_negative = similarities.masked_fill(~negatives, -infinity).amax(1, keepdim=True)
    kept_positives = positives & (similarities < most_negative + margin)
    kept_negatives = negatives & (similarities > least_positive - margin)
    return kept_positives, kept_negatives


MinerName = Literal["triplet_margin", "multi_similarity"]
_MINERS = {"triplet_margin": mine_triplet_margin, "multi_similarity": mine_multi_similarity}


class MinedLoss(torch.nn.Module):
    """Mine pairs and return a metric loss over them.

    loss (Loss | None): From `training.bergamot.losses.functions`; None is multi-similarity.
    miner (str): "triplet_margin" or "multi_similarity".
    margin (float | None): Margin of the miner; None keeps every pair.
    """

    def __init__(
        self,
        loss: Loss | None = None,
        *,
        miner: MinerName = "triplet_margin",
        margin: float | None = 0.2,
        block: int = BLOCK,
    ) -> None:
        super().__init__()
        self.loss = loss or make_multi_similarity()
        self.mine = _MINERS[miner]
        self.margin = margin
        self.block = block

    def forward(self, embeddings: Tensor, labels: Tensor, excluded: Tensor | None = None) -> Tensor:
        """Return the loss of `embeddings` (b, d) under `labels` (b,), computed in float32.

        Above `block` rows the matrix is computed in blocks, and again in the backward pass, so
        that memory grows with b and not with b².
        """
        unit = functional.normalize(embeddings.float(), dim=-1)
        count = len(unit)
        if count <= self.block or getattr(self.loss, "whole", False):
            return reduce_terms(self._terms(unit, labels, excluded, 0, count))
        starts = range(0, count, self.block)
        terms = [
            checkpoint(
                self._terms,
                unit,
                labels,
                excluded,
                start,
                min(start + self.block, count),
                use_reentrant=False,
                preserve_rng_state=False,
            )
            for start in starts
        ]
        return reduce_terms(torch.stack(terms).sum(0))

    def of(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> Tensor:
        """Return the loss of anchors against candidates that are not the same items.

        similarities (float (r, b)): Cosines; anchors in rows.
        positives, negatives (bool (r, b)): Which pairs are which; some are neither.
        """
        return reduce_terms(self._mined(similarities, positives, negatives))

    def _terms(
        self, unit: Tensor, labels: Tensor, excluded: Tensor | None, start: int, stop: int
    ) -> Tensor:
        similarities = unit[start:stop] @ unit.T
        positives, negatives = pair_masks(labels, excluded, start=start, stop=stop)
        return self._mined(similarities, positives, negatives)

    def _mined(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> Tensor:
        if self.margin is not None:
            positives, negatives = self.mine(similarities, positives, negatives, margin=self.margin)
        return self.loss(similarities, positives, negatives)
