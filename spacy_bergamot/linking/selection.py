"""From hits to concepts: what the filters allow of them, fetched until there is enough."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spacy_bergamot.encoder.text_encoder import Encodes
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.linking.filters import Masks
from spacy_bergamot.linking.generators import Generator, Hits
from spacy_bergamot.linking.mention import Query
from spacy_bergamot.ragged import expand

_MOST_FETCHED = 8192


class Allowed(NamedTuple):
    """Aliases among a generator's hits that the filters allow, best first: rows, and scores."""

    strings: np.ndarray
    aliases: np.ndarray
    concepts: np.ndarray
    scores: np.ndarray


class Chosen(NamedTuple):
    """The best concepts of one generator: rows in the table, scores, rows of their aliases.

    floor (float): What a concept that is not among them can have at most.
    allowed (Allowed): What they were chosen from.
    """

    concepts: np.ndarray
    scores: np.ndarray
    aliases: np.ndarray
    floor: float
    allowed: Allowed

    @property
    def decides(self) -> bool:
        """Whether one concept, and no other, has score 1."""
        return int((self.scores >= 1).sum()) == 1


class Selection:
    """Chooses at least k concepts of an index, if so many are allowed."""

    def __init__(self, index: AliasIndex, masks: Masks) -> None:
        self.index = index
        self.masks = masks
        self._concept_of = index.table.keys("aliases")

    def __call__(
        self, generator: Generator, queries: Sequence[Query], encoder: Encodes, k: int
    ) -> list[Chosen]:
        """Fetch more and more hits until k allowed concepts are found or none is left.

        queries (Sequence[Query]): What is sought.
        """
        if not queries:
            return []
        search = generator.search(queries, self.index, encoder)
        results: list[Chosen | None] = [None] * len(queries)
        open_rows, fetch = list(range(len(queries))), 4 * k
        while open_rows:
            for row, hits in zip(open_rows, search(open_rows, fetch), strict=True):
                best = self._best(hits, queries[row].label, k)
                done = len(best.concepts) >= k or hits.exhausted or fetch >= _MOST_FETCHED
                results[row] = best if done else None
            open_rows = [row for row in open_rows if results[row] is None]
            fetch = min(4 * fetch, _MOST_FETCHED)
        return [result for result in results if result is not None]

    def aliases(self, hits: Hits) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the strings of hits, the rows of their aliases and their scores, each by alias."""
        aliases, row = expand(self.index.indptr, self.index.postings, hits.strings)
        return hits.strings[row], aliases, hits.scores[row]

    def _best(self, hits: Hits, label: str, k: int) -> Chosen:
        """Return the k best allowed concepts, and those with the same score as the last."""
        strings, aliases, scores = self.aliases(hits)
        concepts = self._concept_of[aliases]
        kept = np.ones(len(aliases), dtype=bool)
        if self.masks.aliases is not None:
            kept &= self.masks.aliases[aliases]
        mask = self.masks.concepts(label)
        if mask is not None:
            kept &= mask[concepts]
        allowed = Allowed(strings[kept], aliases[kept], concepts[kept], scores[kept])
        _, first = np.unique(allowed.concepts, return_index=True)
        first.sort()
        scores = allowed.scores
        if len(first) > k:
            first = first[scores[first] >= scores[first[k - 1]]]
        complete = hits.exhausted and len(first) < k
        floor = 0.0 if complete or not len(first) else float(scores[first[-1]])
        return Chosen(
            allowed.concepts[first], scores[first], allowed.aliases[first], floor, allowed
        )


def same_names(strings: np.ndarray, concepts: np.ndarray, place: int) -> int:
    """Count the aliases that have the string and the concept of the one at a place.

    strings, concepts (int64 (n,)): Of the aliases.
    place (int): Of one of them.
    """
    same = (strings == strings[place]) & (concepts == concepts[place])
    return int(same.sum())
