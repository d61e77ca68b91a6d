"""A random graph and its permuted copy."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from training.align.ontoea.classes import Classes
from training.align.ontoea.graphs import Graphs


class Copied(NamedTuple):
    """Two graphs and which rows of them are the same.

    pairs (int64 (n, 2)): Left and right rows, in random order.
    start (float32 (2 n, dim)): Noise to begin with.
    """

    graphs: Graphs
    pairs: np.ndarray
    start: np.ndarray


def copied(
    count: int = 40,
    *,
    triples: int = 480,
    relations: int = 120,
    dim: int = 32,
    types: tuple[str, ...] = ("T047", "T191", "T023", "T121"),
) -> Copied:
    """Return a random graph, and the same one with its entities in another order."""
    rng = np.random.default_rng(0)
    order = rng.permutation(count)
    drawn = np.stack([rng.integers(most, size=triples) for most in (count, relations, count)], 1)
    drawn = np.unique(drawn[drawn[:, 0] != drawn[:, 2]], axis=0)
    copy = np.stack([order[drawn[:, 0]], drawn[:, 1], order[drawn[:, 2]]], axis=1)
    classes = Classes.of(types)
    of = np.array([classes.ids.index(one) for one in types])[rng.integers(len(types), size=count)]
    entities = np.concatenate([np.arange(count), count + order])
    members = csr_matrix(
        (np.ones(2 * count, dtype=np.float32), (entities, np.tile(of, 2))),
        shape=(2 * count, len(classes.ids)),
    )
    both = np.concatenate([drawn, copy + np.array([count, 0, count])])
    graphs = Graphs((count, count), both, classes, members)
    pairs = rng.permutation(np.stack([np.arange(count), order], axis=1))
    return Copied(graphs, pairs, rng.standard_normal((2 * count, dim)).astype(np.float32))
