"""L_text = MS([e_u; e_v]): names of one concept attract, names of different concepts repel."""

from torch import Tensor

from training.bergamot.losses import Loss, MinedLoss, MinerName
from training.bergamot.objectives import Embeddings, MakeObjective, Objective
from training.registry import registry


class TextObjective(Objective):
    """SapBERT's objective (Liu et al. 2021, eq. 3) over the text embeddings of both views."""

    def __init__(self, weight: float, loss: MinedLoss) -> None:
        super().__init__(weight)
        self.loss = loss

    def forward(self, embeddings: Embeddings) -> Tensor:
        labels = embeddings.labels.flatten()
        return self.loss(embeddings.text.flatten(0, 1), labels, embeddings.excluded(labels))


@registry.objectives("text.v1")
def make_text(
    weight: float = 1.0,
    loss: Loss | None = None,
    miner: MinerName = "triplet_margin",
    margin: float | None = 0.2,
) -> MakeObjective:
    """Configure the text objective.

    loss (Loss | None): `[objectives.text.loss] @losses = "…"`; None is multi-similarity.
    miner (str): "triplet_margin", or "multi_similarity", as CODER.
    margin (float | None): Of the miner; null switches mining off.
    """
    mined = MinedLoss(loss, miner=miner, margin=margin)
    return lambda dim, _: TextObjective(weight, mined)
