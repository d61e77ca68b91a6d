"""OntoEA's embeddings and the losses of its five modules.

f is a squared distance of unit vectors, and the limit loss of all modules but conflicts is
Σ max(0, f - 0.01) over what is true + 0.2 Σ max(0, 2 - f) over negatives.
"""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, normalize

from training.align.ontoea.graphs import Graphs

NEAR, FAR, BALANCE = 0.01, 2.0, 0.2
ALIGNED = 5.0
"""Weight of aligned entities beside that of their classes."""
_LEAST = 1e-6  # of 1 - cos, whose logarithm is taken


class OntoEA(nn.Module):
    """Embeddings of entities, relations and classes, and what maps them.

    graphs (Graphs): What is embedded. seeds (int64 (m, 2)): Entities that are the same.
    start (float32 (entities, d)): What entities begin with, of any length but 0.
    """

    keys: Tensor
    paths: Tensor
    members: Tensor
    conflicts: Tensor

    def __init__(self, graphs: Graphs, seeds: np.ndarray, start: Tensor) -> None:
        super().__init__()
        dim, count = start.shape[1], len(graphs.classes.ids)
        self.left = graphs.sizes[0]
        self.relation_count = int(graphs.triples[:, 1].max()) + 1
        self.entities = nn.Parameter(normalize(start))
        self.relations = nn.Parameter(normalize(torch.randn(self.relation_count, dim)))
        self.classes = nn.Parameter(normalize(torch.randn(count, dim)))
        self.upward = nn.Linear(dim, dim)
        self.membership = nn.Linear(dim, dim)
        self.mapping = nn.Parameter(torch.eye(dim))
        conflicts = graphs.classes.conflicts(graphs.members, seeds)
        fixed = {
            "keys": self._keys(torch.from_numpy(graphs.triples)).sort().values,
            "paths": torch.from_numpy(graphs.classes.paths),
            "members": torch.from_numpy(graphs.members.toarray()),
            "conflicts": torch.from_numpy(conflicts),
        }
        for name, value in fixed.items():
            self.register_buffer(name, value, persistent=False)

    def _keys(self, triples: Tensor) -> Tensor:
        heads, relations, tails = triples.unbind(-1)
        return (heads * self.relation_count + relations) * len(self.entities) + tails

    def triple_loss(self, triples: Tensor, drawn: Tensor, of_head: Tensor) -> Tensor:
        """Return the loss of E, f = ||h + r - t||².

        triples (int64 (n, 3)), drawn (int64 (n, k)): Entities that stand for head or tail.
        of_head (bool (n,)): Whether for the head.
        """
        count, k = drawn.shape
        # One gather for all: each has a gradient of the table's size.
        rows = torch.cat([triples[:, 0], triples[:, 2], drawn.flatten()])
        heads, tails, others = embedding(rows, normalize(self.entities)).split(
            [count, count, count * k]
        )
        relations = normalize(self.relations)[triples[:, 1]]
        kept = torch.where(of_head[:, None], tails - relations, heads + relations)
        inner = (others.view(count, k, -1) @ kept.unsqueeze(2)).squeeze(2)
        far = 1 + (kept**2).sum(1, keepdim=True) - 2 * inner
        near = ((heads + relations - tails) ** 2).sum(1)
        replaced = triples.unsqueeze(1).repeat(1, k, 1)
        replaced[..., 0] = torch.where(of_head[:, None], drawn, replaced[..., 0])
        replaced[..., 2] = torch.where(of_head[:, None], replaced[..., 2], drawn)
        wanted = self._keys(replaced)
        found = torch.searchsorted(self.keys, wanted).clamp(max=len(self.keys) - 1)
        return limit_loss(near, far, self.keys[found] != wanted)

    def class_loss(self, pairs: Tensor, drawn: Tensor, of_child: Tensor) -> Tensor:
        """Return the loss of O, f = ||n(tanh(c W + b)) - c'||², c' right above c.

        pairs (int64 (n, 2)), drawn (int64 (n, k)): Classes that stand for the lower or the upper.
        of_child (bool (n,)): Whether for the lower.
        """
        upper = normalize(self.classes)
        lower = normalize(torch.tanh(self.upward(upper)))
        child, parent = (
            torch.where(side[:, None], drawn, pairs[:, at, None])
            for at, side in enumerate((of_child, ~of_child))
        )
        near = ((lower[pairs[:, 0]] - upper[pairs[:, 1]]) ** 2).sum(1)
        far = ((lower[child] - upper[parent]) ** 2).sum(2)
        return limit_loss(near, far, ~self.paths[child, parent])

    def membership_loss(self, pairs: Tensor, drawn: Tensor) -> Tensor:
        """Return the loss of M, f = ||n(tanh(e W + b)) - c||².

        pairs (int64 (n, 2)): Entities and classes. drawn (int64 (n, k)): Other classes.
        """
        entities = normalize(embedding(pairs[:, 0], self.entities))
        mapped = normalize(torch.tanh(self.membership(entities)))
        distances = 2 - 2 * mapped @ normalize(self.classes).T
        near = distances.gather(1, pairs[:, 1:]).squeeze(1)
        is_other = self.members[pairs[:, :1], drawn] == 0
        return limit_loss(near, distances.gather(1, drawn), is_other)

    def conflict_loss(self, rows: Tensor) -> Tensor:
        """Return the loss of C, -Σ m log(1 - cos), of some classes and all others."""
        vectors = normalize(self.classes)
        apart = (1 - vectors[rows] @ vectors.T).clamp(min=_LEAST)
        return -(self.conflicts[rows] * apart.log()).sum()

    def alignment_loss(self, seeds: Tensor, drawn: Tensor, *, of_left: bool) -> Tensor:
        """Return the loss of A: f = ||e W - e'||², W orthogonal, and the classes of seeds alike.

        The margins are of a pair. (In the code of the paper's authors they are of a batch's sum,
        where they have no effect.)

        seeds (int64 (n, 2)): Entities that are the same. drawn (int64 (n, k)): Entities that stand
            for the left ones, if `of_left`, or else for the right ones.
        """
        count, k = drawn.shape
        rows = torch.cat([seeds.T.flatten(), drawn.flatten()])
        left, right, others = normalize(embedding(rows, self.entities)).split(
            [count, count, count * k]
        )
        mapped, others = left @ self.mapping, others.view(count, k, -1)
        others, kept = (others @ self.mapping, right) if of_left else (others, mapped)
        far = ((others - kept.unsqueeze(1)) ** 2).sum(2)
        is_other = drawn != seeds[:, 0 if of_left else 1, None]
        product = self.mapping @ self.mapping.T
        orthogonal = ((product - torch.eye(len(product), device=product.device)) ** 2).sum()
        one, other = (self.classes_of(of) for of in seeds.unbind(1))
        aligned = limit_loss(((mapped - right) ** 2).sum(1), far, is_other)
        return ALIGNED * (aligned + orthogonal) + ((one - other) ** 2).sum()

    def classes_of(self, entities: Tensor) -> Tensor:
        """Return the mean vector of every entity's classes, float32 (n, d); 0 without one."""
        members = self.members[entities]
        shares = members / members.sum(1, keepdim=True).clamp(min=1)
        return shares @ normalize(self.classes)

    @torch.no_grad()
    def vectors(self, beta: float) -> tuple[np.ndarray, np.ndarray]:
        """Return vectors of left and right entities, float32 (n, 2 d).

        Their products are β cos(e W, e') + (1 - β) cos(c, c').
        """
        every = torch.arange(len(self.entities), device=self.entities.device)
        classes = (1 - beta) ** 0.5 * normalize(self.classes_of(every))
        left = normalize(normalize(self.entities[: self.left]) @ self.mapping)
        entities = beta**0.5 * torch.cat([left, normalize(self.entities[self.left :])])
        both = torch.cat([entities, classes], dim=1).float().cpu().numpy()
        return both[: self.left], both[self.left :]


def limit_loss(near: Tensor, far: Tensor, counted: Tensor) -> Tensor:
    """Return the limit loss, a sum.

    near (float32 (n,)): Distances of what is true. far (float32 (n, k)): Of negatives.
    counted (bool (n, k)): Which of these are negatives indeed.
    """
    apart = (FAR - far).clamp(min=0) * counted
    return (near - NEAR).clamp(min=0).sum() + BALANCE * apart.sum()
