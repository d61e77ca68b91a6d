"""Texts in a rectangle, padded to the longest; texts of like length go together."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import torch


def embed_padded(model: Any, tokens: Sequence[Sequence[int]], pooling: str) -> "torch.Tensor":
    """Return the pooled hidden states of names, float32 (n, dim), by any Hugging Face encoder.

    model: The encoder.
    tokens: Token ids of every name.
    pooling (str): "cls" or "mean".
    """
    ids, mask = pad_tokens(tokens, model.config.pad_token_id or 0)
    ids, mask = ids.to(model.device), mask.to(model.device)
    hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
    return pool(hidden.float(), mask, pooling)


def pad_tokens(tokens: Sequence[Sequence[int]], pad: int) -> tuple["torch.Tensor", "torch.Tensor"]:
    """Return token ids and attention mask, int64 (n, longest), padded on the right.

    tokens: Token ids of every name.
    pad (int): Id of the padding token.
    """
    import torch

    lengths = np.fromiter(map(len, tokens), dtype=np.int64, count=len(tokens))
    mask = np.arange(lengths.max(initial=1)) < lengths[:, None]
    ids = np.full(mask.shape, pad, dtype=np.int64)
    ids[mask] = np.concatenate([np.asarray(row, dtype=np.int64) for row in tokens])
    return torch.from_numpy(ids), torch.from_numpy(mask.astype(np.int64))


def length_batches(lengths: Sequence[int] | np.ndarray, batch_tokens: int) -> Iterator[np.ndarray]:
    """Yield row numbers in order of length; a batch has at most `batch_tokens` token slots.

    lengths (n,): Tokens of every row.
    batch_tokens (int): Slots, padding included; a longer row has a batch of its own.
    """
    order = np.argsort(np.asarray(lengths, dtype=np.int64), kind="stable")[::-1]
    start = 0
    while start < len(order):
        size = max(1, batch_tokens // max(1, lengths[order[start]]))
        yield order[start : start + size]
        start += size


def pool(hidden: "torch.Tensor", mask: "torch.Tensor", pooling: str) -> "torch.Tensor":
    """Reduce hidden states (n, tokens, dim) to (n, dim); `mask` (n, tokens) marks real tokens.

    hidden, mask: Of n names.
    pooling (str): "cls" or "mean".
    """
    if pooling == "cls":
        return hidden[:, 0]
    weights = mask.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weights).sum(1) / weights.sum(1).clamp(min=1)
