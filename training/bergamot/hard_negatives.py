"""Hard negatives: lists of the names that the current language model puts side by side.

CODER++ (Zeng et al. 2022) trains on groups of an anchor and its nearest names. A list is of items:
of concepts, under one name each that is drawn anew at every search, or of names. It holds under the
model of its step, and lies on disk, so that a resumed run draws the same batches.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from spacy_bergamot.storage.files import MANIFEST, atomic_folder
from spacy_bergamot.storage.manifest import read_manifest, write_manifest
from training.errors import BergamotError, Errors
from training.preprocess.training_set import TrainingSet

KIND = "near-list"
VERSION = 2
_ROWS = 1024
_CELLS = 1 << 28
"""Similarities that are held at once."""

logger = logging.getLogger(__name__)

Encode = Callable[[list[str]], np.ndarray]
"""Names in, unit vectors out: float32 (names, d)."""


@dataclass(frozen=True)
class Search:
    """What is looked for, and when.

    every (int): Steps between searches, each with the model as it is then; 0 searches once, with
        the model at the start.
    most (int): Near items of each.
    items (Callable): A seed in; items, sorted, and the name id of each out, both int32 (c,).
    """

    every: int
    most: int
    items: Callable[[int], tuple[np.ndarray, np.ndarray]]


class Near:
    """Of every item, those nearest to it.

    items (int32 (c,)): Concepts or name ids, sorted.
    near (int32 (c, m)): Positions in `items` of the nearest ones, nearest first.
    """

    def __init__(self, items: np.ndarray, near: np.ndarray) -> None:
        self.items = items
        self.near = near

    @classmethod
    def open(cls, path: Path) -> "Near":
        """Open a list. RAISES (BergamotError): If a file is missing or changed."""
        read_manifest(path, kind=KIND, version=VERSION)
        arrays = (np.load(path / f"{name}.npy", mmap_mode="r") for name in ("items", "near"))
        return cls(*arrays)

    def of(self, items: np.ndarray) -> np.ndarray:
        """Return the items near each of `items` (int (n,)), nearest first, int32 (n, m)."""
        return np.asarray(self.items[self.near[np.searchsorted(self.items, items)]])

    def draw(self, items: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
        """Return `count` distinct near items of each, int32 (n, count), uniformly drawn.

        RAISES (BergamotError): T221 if there are fewer items than that.
        """
        if count > self.near.shape[1]:
            pool = self.near.shape[1]
            raise BergamotError(Errors.T221, size=len(items) * (1 + count), count=count, pool=pool)
        near = self.of(items)
        order = rng.random(near.shape).argsort(axis=1)[:, :count]
        return np.take_along_axis(near, order, axis=1)


def find_near(
    path: Path, data: TrainingSet, search: Search, encode: Encode, *, seed: int, device: str
) -> None:
    """Write the near items under the language model as it is now, unless they are there.

    seed (int): Of the names that are drawn.
    """
    if (path / MANIFEST).is_file():
        return
    items, drawn = search.items(seed)
    logger.info("Looking for near names of %d, step %s", len(items), path.name)
    names = data.names.take(pa.array(drawn)).to_pylist()
    vectors = torch.from_numpy(encode(names)).to(device)
    with atomic_folder(path) as folder:
        np.save(folder / "items.npy", items)
        np.save(folder / "near.npy", nearest(vectors, min(search.most, len(items) - 1)))
        write_manifest(folder, kind=KIND, version=VERSION)


def nearest(vectors: Tensor, most: int) -> np.ndarray:
    """Return the rows of the `most` vectors nearest to each by cosine, itself apart, exactly.

    vectors (float (n, d)): Unit vectors; n² · d multiplications, in blocks of rows.
    RETURNS (int32 (n, most)): Nearest first.
    """
    found = np.empty((len(vectors), most), dtype=np.int32)
    block = max(1, min(_ROWS, _CELLS // max(1, len(vectors))))
    for start in range(0, len(vectors), block):
        similarities = vectors[start : start + block] @ vectors.T
        rows = torch.arange(len(similarities), device=vectors.device)
        similarities[rows, start + rows] = -torch.inf
        found[start : start + block] = similarities.topk(most, dim=1).indices.cpu().numpy()
    return found
