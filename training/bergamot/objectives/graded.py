"""L = mean (cos(u, v) - s)²: names as near as their score says (HierCODER)."""

from torch import Tensor
from torch.nn import functional

from training.bergamot.objectives import Embeddings, MakeObjective, Objective
from training.registry import registry


class GradedObjective(Objective):
    """Cosines of the two views against the scores of the pairs."""

    needs = "targets"

    def forward(self, embeddings: Embeddings) -> Tensor:
        assert embeddings.targets is not None
        first, second = embeddings.text.float()
        cosines = functional.cosine_similarity(first, second)
        return functional.mse_loss(cosines, embeddings.targets)


@registry.objectives("graded.v1")
def make_graded(weight: float = 1.0) -> MakeObjective:
    """Configure the graded objective."""
    return lambda dim, _: GradedObjective(weight)
