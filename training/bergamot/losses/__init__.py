"""Metric losses and the miner, in exact O(B²) form."""

from training.bergamot.losses.functions import Loss
from training.bergamot.losses.mined import MinedLoss, mine_triplet_margin, pair_masks

__all__ = ["Loss", "MinedLoss", "mine_triplet_margin", "pair_masks"]
