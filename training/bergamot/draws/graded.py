"""`graded.v1`: pairs of names with a score of how near they are, for HierCODER.

Half of a batch are positives: two names of a concept (1), or a name and an ancestor's (the training
set's score, at most 0.9). To the anchor of each comes the nearest name whose concepts are neither
its own nor above it (0). So near names of related concepts are pushed to cosine 0, which harms.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from training.bergamot.draws import Drawn
from training.bergamot.draws.near_names import NearNameBatches, NearNameDraws
from training.bergamot.negatives import Exclusions
from training.errors import BergamotError, Errors
from training.preprocess.training_set import TrainingSet
from training.registry import registry


@registry.batches("graded.v1")
@dataclass(frozen=True)
class GradedBatches(NearNameBatches):
    """What a batch of graded pairs is made of, beside what all kinds with near names have.

    size (int): Pairs per batch, over all processes; a few less where no negative is near.
    hierarchical (float): Share of the positives that are a name and an ancestor's.
    near (int): Nearest names of an anchor among which its negative is looked for.
    refresh (int): 0 searches once, as the original.
    negative_rate (float | None): None takes one step with positives and negatives. A number takes
        two, with the positives and then with their negatives at this share of the learning rate.
    """

    gives: ClassVar[frozenset[str]] = frozenset({"targets"})

    size: int = 128
    hierarchical: float = 0.3
    near: int = 12
    refresh: int = 0
    negative_rate: float | None = None

    def draws(self, data: TrainingSet, *, seed: int, graph: bool) -> "GradedDraws":
        """Return the draws. graph: Not used. RAISES (BergamotError): B232, B233."""
        return GradedDraws(self, data, seed=seed)


class GradedDraws(NearNameDraws):
    """Draw graded pairs, uniformly with replacement, and mine a negative of each one's anchor."""

    what = "pairs"
    settings: GradedBatches

    def __init__(self, settings: GradedBatches, data: TrainingSet, *, seed: int) -> None:
        super().__init__(settings, data, seed=seed)
        if data.graded_pairs is None:
            raise BergamotError(Errors.B233, path=data.path)
        self.excluded = Exclusions(
            data, homonyms=settings.exclude_homonyms, relatives=settings.exclude_relatives
        )

    @property
    def steps_per_epoch(self) -> int:
        """Batches with as many pairs of one concept as there are."""
        return self._population // (self.settings.size // 2) * self._parts

    def draw(self, step: int) -> Drawn:
        """Return the anchors in the first view, what they are compared with in the second."""
        positives, targets = self._positives(self._random(step // self._parts))
        anchors, negatives = self._negatives(positives[:, :2])
        mined = np.concatenate([anchors, negatives], axis=1)
        zeros = np.zeros(len(mined), dtype=np.float32)
        rate = self.settings.negative_rate
        if rate is None:
            both = np.concatenate([positives, mined])
            return _drawn(both, np.concatenate([targets, zeros]))
        if step % self._parts and len(mined):
            return _drawn(mined, zeros, rate)
        return _drawn(positives, targets)

    @property
    def _population(self) -> int:
        return len(self.data.pairs)

    @property
    def _parts(self) -> int:
        """Steps of a draw."""
        return 1 if self.settings.negative_rate is None else 2

    def _positives(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return concept and name, and concept and name, (n, 4), and their scores (n,)."""
        data = self.data
        assert data.graded_pairs is not None
        assert data.graded_scores is not None
        count = self.settings.size // 2
        above = round(self.settings.hierarchical * count)
        graded = rng.integers(len(data.graded_pairs), size=above)
        same = data.pairs[rng.integers(len(data.pairs), size=count - above)]
        rows = np.concatenate([same[:, [0, 1, 0, 2]], data.graded_pairs[graded]])
        ones = np.ones(len(same), dtype=np.float32)
        return rows, np.concatenate([ones, data.graded_scores[graded]])

    def _negatives(self, anchors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the anchors that have a negative near, and it: concept and name, (n, 2) each."""
        near = self.near_names(anchors[:, 1])
        kept, found = [], []
        for row, (concept, names) in enumerate(zip(anchors[:, 0], near, strict=True)):
            starts, ends, concepts = self.concepts_of(names)
            for name, start, end in zip(names, starts, ends, strict=True):
                if self._is_negative(concept, concepts[start:end]):
                    kept.append(row)
                    found.append((concepts[start], name))
                    break
        return anchors[kept], np.array(found, dtype=np.int32).reshape(-1, 2)

    def _is_negative(self, anchor: int, concepts: np.ndarray) -> bool:
        """Return whether none of a name's concepts is the anchor's, above it, or excluded."""
        assert self.data.ancestors is not None
        assert self.data.ancestors_indptr is not None
        start, end = self.data.ancestors_indptr[anchor : anchor + 2]
        if (concepts == anchor).any() or np.isin(concepts, self.data.ancestors[start:end]).any():
            return False
        return not self.excluded(np.array([anchor, *concepts]))[0].any()


def _drawn(rows: np.ndarray, targets: np.ndarray, rate: float = 1.0) -> Drawn:
    return Drawn(rows[:, [1, 3]].T, rows[:, [0, 2]].T, targets=targets, rate=rate)
