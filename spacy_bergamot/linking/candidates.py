"""From mentions to candidate concepts, filtered before the top k.

Order of candidates: score (six decimals), then by how many of its names are the string found (an
ambiguous name means most often what most sources say), then concepts whose preferred name it is,
then the concept id.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from spacy_bergamot.encoder.text_encoder import CachingEncoder, Encodes
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.linking.dropped import Dropped, each_once
from spacy_bergamot.linking.filters import CandidateFilter, Masks
from spacy_bergamot.linking.generators import FOLDED, EnsembleGenerator, Generator
from spacy_bergamot.linking.mention import Query
from spacy_bergamot.linking.rescoring import Pool, Rescorer, Scored
from spacy_bergamot.linking.selection import Chosen, Selection, same_names
from spacy_bergamot.text import has_letters

NIL = "NIL"
"""Stands for no concept, as in spaCy's `EntityLinker.NIL`."""

_COLUMNS = ("alias", "language", "source")
_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Candidate:
    """One concept proposed for a mention.

    concept_id (str): Its id.
    score (float): Of the mention and its best alias; 1.0 if they are the same.
    alias, language, source (str): That alias as the knowledge base writes it.
    generator (str): What found that alias: "exact", "folded", "lexical", "dense".
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


class Found(NamedTuple):
    """What was found for one mention.

    parts (dict[str, Chosen]): By generator, of those that found anything.
    pool (Pool | None), scored (Scored | None): Where aliases are rescored.
    """

    parts: dict[str, Chosen]
    pool: Pool | None = None
    scored: Scored | None = None


class Entry(NamedTuple):
    """A concept and its best alias, as rows.

    key (str): What found the alias. names (int): Aliases of the concept that are the same string.
    scores (dict[str, float]): What each generator gave it.
    """

    score: float
    key: str
    concept: int
    alias: int
    names: int
    scores: dict[str, float]


class Ranked(NamedTuple):
    """A candidate and its place among others: the smallest comes first."""

    place: tuple[float, int, bool, str]
    candidate: Candidate


class CandidateGenerator:
    """Propose concepts for mentions.

    encoder (Encodes), index (AliasIndex): Of one language model.
    generator (Generator | EnsembleGenerator): Where aliases come from.
    removed (np.ndarray | None): bool, the aliases that are never proposed.
    """

    def __init__(
        self,
        encoder: Encodes,
        index: AliasIndex,
        allowed: CandidateFilter,
        *,
        generator: Generator | EnsembleGenerator,
        removed: np.ndarray | None = None,
    ) -> None:
        if not isinstance(generator, EnsembleGenerator):
            generator = EnsembleGenerator({generator.name: generator})
        self.encoder = encoder
        self.index = index
        self.ensemble = generator
        self.rescorer = Rescorer(index, generator) if generator.combine == "rescored" else None
        self.masks = Masks(index.table, allowed, removed)
        table = index.table
        self._select = Selection(index, self.masks)
        self._concept_of = table.keys("aliases")
        self._columns = {name: table.column("aliases", name) for name in _COLUMNS}

    def generate(
        self, mentions: Sequence[Query | tuple[str, str]], *, k: int
    ) -> list[list[Candidate]]:
        """Return up to k candidates of every mention, best first.

        mentions (Sequence[Query | tuple[str, str]]): Names, as a rule with labels and languages.
            One that is an alias needs no language model: its vector is in the index.
        """
        found = self.find(mentions, k=k)
        return [[candidate for _, candidate in self.rank(one, k=k)] for one in found]

    def find(
        self,
        mentions: Sequence[Query | tuple[str, str]],
        *,
        k: int,
        encoder: Encodes | None = None,
        beside: Sequence[Found] | None = None,
    ) -> list[Found]:
        """Return what is found for mentions, for `rank`.

        mentions (Sequence[Query | tuple[str, str]]): As of `generate`.
        k (int): Concepts that every generator is asked for.
        encoder (Encodes | None): What encodes instead of the generator's own.
        beside (list[Found] | None): What another generator found, with which this one's candidates
            are to be compared.
        """
        encoder = CachingEncoder(encoder or self.encoder)
        wanted = [Query(*mention) for mention in mentions]
        names = [one.name for one in wanted]
        parts: list[dict[str, Chosen]] = [{} for _ in mentions]
        open_rows = [row for row, name in enumerate(names) if has_letters(name)]
        for key, generator in self.ensemble.generators.items():
            asked = [wanted[row] for row in open_rows]
            chosen = self._select(generator, asked, encoder, k)
            for row, best in zip(open_rows, chosen, strict=True):
                if len(best.concepts):  # one that finds nothing has no say
                    parts[row][key] = best
            if self.ensemble.stop_at_exact and self.ensemble.is_exact(key):
                open_rows = [row for row in open_rows if not _decides(parts[row].get(key))]
            if not open_rows:
                break
        return self._rescored(names, parts, encoder, beside)

    def rank(self, found: Found, *, k: int) -> list[Ranked]:
        """Return the best k candidates, best first.

        found (Found): Of one mention.
        k (int): Concepts.
        """
        if found.pool is None or found.scored is None:
            return self._ordered(self._merged(found.parts), k)
        return self._ordered(self._by_rescoring(found.pool, found.scored, k), k)

    def dropped(self, query: Query, *, k: int) -> list[Dropped]:
        """Return the concepts that the generators find for a mention and the filters drop, and why.

        query (Query): The mention. k (int): Of 4 k aliases that each generator finds.
        """
        found = []
        for key, generator in self.ensemble.generators.items():
            if not has_letters(query.name):
                break
            hits = generator.search([query], self.index, self.encoder)([0], 4 * k)[0]
            _, aliases, scores = self._select.aliases(hits)
            for alias, score in zip(aliases, scores, strict=True):
                concept = int(self._concept_of[alias])
                reason = self.masks.reason(int(alias), concept, query.label)
                if reason is not None:
                    text = self._columns["alias"][int(alias)].as_py()
                    concept_id = self.index.table.concept_id(concept)
                    found.append(Dropped(concept_id, text, key, round(float(score), 6), reason))
        return each_once(found)

    def _rescored(
        self,
        names: list[str],
        parts: list[dict[str, Chosen]],
        encoder: Encodes,
        beside: Sequence[Found] | None,
    ) -> list[Found]:
        """Score what was found by all generators, if the ensemble is to."""
        if self.rescorer is None:
            return [Found(one) for one in parts]
        rows = [row for row, one in enumerate(parts) if one]
        results = [Found({}) for _ in parts]
        if not rows:
            return results
        vectors = self.index.embed([names[row] for row in rows], encoder)
        for row, vector in zip(rows, vectors, strict=True):
            pool = Pool.of({key: one.allowed for key, one in parts[row].items()})
            other = beside[row].scored if beside else None
            usual = other.usual if other else None
            scored = self.rescorer(names[row], vector, pool, usual)
            results[row] = Found(parts[row], pool, scored)
        return results

    def _by_rescoring(self, pool: Pool, scored: Scored, k: int) -> list[Entry]:
        """Return the best concepts of rescored aliases."""
        assert self.rescorer is not None
        concepts, scores, best = self.rescorer.concepts(pool, scored)
        last = np.sort(scores)[-min(k, len(scores))] - 10.0**-_DECIMALS
        entries, folded = [], self.rescorer.folded
        for row in np.flatnonzero(scores >= last):
            place = best[row]
            each = {key: float(values[place]) for key, values in scored.parts.items()}
            by = [key for key, found in pool.found.items() if found[place]]
            each = {**{key: FOLDED if key == folded else 1.0 for key in by}, **each}
            key = max(by, key=lambda key: self.ensemble.weight(key) * each[key])
            names = same_names(pool.strings, pool.concepts, place)
            alias = pool.aliases[place]
            entries.append(Entry(scores[row], key, concepts[row], alias, names, each))
        return entries

    def _merged(self, parts: dict[str, Chosen]) -> list[Entry]:
        """Combine the generators' concepts by weighted score."""
        weights = {key: self.ensemble.weight(key) for key in parts}
        found: dict[int, dict[str, tuple[float, int]]] = {}
        for key, chosen in parts.items():
            for concept, score, alias in zip(
                chosen.concepts.tolist(),
                chosen.scores.tolist(),
                chosen.aliases.tolist(),
                strict=True,
            ):
                found.setdefault(concept, {})[key] = (min(score, 1.0), alias)
        entries = []
        for concept, by_key in found.items():
            best = max(by_key, key=lambda key: weights[key] * by_key[key][0])
            score = weights[best] * by_key[best][0]
            if self.ensemble.combine == "mean":
                each = (
                    weight * (by_key[key][0] if key in by_key else parts[key].floor)
                    for key, weight in weights.items()
                )
                score = sum(each) / sum(weights.values())
            scores = {key: value for key, (value, _) in by_key.items()}
            alias, allowed = by_key[best][1], parts[best].allowed
            place = int(np.flatnonzero(allowed.aliases == alias)[0])
            names = same_names(allowed.strings, allowed.concepts, place)
            entries.append(Entry(score, best, concept, alias, names, scores))
        return entries

    def _ordered(self, entries: list[Entry], k: int) -> list[Ranked]:
        """Return the best k, in order."""
        ranked = sorted(((-round(e.score, _DECIMALS), e) for e in entries), key=itemgetter(0))
        if len(ranked) > k:
            last = ranked[k - 1][0]
            ranked = [pair for pair in ranked if pair[0] <= last]
        made = [self._candidate(entry, -negative) for negative, entry in ranked]
        return sorted(made, key=itemgetter(0))[:k]

    def _candidate(self, entry: Entry, score: float) -> Ranked:
        table, alias = self.index.table, int(entry.alias)
        text, language, source = (column[alias].as_py() for column in self._columns.values())
        scores = {name: round(float(value), _DECIMALS) for name, value in entry.scores.items()}
        name = self.ensemble.generators[entry.key].name
        concept_id = table.concept_id(int(entry.concept))
        made = Candidate(concept_id, float(score), text, language, source, name, scores)
        other = text != table.name(int(entry.concept))
        return Ranked((-made.score, -entry.names, other, concept_id), made)


def _decides(chosen: Chosen | None) -> bool:
    return chosen is not None and chosen.decides
