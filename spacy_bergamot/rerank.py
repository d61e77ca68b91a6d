"""Rerankers: the candidates of a whole document in, the same with other scores and order out.

A reranker is made by a registered function, called once a document between candidates and
decision, and gets the concept table.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from spacy_bergamot.candidates import Candidate
from spacy_bergamot.concepts import ConceptTable

_DECIMALS = 6


class Reranker(Protocol):
    """What changes the order of candidates by their context."""

    def __call__(
        self, mentions: Sequence[str], candidates: list[list[Candidate]], table: ConceptTable
    ) -> list[list[Candidate]]:
        """Return the candidates of every mention of one document, best first.

        mentions (list[str]): Their texts. candidates: Of every mention, best first.
        """
        ...


@dataclass(frozen=True)
class PriorReranker:
    """Prefer concepts with many names: score + weight · log(1 + names) / log(1 + most names).

    Among homonyms of the same score the better known wins; a weight well below the differences
    between scores leaves the rest as it is.
    """

    weight: float = 0.02

    def __call__(
        self, mentions: Sequence[str], candidates: list[list[Candidate]], table: ConceptTable
    ) -> list[list[Candidate]]:
        known: dict[str, float] = {}
        for candidate in (c for found in candidates for c in found):
            if candidate.concept_id not in known:
                names = table.rows_of("aliases", table.row(candidate.concept_id))
                known[candidate.concept_id] = float(np.log1p(names.num_rows))
        most = max(known.values(), default=1) or 1
        return [
            _ordered([_plus(c, "prior", self.weight * known[c.concept_id] / most) for c in found])
            for found in candidates
        ]


@dataclass(frozen=True)
class CoherenceReranker:
    """Prefer concepts that are related to candidates of the document's other mentions.

    score + weight · the best score, among the top `width` candidates of every other mention, of
    one that the knowledge base relates to it, averaged over the other mentions. A mention that
    is repeated supports nothing but others.
    """

    weight: float = 0.1
    width: int = 5

    def __call__(
        self, mentions: Sequence[str], candidates: list[list[Candidate]], table: ConceptTable
    ) -> list[list[Candidate]]:
        distinct: dict[str, list[Candidate]] = {}
        for mention, found in zip(mentions, candidates, strict=True):
            distinct.setdefault(mention, found[: self.width])
        if len(distinct) < 2:
            return candidates
        scores = {
            mention: {table.row(c.concept_id): c.score for c in found}
            for mention, found in distinct.items()
        }
        near: dict[int, set[int]] = {}
        results = []
        for mention, found in zip(mentions, candidates, strict=True):
            others = [by_row for other, by_row in scores.items() if other != mention]
            changed = []
            for candidate in found:
                row = table.row(candidate.concept_id)
                if row not in near:
                    tails = table.rows_of("relations", row).column("tail")
                    near[row] = {row, *tails.to_pylist()}
                support = [
                    max((score for other, score in by_row.items() if other in near[row]), default=0)
                    for by_row in others
                ]
                mean = self.weight * sum(support) / len(support)
                changed.append(_plus(candidate, "coherence", mean))
            results.append(_ordered(changed))
        return results


def _plus(candidate: Candidate, part: str, value: float) -> Candidate:
    return replace(
        candidate,
        score=round(candidate.score + value, _DECIMALS),
        scores={**candidate.scores, part: round(value, _DECIMALS)},
    )


def _ordered(candidates: list[Candidate]) -> list[Candidate]:
    """Sort by score; equal ones stay as they were."""
    return sorted(candidates, key=lambda candidate: -candidate.score)


def make_prior(weight: float = 0.02) -> PriorReranker:
    """Configure `PriorReranker`."""
    return PriorReranker(weight)


def make_coherence(weight: float = 0.1, width: int = 5) -> CoherenceReranker:
    """Configure `CoherenceReranker`."""
    return CoherenceReranker(weight, width)
