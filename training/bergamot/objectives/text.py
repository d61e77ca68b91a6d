"""L_text = MS([e_u; e_v]): names of one concept attract, names of different concepts repel."""

from collections.abc import Callable

from torch import Tensor

from training.bergamot.losses import Loss, MinedLoss
from training.bergamot.objectives import VIEWS, Embeddings, Objective, stack_views
from training.registry import registry


class TextObjective(Objective):
    """SapBERT's objective (Liu et al. 2021, eq. 3) over the text embeddings of both views."""

    def __init__(self, weight: float, loss: MinedLoss) -> None:
        super().__init__(weight)
        self.loss = loss

    def forward(self, embeddings: Embeddings) -> Tensor:
        """Return the loss of a batch, a scalar.

        embeddings (Embeddings): What the encoders made of the batch.
        """
        labels = embeddings.labels.repeat(VIEWS)
        return self.loss(stack_views(embeddings.text), labels, embeddings.excluded())


@registry.objectives("text.v1")
def make_text(
    weight: float = 1.0,
    loss: Loss | None = None,
    margin: float | None = 0.2,
) -> Callable[[int], Objective]:
    """Configure the text objective.

    loss (Loss | None): `[objectives.text.loss] @losses = "…"`; None is multi-similarity.
    margin (float | None): Of the miner; null switches mining off.
    """
    mined = MinedLoss(loss, margin=margin)
    return lambda dim: TextObjective(weight, mined)
