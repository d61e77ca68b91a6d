"""Metric losses and the miners, in exact O(B²) form."""

from training.bergamot.losses.functions import Loss
from training.bergamot.losses.mined import (
    MinedLoss,
    MinerName,
    mine_multi_similarity,
    mine_triplet_margin,
    pair_masks,
)

__all__ = [
    "Loss",
    "MinedLoss",
    "MinerName",
    "mine_multi_similarity",
    "mine_triplet_margin",
    "pair_masks",
]
