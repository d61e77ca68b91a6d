"""Draws that need lists of near names: of the names of all concepts that are trained on."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from training.bergamot.draws import BatchSettings, Draws, trained_concepts
from training.bergamot.hard_negatives import Search
from training.preprocess.training_set import TrainingSet


@dataclass(frozen=True)
class NearNameBatches(BatchSettings):
    """What all kinds with near names have.

    near (int): Names nearest to an anchor, of any concept.
    refresh (int): Steps between searches for the nearest names, each with the model as it is then;
        0 searches once. A search takes n² · d multiplications for n names.
    """

    near: int = 30
    refresh: int = 1000


class NearNameDraws(Draws):
    """Draws with a list of near names, and what these names name."""

    def __init__(self, settings: NearNameBatches, data: TrainingSet, *, seed: int) -> None:
        super().__init__(settings, data, seed=seed)
        self.search = Search(settings.refresh, settings.near, self._searched)

    def near_names(self, names: np.ndarray) -> np.ndarray:
        """Return the names nearest to each of `names` (int (n,)), nearest first, int32 (n, m)."""
        assert self.near is not None
        return self.near.of(names)

    def concepts_of(self, names: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return where the concepts of each of `names` (int (n,)) start and end, and all concepts.

        RETURNS (int64 (n,), int64 (n,), int32): Concepts that are trained on; each name has one.
        """
        named, concepts = self._by_name
        ends = np.searchsorted(named, names, side="right")
        return np.searchsorted(named, names), ends, concepts

    @cached_property
    def _by_name(self) -> tuple[np.ndarray, np.ndarray]:
        """Names of the concepts that are trained on, sorted, and of each its concept."""
        sizes = np.diff(self.data.node_names_indptr)
        kept = np.repeat(trained_concepts(self.data), sizes)
        concepts = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)[kept]
        names = self.data.node_names[kept]
        order = np.argsort(names, kind="stable")
        return names[order], concepts[order]

    def _searched(self, _: int) -> tuple[np.ndarray, np.ndarray]:
        names = np.unique(self._by_name[0])
        return names, names
