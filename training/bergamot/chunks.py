"""Chunks: the distinct names of a batch in order of length, shared among processes."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from training.bergamot.buckets import length_buckets
from training.bergamot.objectives import VIEWS
from training.bergamot.token_store import TokenStore


@dataclass
class Chunk:
    """Names that go through the language model together.

    ids, mask (int64 (rows, tokens)): Positions in the batch's vocabulary, and attention mask.
    start (int): Row of its first name in the batch's table of vectors.
    index (int): Its number in the batch.
    trains (bool): False if no gradient is wanted of it.
    """

    ids: Tensor
    mask: Tensor
    start: int
    index: int
    trains: bool

    def map(self, change: Callable[[Tensor], Tensor]) -> "Chunk":
        """Return the chunk with its ids and its mask changed.

        change (Callable[[Tensor], Tensor]): Such as a move to another device.
        """
        return replace(self, ids=change(self.ids), mask=change(self.mask))


@dataclass
class Plan:
    """Distinct (name, view)s, the chunks they go in, and where every node's name ends up.

    names (int64 (d,)): Name id of every distinct name.
    chunks (list[int64 (k,)]): Rows of `names` that go through the language model together.
    trains (list[bool]): Of every chunk, whether a gradient is wanted of it.
    rows (int64 (views, n)): Row of every node's name in the table of vectors.
    costs (list[int]): Token slots of every chunk.
    tokens (int): Real tokens of the distinct names.
    """

    names: np.ndarray
    chunks: list[np.ndarray]
    trains: list[bool]
    rows: np.ndarray
    costs: list[int]
    tokens: int

    @property
    def slots(self) -> int:
        """Token slots of all chunks."""
        return sum(self.costs)

    @classmethod
    def of(
        cls, names: np.ndarray, tokens: TokenStore, *, chunk_tokens: int, centres: int | None
    ) -> "Plan":
        """Return the plan of the names of a batch.

        names (int64 (views, n)): Name ids of every node in each view.
        tokens (TokenStore): Token ids by name id.
        chunk_tokens (int): Token slots of a chunk.
        centres (int | None): Names that none of so many first nodes carries get chunks of their
            own, without a gradient; None wants one of all.
        """
        keys = names.astype(np.int64) * VIEWS + np.arange(len(names))[:, None]
        distinct, inverse = np.unique(keys, return_inverse=True)
        inverse = inverse.reshape(names.shape)
        trains = np.ones(len(distinct), dtype=bool)
        if centres is not None:
            trains[:] = False
            trains[inverse[:, :centres]] = True
        lengths = tokens.lengths(distinct // VIEWS)
        chunks = []
        for rows in (np.flatnonzero(trains), np.flatnonzero(~trains)):
            buckets = length_buckets(lengths[rows], chunk_tokens)
            chunks += [rows[bucket] for bucket in buckets]
        position = np.empty(len(distinct), dtype=np.int64)
        position[np.concatenate(chunks)] = np.arange(len(distinct))
        return cls(
            names=distinct // VIEWS,
            chunks=chunks,
            trains=[bool(trains[chunk[0]]) for chunk in chunks],
            rows=position[inverse],
            costs=[int(lengths[chunk].max()) * len(chunk) for chunk in chunks],
            tokens=int(lengths.sum()),
        )

    def owned(self, rank: int, processes: int) -> np.ndarray:
        """Return the numbers of the chunks that are one process's, int64.

        The dearest chunks go first, each to the process with least work.

        rank (int): Of the process.
        processes (int): How many there are.
        """
        load = np.zeros(processes)
        owner = np.zeros(len(self.chunks), dtype=int)
        for index in np.argsort(-np.asarray(self.costs), kind="stable"):
            owner[index] = load.argmin()
            load[owner[index]] += self.costs[index]
        return np.flatnonzero(owner == rank)

    def chunks_of(
        self, numbers: np.ndarray, tokens: TokenStore, *, pad: int
    ) -> tuple[list[Chunk], Tensor]:
        """Return chunks and their distinct token ids, int64 (u,).

        numbers (int64 (c,)): Of the chunks.
        tokens (TokenStore): Token ids by name id.
        pad (int): Id of the padding token.
        """
        starts = np.cumsum([0, *map(len, self.chunks)])
        padded = [tokens.padded(self.names[self.chunks[i]], pad=pad) for i in numbers]
        everything = [ids.ravel() for ids, _ in padded] or [np.empty(0, dtype=np.int64)]
        vocabulary, local = np.unique(np.concatenate(everything), return_inverse=True)
        ends = np.cumsum([ids.size for ids, _ in padded])
        chunks = [
            Chunk(
                torch.from_numpy(ids.reshape(mask.shape)),
                torch.from_numpy(mask),
                int(starts[index]),
                int(index),
                self.trains[index],
            )
            for index, ids, (_, mask) in zip(numbers, np.split(local, ends), padded, strict=False)
        ]
        return chunks, torch.from_numpy(vocabulary)
