"""OntoEA's similarity as a score of pairs: of those that names propose, or of its own."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from spacy_bergamot.encoder.device import resolve_device
from spacy_bergamot.kb.concept_table import ConceptTable
from training.align.confidence import Confidence, learned, tuned
from training.align.ontoea.graphs import Graphs
from training.align.ontoea.measure import figures, nearest_pairs, ranks
from training.align.ontoea.names import start_of
from training.align.ontoea.train import Trained, train
from training.align.pairs import Pairs, margins
from training.align.sides import Side, conflict, groups_of
from training.errors import BergamotError, Errors

LEAST = 30
"""Seeds below which nothing is learned."""
NAME = "ontoea"
_BLOCK = 4096
_SEED = 0


class Task(NamedTuple):
    """What OntoEA is given.

    graphs (Graphs): Of both sides.
    seeds, valid (int64 (n, 2)): Left and right rows to learn from, and to stop and to fit
        confidence by.
    """

    graphs: Graphs
    seeds: np.ndarray
    valid: np.ndarray

    @classmethod
    def of(cls, left: ConceptTable, right: ConceptTable, seeds: np.ndarray) -> "Task":
        """Read both sides; two thirds of the seeds are drawn to learn from.

        Confidence is fitted on the others, for OntoEA is surer of what it has learned from.

        RAISES (BergamotError): B244 for too few seeds, and as `Graphs.of`.
        """
        if len(seeds) < LEAST:
            raise BergamotError(Errors.B244, count=len(seeds), least=LEAST)
        drawn = np.random.default_rng(_SEED).permutation(seeds)
        return cls(Graphs.of(left, right), *np.split(drawn, [len(seeds) * 2 // 3]))


def learn(
    task: Task, left: ConceptTable, right: Side, folder: Path, *, device: str = "cpu"
) -> Trained:
    """Train OntoEA on two sides, beginning with the vectors of their names.

    right (Side): With its generator. folder (Path): Of the checkpoint.
    RAISES (BergamotError): As `train`.
    """
    return train(task.graphs, task.seeds, task.valid, start_of(left, right), folder,
                 device=resolve_device(device), progress=True)  # fmt: skip


class Weighed(NamedTuple):
    """Pairs, their confidence, and what OntoEA learned."""

    pairs: Pairs
    confidence: Confidence
    trained: Trained

    def ranked(self, gold: np.ndarray) -> dict[str, float]:
        """Return OntoEA's Hits, mean rank and MRR among all right concepts, with CSLS as well."""
        plain, csls = (
            figures(ranks(self.trained.left, self.trained.right, gold, csls=csls))
            for csls in (False, True)
        )
        return plain | {f"{key} (CSLS)": value for key, value in csls.items()}


def weigh(
    task: Task,
    left: ConceptTable,
    right: Side,
    folder: Path,
    *,
    named: Pairs | None,
    k: int,
    device: str = "cpu",
) -> Weighed:
    """Train OntoEA, and weigh pairs by it.

    folder (Path): Of the checkpoint.
    named (Pairs | None): Pairs that get its similarity as one more feature; without, its own are
        weighed by it alone. k (int): Nearest concepts that these are of.
    RAISES (BergamotError): As `learn` and `learned`.
    """
    trained = learn(task, left, right, folder, device=device)
    if named is None:
        pairs = pairs_of(trained, left, right.table, k=k)
        return Weighed(pairs, tuned(pairs, learned(pairs, task.valid), task.valid), trained)
    pairs = named.with_feature(NAME, similarity(trained, named))
    return Weighed(pairs, learned(pairs, task.valid), trained)


def similarity(trained: Trained, pairs: Pairs) -> np.ndarray:
    """Return OntoEA's similarity of pairs, float64 (n,)."""
    found = np.empty(len(pairs.left))
    for start in range(0, len(found), _BLOCK):
        at = slice(start, start + _BLOCK)
        vectors = trained.left[pairs.left[at]], trained.right[pairs.right[at]]
        found[at] = np.einsum("ij,ij->i", *vectors)
    return found


def pairs_of(trained: Trained, left: ConceptTable, right: ConceptTable, *, k: int) -> Pairs:
    """Return every concept's pairs with the nearest ones of the other side.

    Their features are the similarity, and what it is beyond that of the best other right and left
    concept. Pairs whose semantic groups are known and have none in common are dropped.

    k (int): Of the nearest.
    """
    found = nearest_pairs(trained.left, trained.right, k)
    groups, others = groups_of(left), groups_of(right)
    agree = [not conflict(groups[one], others[other]) for one, other in found.tolist()]
    kept = np.array(agree, dtype=bool)
    ones, others_of = found[kept].T
    pairs = Pairs(ones, others_of, np.empty((len(ones), 0)), int((~kept).sum()), ())
    values = similarity(trained, pairs)
    for name, of in ((NAME, values), ("margin", margins(values, ones)),
                     ("back", margins(values, others_of))):  # fmt: skip
        pairs = pairs.with_feature(name, of)
    return pairs
