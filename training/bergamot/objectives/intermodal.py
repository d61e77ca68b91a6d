"""L_intermodal = ½ Σ over views of MS([e; g]): text and graph embeddings of a concept attract."""

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from training.bergamot.losses import Loss, MinedLoss
from training.bergamot.objectives import Embeddings, MakeObjective, Objective
from training.registry import registry

Alignment = Literal["multi_similarity", "cosine", "mse"]


class IntermodalObjective(Objective):
    """Align e and g of a view by multi-similarity, by 1 - cosine, or by mean squared error."""

    needs = "graph"

    def __init__(self, weight: float, loss: MinedLoss, alignment: Alignment) -> None:
        super().__init__(weight)
        self.loss = loss
        self.alignment = alignment

    def forward(self, embeddings: Embeddings) -> Tensor:
        assert embeddings.graph is not None
        views = zip(embeddings.labels, embeddings.text, embeddings.graph, strict=True)
        losses = [self._view(embeddings, *view) for view in views]
        return torch.stack(losses).mean()

    def _view(self, embeddings: Embeddings, labels: Tensor, text: Tensor, graph: Tensor) -> Tensor:
        if self.alignment == "cosine":
            return (1 - functional.cosine_similarity(text.float(), graph.float())).mean()
        if self.alignment == "mse":
            return functional.mse_loss(text.float(), graph.float())
        both = labels.repeat(2)
        return self.loss(torch.cat([text, graph]), both, embeddings.excluded(both))


@registry.objectives("intermodal.v1")
def make_intermodal(
    weight: float = 1.0,
    loss: Loss | None = None,
    margin: float | None = 0.2,
    alignment: Alignment = "multi_similarity",
) -> MakeObjective:
    """Configure the intermodal objective.

    loss (Loss | None): `[objectives.intermodal.loss] @losses = "…"`; None is multi-similarity.
    margin (float | None): Of the miner; null switches mining off.
    alignment (str): "multi_similarity" for that loss, or "cosine" or "mse" without pairs.
    """
    mined = MinedLoss(loss, margin=margin)
    return lambda dim, _: IntermodalObjective(weight, mined, alignment)
