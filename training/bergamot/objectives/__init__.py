"""Training criteria, one equation a file.

An objective is a module that maps `Embeddings` to a scalar. Its attributes say what it needs, so
that what no objective needs is never computed.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

VIEWS = 2


@dataclass(frozen=True)
class Embeddings:
    """What the model computed for one batch of N pairs; views first.

    labels (int64 (N,)): Concepts of the centres.
    no_negatives (bool (N, N)): Pairs of centres that are not to be pushed apart.
    text (float (2, N, d)): Text embeddings of the centres.
    graph (float (2, N, d) | None): Graph embeddings of the centres.
    corrupted (Callable[[str], Tensor] | None): Graph embeddings (2, N, d) of a corrupted graph,
        "edges" or "centres".
    """

    labels: Tensor
    no_negatives: Tensor
    text: Tensor
    graph: Tensor | None = None
    corrupted: Callable[[str], Tensor] | None = None

    def excluded(self, copies: int = VIEWS) -> Tensor:
        """Return `no_negatives` of `copies` stacked copies of the batch."""
        return self.no_negatives.repeat(copies, copies)


class Objective(nn.Module):
    """A training criterion with its weight in the total loss."""

    needs_graph = False

    def __init__(self, weight: float) -> None:
        super().__init__()
        self.weight = weight

    def forward(self, embeddings: Embeddings) -> Tensor:  # pragma: no cover - interface
        """Return the loss of a batch, a scalar.

        embeddings (Embeddings): What the encoders made of the batch.
        """
        raise TypeError(f"{type(self).__name__} does not say how to compute its loss")


def stack_views(views: Tensor) -> Tensor:
    """Return (2, N, d) as (2 N, d)."""
    return torch.cat(tuple(views))
