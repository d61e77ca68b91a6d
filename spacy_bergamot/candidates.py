"""From mentions to candidate concepts, filtered before the top k.

Order of candidates: score (six decimals), then concepts whose preferred name is the alias found,
then the concept id.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from spacy_bergamot.alias_index import AliasIndex
from spacy_bergamot.filters import CandidateFilter, Masks
from spacy_bergamot.generators import Encodes, EnsembleGenerator, Generator, Hits, expand
from spacy_bergamot.text import has_letters, normalize
from spacy_bergamot.text_encoder import TextEncoder

_COLUMNS = ("alias", "language", "source")
_MOST_FETCHED = 8192
_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Candidate:
    """One concept proposed for a mention.

    concept_id (str): Its id.
    score (float): Of the mention and its best alias; 1.0 if they are the same.
    alias, language, source (str): That alias as the knowledge base writes it.
    generator (str): What found that alias: "exact", "lexical", "dense".
    scores (dict[str, float]): The score of every generator that found the concept, unweighted.
    probability (float | None): That it is right, where the linker was calibrated.
    """

    concept_id: str
    score: float
    alias: str
    language: str
    source: str
    generator: str
    scores: dict[str, float] = field(default_factory=dict)
    probability: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return a dict of plain values, for `span._.candidates`."""
        values = {name: getattr(self, name) for name in self.__slots__}
        if self.probability is None:
            del values["probability"]
        return {**values, "scores": dict(self.scores)}


class Dropped(NamedTuple):
    """A concept that a generator found and a filter dropped."""

    concept_id: str
    alias: str
    generator: str
    score: float
    reason: str


class _Chosen(NamedTuple):
    """The best concepts of one generator: rows in the table, scores, rows of their aliases.

    floor (float): What a concept that is not among them can have at most.
    """

    concepts: np.ndarray
    scores: np.ndarray
    aliases: np.ndarray
    floor: float


