"""Texts laid end to end, without padding: texts of equal length are a run, taken together."""

from typing import Any

from torch import Tensor, cat
from torch.nn.functional import scaled_dot_product_attention

Shapes = list[tuple[int, int]]
"""Texts, and tokens per text, of every run."""


def stacked(parts: list[Tensor], rows: int) -> Tensor:
    """Return parts (n, width) on end, followed by zeros up to `rows`."""
    missing = rows - sum(map(len, parts))
    if missing:
        return cat([*parts, parts[0].new_zeros(missing, parts[0].shape[1])])
    return cat(parts) if len(parts) > 1 else parts[0]


def runs_of(rows: Tensor, shapes: Shapes) -> list[Tensor]:
    """Return views (texts, tokens, width) of every run's rows.

    rows (float (tokens, width)): Texts on end; what is behind the last is left out.
    shapes: Of the runs.
    """
    sizes = [texts * length for texts, length in shapes]
    # Not `split`, which is Python and for one short name takes as long as the attention.
    parts = rows[: sum(sizes)].split_with_sizes(sizes)
    return [part.view(*shape, -1) for part, shape in zip(parts, shapes, strict=True)]


def attend(queries: Tensor, keys: Tensor, values: Tensor, *, heads: int, dropout: Any) -> Tensor:
    """Return the values that queries (texts, tokens, width) attend to, (texts * tokens, width).

    queries, keys, values: Of a run of texts, float (texts, tokens, width).
    heads (int): Of the attention.
    dropout (torch.nn.Dropout | None): Of the weights; None for inference.
    """
    query, key, value = (
        part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in (queries, keys, values)
    )
    if dropout is not None and dropout.training:
        # torch's fused attention has no dropout on a CPU, and in bfloat16 it takes several times as
        # long for the few names of one length that a training batch has.
        weights = (query @ key.transpose(2, 3) * query.shape[-1] ** -0.5).softmax(-1, query.dtype)
        context = dropout(weights) @ value
    else:
        context = scaled_dot_product_attention(query, key, value)
    return context.transpose(1, 2).flatten(2).flatten(0, 1)
