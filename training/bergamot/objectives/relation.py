"""L_rel (CODER, Yuan et al. 2022): a head moved by its relation is near its tails.

S_ij = cos(M_{r_i}ᵀ e_{h_i}, e_{t_j}), mined, with multi-similarity over the rows; positive where
t_j = t_i, the diagonal among them. Where (h_i, r_i, t_j) is an edge too, or t_j shares a name with
t_i, the pair is no negative; the original pushes these apart.
"""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.bergamot.losses import MinedLoss
from training.bergamot.objectives import Embeddings, MakeObjective, Objective
from training.errors import BergamotError, Errors
from training.registry import registry

Relation = Literal["bilinear", "diagonal", "transe"]
MOST = 64
"""Matrices of d² weights each: 900 relations of a 768 wide model would be 531 million."""


class RelationObjective(Objective):
    """Heads near their tails, by a matrix, a diagonal one, or a translation per relation."""

    needs = "triples"

    def __init__(
        self, weight: float, loss: MinedLoss, relation: Relation, dim: int, n_relations: int
    ) -> None:
        super().__init__(weight)
        self.loss = loss
        self.relation = relation
        if relation == "bilinear" and n_relations > MOST:
            raise BergamotError(Errors.B231, count=n_relations, most=MOST)
        # All begin by moving nothing.
        start = {"bilinear": torch.eye(dim), "diagonal": torch.ones(dim)}
        self.moves = nn.Parameter(
            torch.stack([start.get(relation, torch.zeros(dim))] * max(1, n_relations))
        )

    def forward(self, embeddings: Embeddings) -> Tensor:
        """Return the loss of a batch, a scalar.

        embeddings (Embeddings): What the encoders made of the batch: heads, and tails.
        """
        assert embeddings.links is not None
        assert embeddings.known is not None
        heads, tails = (view.float() for view in embeddings.text)
        labels = embeddings.labels[1]
        positives = labels[:, None] == labels
        negatives = ~(positives | embeddings.known | embeddings.excluded(labels))
        moved = self.move(heads, embeddings.links)
        if self.relation == "transe":
            return _translation(moved, tails, negatives)
        units = functional.normalize(moved, dim=-1), functional.normalize(tails, dim=-1)
        return self.loss.of(units[0] @ units[1].T, positives, negatives)

    def move(self, heads: Tensor, links: Tensor) -> Tensor:
        """Return heads (N, d) moved by their relations `links` (int64 (N,))."""
        if self.relation == "diagonal":
            return heads * functional.embedding(links, self.moves)
        if self.relation == "transe":
            return heads + functional.embedding(links, self.moves)
        # A matrix per relation of the batch, not per row: N of them would be N · d² numbers.
        order = links.argsort(stable=True)
        kinds, counts = links[order].unique_consecutive(return_counts=True)
        parts = heads[order].split(counts.tolist())
        moved = [part @ self.moves[kind] for kind, part in zip(kinds, parts, strict=True)]
        return torch.cat(moved)[order.argsort()]


def _translation(moved: Tensor, tails: Tensor, negatives: Tensor) -> Tensor:
    """Return the mean of [1 + |h + r - t| - |h + r - n|]₊, n a random tail of the batch."""
    drawn = torch.randperm(len(tails), device=tails.device)
    rows = torch.arange(len(tails), device=tails.device)
    near, far = (torch.linalg.vector_norm(moved - t, dim=-1) for t in (tails, tails[drawn]))
    counted = negatives[rows, drawn]
    return ((1 + near - far).relu() * counted).sum() / counted.sum().clamp(min=1)


@registry.objectives("relation.v1")
def make_relation(
    weight: float = 1.0, relation: Relation = "bilinear", margin: float | None = 0.1
) -> MakeObjective:
    """Configure the relation objective.

    relation (str): "bilinear", the paper's, for up to 64 relations; "diagonal"; or "transe", the
        released code's: translations of vectors that are not normalised, without mining.
    margin (float | None): Of the multi-similarity miner; null switches mining off.
    """
    mined = MinedLoss(miner="multi_similarity", margin=margin)
    return lambda dim, n_relations: RelationObjective(weight, mined, relation, dim, n_relations)
