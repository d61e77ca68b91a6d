"""The entities that negatives are drawn from: those nearest to the one that they replace."""

from collections.abc import Sequence

import torch
from torch import Tensor

_BLOCK = 1024


def nearest(vectors: Tensor, count: int) -> Tensor:
    """Return the rows of the nearest others by cosine, int32 (n, count), in no order.

    vectors (Tensor): float32 (n, d), unit vectors.
    """
    found = torch.empty((len(vectors), count), dtype=torch.int32, device=vectors.device)
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK]
        cosines = block @ vectors.T
        own = torch.arange(len(block), device=vectors.device)
        cosines[own, start + own] = -2.0
        found[start : start + _BLOCK] = cosines.topk(count, dim=1, sorted=False).indices
    return found


class Pool:
    """For each entity those that may replace it: a run of `flat`.

    flat (Tensor): int32 (n,), entities. starts, sizes (Tensor): int64 (entities,).
    """

    def __init__(self, flat: Tensor, starts: Tensor, sizes: Tensor) -> None:
        self.flat, self.starts, self.sizes = flat, starts, sizes

    @classmethod
    def all_of(cls, sizes: Sequence[int], device: torch.device) -> "Pool":
        """Return that of whole graphs: every entity may be replaced by all of its own."""
        counts = torch.tensor(sizes, device=device)
        flat = torch.arange(int(counts.sum()), dtype=torch.int32, device=device)
        return cls(flat, (counts.cumsum(0) - counts).repeat_interleave(counts),
                   counts.repeat_interleave(counts))  # fmt: skip

    @classmethod
    def nearest_of(cls, vectors: Tensor, sizes: Sequence[int], epsilon: float) -> "Pool":
        """Return that of the nearest (1 - epsilon) of every entity's graph.

        vectors (Tensor): float32 (entities, d), unit vectors.
        """
        flats, counts, first = [], [], 0
        for size in sizes:
            count = max(1, min(-int(-(1 - epsilon) * size // 1), size - 1))
            flats.append(nearest(vectors[first : first + size], count).flatten() + first)
            counts += [count] * size
            first += size
        kept = torch.tensor(counts, device=vectors.device)
        return cls(torch.cat(flats), kept.cumsum(0) - kept, kept)

    def draw(self, entities: Tensor, count: int, generator: torch.Generator) -> Tensor:
        """Return so many for each entity, int64 (n, count), with repetition.

        generator (Generator): Of the CPU.
        """
        shares = torch.rand((len(entities), count), generator=generator, dtype=torch.float64)
        at = (shares.to(entities.device) * self.sizes[entities, None]).long()
        return self.flat[self.starts[entities, None] + at].long()
