"""L_dgi: tell the true neighbourhoods from corrupted ones by the batch's summary.

Per view, with s = σ(mean of the N centres' g) and D(h, s) = σ(hᵀ W s):
L = -mean log D(g, s) - mean log(1 - D(g̃, s)); the loss is the mean of both views, so that chance
is 2 ln 2 (Veličković et al. 2019, eq. 1).
"""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.bergamot.objectives import Embeddings, MakeObjective, Objective
from training.registry import registry

Corruption = Literal["edges", "centres"]
Readout = Literal["sigmoid_mean", "mean"]


class DgiObjective(Objective):
    """Deep Graph Infomax over the sampled neighbourhoods, computed in float32 from logits.

    corruption (str): "edges" permutes the edges' targets, "centres" the centres' features.
    readout (str): "sigmoid_mean" or "mean".
    """

    needs = "graph"

    def __init__(
        self, weight: float, dim: int, *, corruption: Corruption, readout: Readout
    ) -> None:
        super().__init__(weight)
        self.corruption = corruption
        self.readout = readout
        self.discriminator = nn.Parameter(torch.empty(dim, dim))
        bound = dim**-0.5
        nn.init.uniform_(self.discriminator, -bound, bound)

    def forward(self, embeddings: Embeddings) -> Tensor:
        assert embeddings.graph is not None
        assert embeddings.corrupted is not None
        corrupted = embeddings.corrupted(self.corruption)
        views = zip(embeddings.graph, corrupted, strict=True)
        return torch.stack([self._view(true, false) for true, false in views]).mean()

    def _view(self, true: Tensor, false: Tensor) -> Tensor:
        summary = true.mean(0)
        if self.readout == "sigmoid_mean":
            summary = summary.sigmoid()
        direction = self.discriminator @ summary
        return (
            functional.softplus(-(true @ direction)).mean()
            + functional.softplus(false @ direction).mean()
        )


@registry.objectives("dgi.v1")
def make_dgi(
    weight: float = 0.1,
    corruption: Corruption = "edges",
    readout: Readout = "sigmoid_mean",
) -> MakeObjective:
    """Configure the Deep-Graph-Infomax objective."""
    return lambda dim, _: DgiObjective(weight, dim, corruption=corruption, readout=readout)
