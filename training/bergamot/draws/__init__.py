"""What the batches of a run are made of: names, their concepts, and what is known of them.

A kind of batches is a settings class, which a config names with `@batches = "…"`, and the draws
that it makes. A draw depends on the seed and the step alone.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from training.bergamot.hard_negatives import Near, Search
from training.bergamot.sampler import Subgraph, rows_of
from training.errors import BergamotError, Errors
from training.preprocess.training_set import TrainingSet


@dataclass(frozen=True)
class Drawn:
    """What was drawn for a step: N centres, in one view or two.

    names (int (views, n)): Name ids, those of the N centres first.
    labels (int (views, N)): Concepts of the centres.
    subgraph (Subgraph | None): Neighbourhoods of the centres.
    links (int64 (N,) | None): Relation of each head (first view) to its tail (second view).
    known (bool (N, N) | None): Whether head i has its relation to tail j.
    targets (float32 (N,) | None): What cosine both views of a centre are to have.
    rate (float): Share of the learning rate that the step takes.
    """

    names: np.ndarray
    labels: np.ndarray
    subgraph: Subgraph | None = None
    links: np.ndarray | None = None
    known: np.ndarray | None = None
    targets: np.ndarray | None = None
    rate: float = 1.0


@dataclass(frozen=True)
class BatchSettings(ABC):
    """What all kinds of batches have.

    size (int): Pairs, triples or groups per batch, over all processes.
    chunk_tokens (int): Token slots of one forward pass of the language model.
    exclude_homonyms (bool): Keep concepts that share a name out of the negatives.
    exclude_relatives (int): Keep ancestors and descendants up to so many steps out of them.
    workers (int): Processes that prepare batches ahead; 0 prepares them in the main process.
    """

    gives: ClassVar[frozenset[str]] = frozenset()
    """What objectives may need beyond names and concepts: "graph", "triples" or "targets"."""

    size: int
    chunk_tokens: int = 4096
    exclude_homonyms: bool = True
    exclude_relatives: int = 0
    workers: int = 0

    @property
    def detached(self) -> bool:
        """Whether no gradient goes into names that are not of centres."""
        return False

    @abstractmethod
    def draws(self, data: TrainingSet, *, seed: int, graph: bool) -> "Draws":
        """Return the draws of a run.

        graph (bool): Sample neighbourhoods.
        RAISES (BergamotError): B232 if the training set is too small for a batch.
        """


class Draws(ABC):
    """Draw what the batch of a step is made of; base of every kind.

    settings (BatchSettings), data (TrainingSet): How, and what is drawn from.
    what (str): What is drawn, in a word.
    search (Search | None): What near lists are made of, and when; None needs none.
    near (Near | None): The list in use.
    """

    what: ClassVar[str]
    settings: BatchSettings
    search: Search | None = None
    near: Near | None = None

    def __init__(self, settings: BatchSettings, data: TrainingSet, *, seed: int) -> None:
        self.settings = settings
        self.data = data
        self.seed = seed
        self._order = lru_cache(maxsize=1)(self._shuffle)
        if (count := self._population) < settings.size:
            raise BergamotError(Errors.B232, size=settings.size, count=count, what=self.what)

    @property
    def steps_per_epoch(self) -> int:
        """Whole batches in one pass over what is drawn from."""
        return self._population // self.settings.size

    @abstractmethod
    def draw(self, step: int) -> Drawn:
        """Return what the batch of a step is made of."""

    @property
    @abstractmethod
    def _population(self) -> int:
        """How many rows an epoch goes through."""

    def _rows(self, step: int, size: int) -> np.ndarray:
        """Return the rows of a step, sorted: each row once an epoch, in a random order."""
        epoch, index = divmod(step, self.steps_per_epoch)
        return np.sort(self._order(epoch)[index * size : (index + 1) * size])

    def _shuffle(self, epoch: int) -> np.ndarray:
        order = np.arange(self._population, dtype=np.int32)
        np.random.default_rng([self.seed, 0, epoch]).shuffle(order)
        return order

    def _random(self, step: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, 1, step])

    def __getstate__(self) -> dict[str, Any]:
        """Another process derives again what is derived: it is as large as the training set."""
        classes = type(self).__mro__
        derived = {
            k for of in classes for k, v in vars(of).items() if isinstance(v, cached_property)
        }
        return {k: v for k, v in self.__dict__.items() if k not in {"_order", *derived}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._order = lru_cache(maxsize=1)(self._shuffle)


def trained_concepts(data: TrainingSet) -> np.ndarray:
    """Return which concepts are trained on, bool (n,): those with pairs, or with just one name.

    One with several names and no pair is kept for validation.
    """
    trained = np.diff(data.node_names_indptr) == 1
    trained[data.pairs[:, 0]] = True
    return trained


def some_names(
    data: TrainingSet, concepts: np.ndarray, counts: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return `counts` distinct names of each concept, uniformly drawn, one concept's after another.

    concepts, counts (int (n,)): A concept has at least so many names.
    """
    owners, places = rows_of(data.node_names_indptr, concepts)
    order = np.lexsort((rng.random(len(places)), owners))
    owners, places = owners[order], places[order]
    ranks = np.arange(len(owners)) - np.searchsorted(owners, owners)
    return np.asarray(data.node_names[places[ranks < counts[owners]]])
