"""Hard negatives: batches of concepts whose names the current language model puts side by side.

CODER++ (Zeng et al. 2022) trains on groups of an anchor and its nearest names. Here a group is a
drawn pair and pairs of concepts near it, so that every objective meets them as negatives. Nearness
is that of one name per concept, drawn anew at every refresh, under the model of that step; the
lists lie on disk, so that a resumed run draws the same batches.
"""

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from spacy_bergamot.storage.files import MANIFEST, atomic_folder
from spacy_bergamot.storage.manifest import read_manifest, write_manifest
from training.errors import BergamotError, Errors
from training.preprocess.training_set import TrainingSet

KIND = "near-concepts"
VERSION = 1
_ROWS = 1024

logger = logging.getLogger(__name__)

Encode = Callable[[list[str]], np.ndarray]
"""Names in, unit vectors out: float32 (names, d)."""


class NearConcepts:
    """Of every concept that has pairs, those nearest to it.

    concepts (int32 (c,)): Concepts, sorted.
    near (int32 (c, m)): Positions in `concepts` of the nearest ones, nearest first.
    """

    def __init__(self, concepts: np.ndarray, near: np.ndarray) -> None:
        self.concepts = concepts
        self.near = near

    @classmethod
    def open(cls, path: Path) -> "NearConcepts":
        """Open a list. RAISES (BergamotError): If a file is missing or changed."""
        read_manifest(path, kind=KIND, version=VERSION)
        arrays = (np.load(path / f"{name}.npy", mmap_mode="r") for name in ("concepts", "near"))
        return cls(*arrays)

    def draw(self, concepts: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
        """Return `count` distinct near concepts of each, int32 (n, count), uniformly drawn.

        RAISES (BergamotError): T221 if there are fewer concepts than that.
        """
        if count > self.near.shape[1]:
            pool = self.near.shape[1]
            raise BergamotError(
                Errors.T221, size=len(concepts) * (1 + count), count=count, pool=pool
            )
        rows = np.searchsorted(self.concepts, concepts)
        order = rng.random((len(rows), self.near.shape[1])).argsort(axis=1)[:, :count]
        return self.concepts[np.take_along_axis(np.asarray(self.near[rows]), order, axis=1)]


def find_near(
    path: Path, data: TrainingSet, encode: Encode, *, most: int, seed: int, device: str
) -> None:
    """Write the near concepts under the language model as it is now, unless they are there.

    most (int): Near concepts of each.
    seed (int): Of the names that are drawn, one per concept.
    """
    if (path / MANIFEST).is_file():
        return
    logger.info("Looking for near concepts, step %s", path.name)
    concepts = np.unique(data.pairs[:, 0])
    starts = np.asarray(data.node_names_indptr[concepts])
    counts = np.asarray(data.node_names_indptr[concepts + 1]) - starts
    drawn = starts + (np.random.default_rng(seed).random(len(concepts)) * counts).astype(np.int64)
    names = data.names.take(pa.array(data.node_names[drawn])).to_pylist()
    vectors = torch.from_numpy(encode(names)).to(device)
    with atomic_folder(path) as folder:
        np.save(folder / "concepts.npy", concepts)
        np.save(folder / "near.npy", nearest(vectors, min(most, len(concepts) - 1)))
        write_manifest(folder, kind=KIND, version=VERSION)


def nearest(vectors: Tensor, most: int) -> np.ndarray:
    """Return the rows of the `most` vectors nearest to each by cosine, itself apart, exactly.

    vectors (float (n, d)): Unit vectors; n² · d multiplications, in blocks of rows.
    RETURNS (int32 (n, most)): Nearest first.
    """
    found = np.empty((len(vectors), most), dtype=np.int32)
    for start in range(0, len(vectors), _ROWS):
        similarities = vectors[start : start + _ROWS] @ vectors.T
        rows = torch.arange(len(similarities), device=vectors.device)
        similarities[rows, start + rows] = -torch.inf
        found[start : start + _ROWS] = similarities.topk(most, dim=1).indices.cpu().numpy()
    return found
