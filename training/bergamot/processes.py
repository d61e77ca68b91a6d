"""The processes of one run, as torchrun and `accelerate launch` start them.

A step's distinct names are shared out; each process encodes its part, the vectors are summed into
one table, and every process computes the same losses on the whole batch. k processes therefore
take the step that one process takes, dropout included.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

_BUCKET = 1 << 25


@dataclass(frozen=True)
class Processes:
    """Rank and number of the processes; alone, every operation does nothing.

    control (Any): A gloo group for flags, so that they never wait for the GPU.
    """

    rank: int = 0
    count: int = 1
    local_rank: int = 0
    control: Any = None

    @property
    def main(self) -> bool:
        """True in the one process that writes."""
        return self.rank == 0

    def sum(self, tensor: Tensor) -> Tensor:
        """Add up a tensor over all processes, in place."""
        if self.count > 1:
            dist.all_reduce(tensor)
        return tensor

    def any(self, flag: bool) -> bool:
        """Return True if the flag is set anywhere."""
        if self.count == 1:
            return flag
        value = torch.tensor(int(flag))
        dist.all_reduce(value, op=dist.ReduceOp.MAX, group=self.control)
        return bool(value)

    def wait(self) -> None:
        """Wait until all processes are here."""
        if self.count > 1:
            dist.barrier(group=self.control)

    def reduce_gradients(self, parameters: Sequence[nn.Parameter], *, mean: bool) -> None:
        """Add up, or average, the gradients; one that no process has stays None."""
        if self.count == 1 or not parameters:
            return
        present = torch.tensor([int(p.grad is not None) for p in parameters])
        dist.all_reduce(present, op=dist.ReduceOp.MAX, group=self.control)
        trained = [p for p, has in zip(parameters, present.tolist(), strict=True) if has]
        for parameter in trained:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        for bucket in _buckets(trained):
            gradients = [p.grad for p in bucket if p.grad is not None]
            flat = torch.cat([gradient.flatten() for gradient in gradients])
            dist.all_reduce(flat)
            if mean:
                flat /= self.count
            parts = flat.split([gradient.numel() for gradient in gradients])
            for gradient, part in zip(gradients, parts, strict=True):
                gradient.copy_(part.view_as(gradient))


@contextmanager
def joined(device: str) -> Iterator[Processes]:
    """Join the processes that the launcher started; alone where there is no launcher."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Processes()
        return
    if device.startswith("cuda"):
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if device.startswith("cuda") else "gloo")
    try:
        control = dist.new_group(backend="gloo")
        yield Processes(dist.get_rank(), count, local_rank(), control)
    finally:
        dist.destroy_process_group()


def local_rank() -> int:
    """Return this process's number on its machine."""
    return int(os.environ.get("LOCAL_RANK", "0"))


def _buckets(parameters: Sequence[nn.Parameter]) -> Iterator[list[nn.Parameter]]:
    """Yield runs of parameters of one type, of about _BUCKET numbers."""
    bucket: list[nn.Parameter] = []
    size = 0
    for parameter in parameters:
        if bucket and (size >= _BUCKET or parameter.dtype != bucket[0].dtype):
            yield bucket
            bucket, size = [], 0
        bucket.append(parameter)
        size += parameter.numel()
    if bucket:
        yield bucket
