"""Word embeddings trained row by row: gradients and Adam's steps of the rows that a batch has.

The gradient of a table of 250,000 rows is as large as the table, and AdamW moves every row at every
step, though a batch has a thousand. torch's own way for the few is `nn.Embedding.sparse` and
`SparseAdam`: a row stands still, and so do its moments, in the steps that have it not. Neither
torch's clipping nor a sum over NCCL's processes takes such gradients; here is what does.
"""

from collections.abc import Iterable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from training.errors import BergamotError, Errors


def train_by_rows(embedding: Any) -> None:
    """Give a table of word embeddings sparse gradients, and `make_adamw` so SparseAdam for it.

    RAISES (BergamotError): T250 if it is no plain `nn.Embedding`.
    """
    if type(embedding) is not nn.Embedding:
        raise BergamotError(Errors.T250, kind=type(embedding).__name__)
    embedding.sparse = True


def row_tables(model: nn.Module) -> list[nn.Parameter]:
    """Return the tables of a model that are trained row by row."""
    tables = {
        id(part.weight)
        for part in model.modules()
        if isinstance(part, nn.Embedding) and part.sparse and part.weight.requires_grad
    }
    return [parameter for parameter in model.parameters() if id(parameter) in tables]


def clip_gradients(parameters: Iterable[nn.Parameter], limit: float) -> Tensor:
    """Clip all gradients together to a norm, those of rows as well; return the norm before."""
    dense: list[Tensor] = []
    for parameter in parameters:
        gradient = parameter.grad
        if gradient is not None and gradient.is_sparse:
            parameter.grad = gradient = gradient.coalesce()
            rows = torch.empty_like(gradient._values())
            rows.grad = gradient._values()  # the same memory: clipped there, it is clipped here
            dense.append(rows)
        else:
            dense.append(parameter)
    return torch.nn.utils.clip_grad_norm_(dense, limit)


def sum_rows(parameter: nn.Parameter, count: int) -> None:
    """Add up the gradients of a table's rows over `count` processes, which have other rows each."""
    own = parameter.grad
    if own is None:
        own = torch.zeros_like(parameter, layout=torch.sparse_coo)
    own = own.coalesce()
    rows = own.indices()[0]
    most = torch.tensor(len(rows), device=rows.device)
    dist.all_reduce(most, op=dist.ReduceOp.MAX)
    padded = rows.new_full((int(most),), -1)
    padded[: len(rows)] = rows
    gathered = [torch.empty_like(padded) for _ in range(count)]
    dist.all_gather(gathered, padded)
    every = torch.cat(gathered).unique()
    every = every[every >= 0]
    values = torch.zeros(len(every), parameter.shape[1], device=rows.device)
    values[torch.searchsorted(every, rows)] = own.values()
    dist.all_reduce(values)
    if len(every):
        parameter.grad = torch.sparse_coo_tensor(
            every[None], values, parameter.shape, is_coalesced=True
        )
