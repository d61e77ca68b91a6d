"""`groups.v1`: an anchor, its nearest names and its synonyms, for CODER++ (Zeng et al. 2022)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from training.bergamot.draws import BatchSettings, Drawn, Draws, trained_concepts
from training.bergamot.errors import BergamotError, Errors
from training.bergamot.hard_negatives import Search
from training.preprocess.training_set import TrainingSet
from training.registry import registry


@registry.batches("groups.v1")
@dataclass(frozen=True)
class GroupBatches(BatchSettings):
    """What a batch of groups is made of, beside what all kinds have.

    size (int): Groups per batch, over all processes; each is an anchor with both kinds of names.
    near (int): Names nearest to the anchor, of any concept.
    synonyms (int): Other names of the anchor's concept, as many as it has at most.
    refresh (int): Steps between searches for the nearest names, each with the model as it is then;
        0 searches once. A search takes n² · d multiplications for n names.
    """

    size: int = 4
    near: int = 30
    synonyms: int = 30
    refresh: int = 1000

    def draws(self, data: TrainingSet, *, seed: int, graph: bool) -> "GroupDraws":
        """Return the draws; arguments and errors as in `BatchSettings`."""
        return GroupDraws(self, data, seed=seed)


class GroupDraws(Draws):
    """Draw groups: every name of a concept that has pairs is an anchor once an epoch."""

    def __init__(self, settings: GroupBatches, data: TrainingSet, *, seed: int) -> None:
        super().__init__(data, seed=seed)
        self.settings = settings
        if self._population < settings.size:
            raise BergamotError(
                Errors.B232, size=settings.size, count=self._population, what="anchors"
            )
        self.search = Search(settings.refresh, settings.near, self._searched)

    @property
    def steps_per_epoch(self) -> int:
        """Whole batches in one pass over the anchors."""
        return self._population // self.settings.size

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
        assert self.near is not None
        concept = int(np.searchsorted(self.data.node_names_indptr, place, side="right")) - 1
        start, end = self.data.node_names_indptr[concept : concept + 2]
        own = np.asarray(self.data.node_names[start:end])
        anchor = self.data.node_names[place]
        synonyms = rng.permutation(own[own != anchor])[: self.settings.synonyms]
        near = self.near.of(np.array([anchor]))[0]
        labels = np.where(np.isin(near, own), concept, self._concepts_of(near, rng))
        members = np.concatenate([[anchor], near, synonyms])
        concepts = np.concatenate([[concept], labels, np.full(len(synonyms), concept)])
        return np.stack([concepts, members], axis=1).astype(np.int64)

    def _concepts_of(self, names: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return a concept of each name, uniformly drawn from those that it names."""
        named, concepts = self._by_name
        starts = np.searchsorted(named, names)
        counts = np.searchsorted(named, names, side="right") - starts
        return concepts[starts + (rng.random(len(names)) * counts).astype(np.int64)]

    @property
    def _population(self) -> int:
        return len(self._anchors)

    @cached_property
    def _anchors(self) -> np.ndarray:
        """Places of the names of concepts that have pairs."""
        paired = np.zeros(self.data.n_concepts, dtype=bool)
        paired[self.data.pairs[:, 0]] = True
        return np.flatnonzero(np.repeat(paired, np.diff(self.data.node_names_indptr)))

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
        """Return the names that are looked for: those of the concepts that are trained on."""
        names = np.unique(self._by_name[0])
        return names, names
