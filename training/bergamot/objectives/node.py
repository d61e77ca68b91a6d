"""L_node = MS([g_u; g_v]): the text objective over graph embeddings, with its own mining."""

from torch import Tensor

from training.bergamot.losses import Loss, MinedLoss
from training.bergamot.objectives import Embeddings, MakeObjective, Objective
from training.registry import registry


class NodeObjective(Objective):
    """Two views of one concept's neighbourhood attract (BERGAMOT, section 3)."""

    needs = "graph"

    def __init__(self, weight: float, loss: MinedLoss) -> None:
        super().__init__(weight)
        self.loss = loss

    def forward(self, embeddings: Embeddings) -> Tensor:
        assert embeddings.graph is not None
        labels = embeddings.labels.flatten()
        return self.loss(embeddings.graph.flatten(0, 1), labels, embeddings.excluded(labels))


@registry.objectives("node.v1")
def make_node(
    weight: float = 1.0,
    loss: Loss | None = None,
    margin: float | None = 0.2,
) -> MakeObjective:
    """Configure the node objective.

    loss (Loss | None): `[objectives.node.loss] @losses = "…"`; None is multi-similarity.
    margin (float | None): Of the miner; null switches mining off.
    """
    mined = MinedLoss(loss, margin=margin)
    return lambda dim, _: NodeObjective(weight, mined)