class CandidateGenerator:
    """Propose up to k concepts a mention.

    encoder (TextEncoder), index (AliasIndex): Of one language model.
    generator (Generator | EnsembleGenerator): Where aliases come from.
    removed (np.ndarray | None): bool, the aliases that are never proposed.
    """

    def __init__(
        self,
        encoder: TextEncoder,
        index: AliasIndex,
        allowed: CandidateFilter,
        *,
        k: int,
        generator: Generator | EnsembleGenerator,
        removed: np.ndarray | None = None,
    ) -> None:
        if not isinstance(generator, EnsembleGenerator):
            generator = EnsembleGenerator({generator.name: generator})
        self.encoder = encoder
        self.index = index
        self.ensemble = generator
        self.masks = Masks(index.table, allowed, removed)
        self.k = k
        table = index.table
        self._concept_of = table.keys("aliases")
        self._columns = {name: table.column("aliases", name) for name in _COLUMNS}

    def generate(
        self, mentions: Sequence[tuple[str, str]], *, encoder: Encodes | None = None
    ) -> list[list[Candidate]]:
        """Return the candidates of (mention, entity label) pairs, best first.

        Where the first generator is exact and stops the others, a mention that is an alias, case
        and spacing aside, needs no language model.

        encoder (Encodes | None): What encodes instead of the generator's own.
        """
        names = [normalize(mention) for mention, _ in mentions]
        labels = [label for _, label in mentions]
        found: list[dict[str, _Chosen]] = [{} for _ in mentions]
        open_rows = [row for row, name in enumerate(names) if has_letters(name)]
        for number, (key, generator) in enumerate(self.ensemble.generators.items()):
            wanted = [names[row] for row in open_rows]
            chosen = self._choose(
                generator,
                wanted,
                [labels[row] for row in open_rows],
                encoder or self.encoder,
            )
            for row, best in zip(open_rows, chosen, strict=True):
                if len(best.concepts):  # one that finds nothing has no say
                    found[row][key] = best
            if not number and self.ensemble.stop_at_exact:
                open_rows = [row for row in open_rows if not _is_exact(found[row].get(key))]
            if not open_rows:
                break
        return [self._united(parts) for parts in found]

    def dropped(self, mention: str, label: str = "") -> list[Dropped]:
        """Return what the generators find for a mention and the filters drop, and why."""
        name, found = normalize(mention), []
        for key, generator in self.ensemble.generators.items():
            if not has_letters(name):
                break
            hits = generator.search([name], self.index, self.encoder)([0], 4 * self.k)[0]
            for alias, score in zip(*self._aliases(hits), strict=True):
                concept = int(self._concept_of[alias])
                reason = self.masks.reason(int(alias), concept, label)
                if reason is not None:
                    text = self._columns["alias"][int(alias)].as_py()
                    concept_id = self.index.table.concept_id(concept)
                    found.append(Dropped(concept_id, text, key, round(float(score), 6), reason))
        return list(dict.fromkeys(found))

    def _choose(
        self, generator: Generator, names: list[str], labels: list[str], encoder: Encodes
    ) -> list[_Chosen]:
        """Fetch more and more hits until k allowed concepts are found or none is left."""
        if not names:
            return []
        search = generator.search(names, self.index, encoder)
        results: list[_Chosen | None] = [None] * len(names)
        open_rows, fetch = list(range(len(names))), 4 * self.k
        while open_rows:
            for row, hits in zip(open_rows, search(open_rows, fetch), strict=True):
                best = self._best(hits, labels[row])
                done = len(best.concepts) >= self.k or hits.exhausted or fetch >= _MOST_FETCHED
                results[row] = best if done else None
            open_rows = [row for row in open_rows if results[row] is None]
            fetch = min(4 * fetch, _MOST_FETCHED)
        return [result for result in results if result is not None]

    def _aliases(self, hits: Hits) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of the aliases that the strings are, and their scores."""
        indptr = self.index.indptr
        sizes = indptr[hits.strings + 1] - indptr[hits.strings]
        aliases = expand(indptr, self.index.postings, hits.strings)
        return aliases, np.repeat(hits.scores, sizes)

    def _best(self, hits: Hits, label: str) -> _Chosen:
        """Return the k best allowed concepts, and those with the same score as the last."""
        aliases, scores = self._aliases(hits)
        concepts = self._concept_of[aliases]
        kept = np.ones(len(aliases), dtype=bool)
        if self.masks.aliases is not None:
            kept &= self.masks.aliases[aliases]
        allowed = self.masks.concepts(label)
        if allowed is not None:
            kept &= allowed[concepts]
        aliases, scores, concepts = aliases[kept], scores[kept], concepts[kept]
        _, first = np.unique(concepts, return_index=True)
        first.sort()
        if len(first) > self.k:
            first = first[scores[first] >= scores[first[self.k - 1]]]
        complete = hits.exhausted and len(first) < self.k
        floor = 0.0 if complete or not len(first) else float(scores[first[-1]])
        return _Chosen(concepts[first], scores[first], aliases[first], floor)

    def _united(self, parts: dict[str, _Chosen]) -> list[Candidate]:
        """Combine the generators' concepts by weighted score; return the best k."""
        weights = {key: self.ensemble.weights.get(key, 1.0) for key in parts}
        entries: dict[int, dict[str, tuple[float, int]]] = {}
        for key, (concepts, scores, aliases, _) in parts.items():
            for concept, score, alias in zip(
                concepts.tolist(), scores.tolist(), aliases.tolist(), strict=True
            ):
                entries.setdefault(concept, {})[key] = (min(score, 1.0), alias)
        ranked: list[tuple[float, str, int, int, dict[str, tuple[float, int]]]] = []
        for concept, by_key in entries.items():
            best = max(by_key, key=lambda key: weights[key] * by_key[key][0])
            score = weights[best] * by_key[best][0]
            if self.ensemble.combine == "mean":
                each = (
                    weight * (by_key[key][0] if key in by_key else parts[key].floor)
                    for key, weight in weights.items()
                )
                score = sum(each) / sum(weights.values())
            ranked.append((-round(score, _DECIMALS), best, concept, by_key[best][1], by_key))
        return self._ordered(ranked)

    def _ordered(self, ranked: list[tuple]) -> list[Candidate]:
        ranked.sort(key=lambda entry: entry[0])
        if len(ranked) > self.k:
            last = ranked[self.k - 1][0]
            ranked = [entry for entry in ranked if entry[0] <= last]
        made = [self._candidate(*entry) for entry in ranked]
        made.sort(key=lambda pair: (-pair[0].score, not pair[1], pair[0].concept_id))
        return [candidate for candidate, _ in made[: self.k]]

    def _candidate(
        self, negative: float, key: str, concept: int, alias: int, by_key: dict[str, Any]
    ) -> tuple[Candidate, bool]:
        """Return a candidate, and whether its alias is the concept's preferred name."""
        table = self.index.table
        text, language, source = (column[alias].as_py() for column in self._columns.values())
        scores = {name: round(score, _DECIMALS) for name, (score, _) in by_key.items()}
        name = self.ensemble.generators[key].name
        candidate = Candidate(
            table.concept_id(concept), -negative, text, language, source, name, scores
        )
        return candidate, text == table.name(concept)


def _is_exact(chosen: _Chosen | None) -> bool:
    return chosen is not None and bool(len(chosen.scores)) and float(chosen.scores[0]) >= 1
