"""`groups.v1`: an anchor, its nearest names and its synonyms, for CODER++ (Zeng et al. 2022)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from training.bergamot.draws import Drawn
from training.bergamot.draws.near_names import NearNameBatches, NearNameDraws
from training.preprocess.training_set import TrainingSet
from training.registry import registry


@registry.batches("groups.v1")
@dataclass(frozen=True)
class GroupBatches(NearNameBatches):
    """What a batch of groups is made of, beside what all kinds with near names have.

    size (int): Groups per batch, over all processes; each is an anchor with both kinds of names.
    synonyms (int): Other names of the anchor's concept, as many as it has at most.
    """

    size: int = 4
    synonyms: int = 30

    def draws(self, data: TrainingSet, *, seed: int, graph: bool) -> "GroupDraws":
        """Return the draws; arguments and errors as in `BatchSettings`."""
        return GroupDraws(self, data, seed=seed)


class GroupDraws(NearNameDraws):
    """Draw groups: every name of a concept that has pairs is an anchor once an epoch."""

    what = "anchors"
    settings: GroupBatches

    def draw(self, step: int) -> Drawn:
        """Return the distinct names of a step's groups, each with its concept, in one view."""
        rng = self._random(step)
        anchors = self._anchors[self._rows(step, self.settings.size)]
        groups = [self._group(int(place), rng) for place in anchors]
        labels, names = np.unique(np.concatenate(groups), axis=0).T
        return Drawn(names[None], labels[None])

    def _group(self, place: int, rng: np.random.Generator) -> np.ndarray:
        """Return concept and name of a group's members, int64 (n, 2), the anchor first.

        place (int): Of the anchor among the names of all concepts.
        """
        concept = int(np.searchsorted(self.data.node_names_indptr, place, side="right")) - 1
        start, end = self.data.node_names_indptr[concept : concept + 2]
        own = np.asarray(self.data.node_names[start:end])
        anchor = self.data.node_names[place]
        synonyms = rng.permutation(own[own != anchor])[: self.settings.synonyms]
        near = self.near_names(np.array([anchor]))[0]
        labels = np.where(np.isin(near, own), concept, self._one_of(near, rng))
        members = np.concatenate([[anchor], near, synonyms])
        concepts = np.concatenate([[concept], labels, np.full(len(synonyms), concept)])
        return np.stack([concepts, members], axis=1).astype(np.int64)

    def _one_of(self, names: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return a concept of each name, uniformly drawn from those that it names."""
        starts, ends, concepts = self.concepts_of(names)
        return concepts[starts + (rng.random(len(names)) * (ends - starts)).astype(np.int64)]

    @property
    def _population(self) -> int:
        return len(self._anchors)

    @cached_property
    def _anchors(self) -> np.ndarray:
        """Places of the names of concepts that have pairs."""
        paired = np.zeros(self.data.n_concepts, dtype=bool)
        paired[self.data.pairs[:, 0]] = True
        return np.flatnonzero(np.repeat(paired, np.diff(self.data.node_names_indptr)))
