"""`triples.v1`: names of heads and of tails of relations, for CODER (Yuan et al. 2022)."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from training.bergamot.draws import BatchSettings, Drawn, Draws, some_names, trained_concepts
from training.bergamot.sampler import rows_of
from training.preprocess.training_set import TrainingSet
from training.registry import registry


@registry.batches("triples.v1")
@dataclass(frozen=True)
class TripleBatches(BatchSettings):
    """What a batch of triples is made of, beside what all kinds have.

    size (int): Triples per batch, over all processes.
    names (int): Rows of a triple at most, each a name of its head and a name of its tail; as many
        as both have names. Without several, hardly two names of one concept meet in a batch.
    """

    gives: ClassVar[frozenset[str]] = frozenset({"triples"})

    size: int = 128
    names: int = 8

    def draws(self, data: TrainingSet, *, seed: int, graph: bool) -> "TripleDraws":
        """Return the draws; arguments and errors as in `BatchSettings`."""
        return TripleDraws(self, data, seed=seed)


class TripleDraws(Draws):
    """Draw edges between concepts that are trained on, each once an epoch."""

    what = "triples"
    settings: TripleBatches

    def draw(self, step: int) -> Drawn:
        """Return names of a step's heads in the first view and of their tails in the second."""
        rng, data = self._random(step), self.data
        edges = self._edges[self._rows(step, self.settings.size)]
        tails = np.searchsorted(data.graph_indptr, edges, side="right") - 1
        concepts = np.stack([np.asarray(data.graph_sources[edges]), tails])
        sizes = data.node_names_indptr[concepts + 1] - data.node_names_indptr[concepts]
        counts = np.minimum(sizes.min(0), self.settings.names)
        names = np.stack([some_names(data, side, counts, rng) for side in concepts])
        labels = np.repeat(concepts, counts, axis=1)
        links = np.repeat(data.graph_relations[edges], counts).astype(np.int64)
        return Drawn(names, labels, links=links, known=known_edges(data, labels, links))

    @property
    def _population(self) -> int:
        return len(self._edges)

    @cached_property
    def _edges(self) -> np.ndarray:
        """Places of the edges between concepts that are trained on."""
        trained = trained_concepts(self.data)
        tails = np.repeat(trained, np.diff(self.data.graph_indptr))
        return np.flatnonzero(tails & trained[self.data.graph_sources])


def known_edges(data: TrainingSet, labels: np.ndarray, links: np.ndarray) -> np.ndarray:
    """Return bool (N, N): whether (head i, relation i, tail j) is an edge.

    labels (int (2, N)): Heads and tails. links (int64 (N,)): Relations.
    """
    count = max(1, len(data.relation_labels))
    asked, anchor = np.unique(labels[0] * np.int64(count) + links, return_inverse=True)
    tails, candidate = np.unique(labels[1], return_inverse=True)
    owners, edges = rows_of(data.graph_indptr, tails)
    keys = data.graph_sources[edges] * np.int64(count) + data.graph_relations[edges]
    places = np.minimum(np.searchsorted(asked, keys), len(asked) - 1)
    found = asked[places] == keys
    table = np.zeros((len(asked), len(tails)), dtype=bool)
    table[places[found], owners[found]] = True
    return table[anchor][:, candidate]
