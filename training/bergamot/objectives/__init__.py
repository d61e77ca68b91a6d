"""Training criteria, one equation a file.

An objective is a module that maps `Embeddings` to a scalar. Its attributes say what it needs, so
that what no objective needs is never computed.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn

VIEWS = 2


@dataclass(frozen=True)
class Embeddings:
    """What the model computed for one batch of N centres; views first.

    labels (int64 (views, N)): Number of every centre's concept among the batch's c concepts.
    no_negatives (bool (c, c)): Pairs of these concepts that are not to be pushed apart.
    text (float (views, N, d)): Text embeddings of the centres.
    graph (float (2, N, d) | None): Graph embeddings of the centres.
    corrupted (Callable[[str], Tensor] | None): Graph embeddings (2, N, d) of a corrupted graph,
        "edges" or "centres".
    links (int64 (N,) | None): Relation of each head (first view) to its tail (second view).
    known (bool (N, N) | None): Whether head i has its relation to tail j.
    targets (float32 (N,) | None): What cosine both views of a centre are to have.
    """

    labels: Tensor
    no_negatives: Tensor
    text: Tensor
    graph: Tensor | None = None
    corrupted: Callable[[str], Tensor] | None = None
    links: Tensor | None = None
    known: Tensor | None = None
    targets: Tensor | None = None

    def excluded(self, labels: Tensor) -> Tensor:
        """Return bool (b, b): pairs of items that are not to be pushed apart.

        labels (int64 (b,)): Number of every item's concept.
        """
        return self.no_negatives[labels[:, None], labels]


class Objective(nn.Module):
    """A training criterion with its weight in the total loss.

    needs (str): What it needs of batches beyond names and concepts: "graph", "triples", "targets"
        or nothing.
    """

    needs = ""

    def __init__(self, weight: float) -> None:
        super().__init__()
        self.weight = weight

    def forward(self, embeddings: Embeddings) -> Tensor:  # pragma: no cover - interface
        """Return the loss of a batch, a scalar.

        embeddings (Embeddings): What the encoders made of the batch.
        """
        raise TypeError(f"{type(self).__name__} does not say how to compute its loss")


MakeObjective = Callable[[int, int], Objective]
"""Width of the embeddings and number of relations in, objective out."""
