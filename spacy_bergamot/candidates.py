"""From mentions to candidate concepts: exact and dense, filtered before the top k.

Order of candidates: score (cosine, six decimals), then concepts whose preferred name is the alias
found, then the concept id.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from spacy_bergamot.alias_index import AliasIndex
from spacy_bergamot.text import has_letters, normalize
from spacy_bergamot.text_encoder import TextEncoder

_MOST_FETCHED = 8192


@dataclass(frozen=True, slots=True)
class Candidate:
    """One concept proposed for a mention.

    concept_id (str): Its id.
    score (float): Cosine similarity of the mention and its best alias; 1.0 if they are the same.
    alias, language, source (str): That alias as the knowledge base writes it.
    generator (str): "exact" or "dense".
    """

    concept_id: str
    score: float
    alias: str
    language: str
    source: str
    generator: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class CandidateFilter:
    """Which concepts and aliases may be proposed; an empty tuple allows all.

    types_by_label (dict[str, list[str]]): For an entity label, semantic types (TUI) or groups.
    """

    semantic_types: tuple[str, ...] = ()
    semantic_groups: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    types_by_label: Mapping[str, Sequence[str]] = field(default_factory=dict)


class CandidateGenerator:
    """Propose up to k concepts a mention.

    encoder (TextEncoder), index (AliasIndex): Of one language model.
    """

    def __init__(
        self, encoder: TextEncoder, index: AliasIndex, allowed: CandidateFilter, *, k: int
    ) -> None:
        self.encoder = encoder
        self.index = index
        self.allowed = allowed
        self.k = k
        self._alias_mask = self._mask_of_aliases()
        self._concept_mask = lru_cache(maxsize=None)(self._mask_of_concepts)

    def generate(self, mentions: Sequence[tuple[str, str]]) -> list[list[Candidate]]:
        """Return the candidates of (mention, entity label) pairs, best first.

        A mention that is an alias, case and spacing aside, needs no language model.
        """
        names = [normalize(mention) for mention, _ in mentions]
        results: list[list[Candidate]] = [[] for _ in mentions]
        open_rows = []
        for row, string in enumerate(self.index.lookup(names)):
            if string >= 0:
                hits = [(int(string), 1.0)]
                results[row] = self._merge(hits, mentions[row][1], generator="exact")
            if not results[row] and has_letters(names[row]):
                open_rows.append(row)
        if open_rows:
            vectors = self.encoder.encode([names[row] for row in open_rows])
            labels = [mentions[row][1] for row in open_rows]
            for row, found in zip(open_rows, self._dense(vectors, labels), strict=True):
                results[row] = found
        return results

    def _dense(self, vectors: np.ndarray, labels: list[str]) -> list[list[Candidate]]:
        """Fetch more and more aliases until k allowed concepts are found or none is left."""
        results: list[list[Candidate]] = [[] for _ in labels]
        open_rows, fetch = np.arange(len(labels)), 4 * self.k
        most = min(self.index.vectors, _MOST_FETCHED)
        while len(open_rows):
            fetch = min(fetch, most)
            found, scores = self.index.search(vectors[open_rows], fetch)
            for row, ids, values in zip(open_rows, found, scores, strict=True):
                hits = (
                    (int(string), float(score))
                    for vector, score in zip(ids, values, strict=True)
                    if vector >= 0
                    for string in self.index.strings_of(vector)
                )
                results[row] = self._merge(hits, labels[row], generator="dense")
            if fetch == most:
                break
            open_rows = np.array([row for row in open_rows if len(results[row]) < self.k])
            fetch *= 4
        return results

    def _merge(
        self, hits: Iterable[tuple[int, float]], label: str, *, generator: str
    ) -> list[Candidate]:
        """Return the k best concepts of hits on strings, best first, each with its best alias."""
        table, allowed = self.index.table, self._concept_mask(label)
        concepts = table.keys("aliases")
        best: dict[int, tuple[float, int]] = {}
        last = 0.0
        for string, score in hits:
            if len(best) >= self.k and score < last:
                break
            for alias in self.index.alias_rows(string):
                concept = int(concepts[alias])
                if concept in best or not self._allows(allowed, concept, int(alias)):
                    continue
                best[concept] = (round(min(score, 1.0), 6), int(alias))
                last = score
        ranked = [self._candidate(c, score, alias, generator) for c, (score, alias) in best.items()]
        ranked.sort(key=lambda item: (-item[0].score, not item[1], item[0].concept_id))
        return [candidate for candidate, _ in ranked[: self.k]]

    def _candidate(
        self, concept: int, score: float, alias: int, generator: str
    ) -> tuple[Candidate, bool]:
        """Return a candidate, and whether its alias is the concept's preferred name."""
        table = self.index.table
        row = table.aliases.slice(alias, 1).to_pylist()[0]
        candidate = Candidate(
            table.concept_id(concept),
            score,
            row["alias"],
            row["language"],
            row["source"],
            generator,
        )
        return candidate, row["alias"] == table.name(concept)

    def _allows(self, concepts: np.ndarray | None, concept: int, alias: int) -> bool:
        if concepts is not None and not concepts[concept]:
            return False
        return self._alias_mask is None or bool(self._alias_mask[alias])

    def _mask_of_aliases(self) -> np.ndarray | None:
        """Return which aliases are of an allowed language and source, or None for all."""
        wanted = {"language": self.allowed.languages, "source": self.allowed.sources}
        mask = None
        for column, values in wanted.items():
            if values:
                part = _is_in(self.index.table.aliases.column(column), values)
                mask = part if mask is None else mask & part
        return mask

    def _mask_of_concepts(self, label: str) -> np.ndarray | None:
        """Return which concepts fit the filters and a mention's label, or None for all."""
        types, groups = self.allowed.semantic_types, self.allowed.semantic_groups
        by_label = tuple(self.allowed.types_by_label.get(label, ()))
        mask = None
        for wanted in ({*types, *groups}, set(by_label)):
            if wanted:
                part = self._concepts_of_types(tuple(sorted(wanted)))
                mask = part if mask is None else mask & part
        return mask

    def _concepts_of_types(self, wanted: tuple[str, ...]) -> np.ndarray:
        table = self.index.table
        rows = _is_in(table.types.column("type"), wanted)
        rows |= _is_in(table.types.column("group"), wanted)
        mask = np.zeros(len(table), dtype=bool)
        mask[table.keys("types")[rows]] = True
        return mask


def _is_in(column: pa.ChunkedArray, values: Sequence[str]) -> np.ndarray:
    texts = column.cast(pa.string())
    found = pa.compute.is_in(texts, value_set=pa.array(list(values), type=pa.string()))
    return np.array(found.to_numpy(zero_copy_only=False), dtype=bool)
