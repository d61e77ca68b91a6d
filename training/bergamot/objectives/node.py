"""L_node = MS([g_u; g_v]): the text objective over graph embeddings, with its own mining."""

from collections.abc import Callable

from torch import Tensor

from training.bergamot.losses import MinedMultiSimilarity
from training.bergamot.objectives import VIEWS, Embeddings, Objective, stack_views
from training.registry import registry


class NodeObjective(Objective):
    """Two views of one concept's neighbourhood attract (BERGAMOT, section 3)."""

    needs_graph = True

    def __init__(self, weight: float, loss: MinedMultiSimilarity) -> None:
        super().__init__(weight)
        self.loss = loss

    def forward(self, embeddings: Embeddings) -> Tensor:
        assert embeddings.graph is not None
        labels = embeddings.labels.repeat(VIEWS)
        return self.loss(stack_views(embeddings.graph), labels, embeddings.excluded())


@registry.objectives("node.v1")
def make_node(
    weight: float = 1.0,
    alpha: float = 2.0,
    beta: float = 50.0,
    epsilon: float = 0.5,
    margin: float | None = 0.2,
) -> Callable[[int], Objective]:
    """Configure the node objective; `margin = null` switches mining off."""
    loss = MinedMultiSimilarity(alpha=alpha, beta=beta, epsilon=epsilon, margin=margin)
    return lambda dim: NodeObjective(weight, loss)
