"""Rerankers: the candidates of a whole document in, the same with other scores and order out.

A reranker is made by a registered function, stands between candidates and decision, and gets the
mentions in their context and the knowledge base. It is called once per document; one that has
`rerank_documents` is called once per batch of them. Its scores are between -1 and 1. It may add a
candidate of its own whose concept id is NIL: what comes behind that one is no link.

One that learns has files of its own: see `TrainedReranker`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.mention import Mention

_DECIMALS = 6

Ordered = list[list[Candidate]]
"""The candidates of every mention of a document, best first."""


class Reranker(Protocol):
    """What changes the order of candidates by their context."""

    def __call__(
        self, mentions: Sequence[Mention], candidates: Ordered, kb: KnowledgeBase
    ) -> Ordered:
        """Return the candidates of every mention of one document, best first."""
        ...


class TrainedReranker(Protocol):
    """The setting `rerank` of a reranker whose weights are files in the pipeline."""

    def opened(self, folder: Path, *, index: str) -> Reranker:
        """Return the reranker with what `folder` holds.

        Where that has an attribute `generator`, it is refused for settings whose `generation` is
        another.

        index (str): Fingerprint of the alias index that candidates come from.
        RAISES (BergamotError): If the files are damaged, or were made for something else.
        """
        ...


def rerank_documents(
    rerank: Reranker,
    mentions: Sequence[Sequence[Mention]],
    candidates: Sequence[Ordered],
    kb: KnowledgeBase,
) -> list[Ordered]:
    """Rerank the candidates of the mentions of several documents, all at once where that is wanted.

    rerank (Reranker): Its method `rerank_documents(mentions, candidates, kb)` is called if it has
        one, with the documents that have mentions.
    mentions, candidates: Of every document.
    RETURNS (list): The candidates of every document.
    """
    rows = [row for row, of in enumerate(mentions) if of]
    some = [mentions[row] for row in rows], [candidates[row] for row in rows]
    together = getattr(rerank, "rerank_documents", None)
    if together is not None:
        changed = together(*some, kb) if rows else []
    else:
        changed = [rerank(of, found, kb) for of, found in zip(*some, strict=True)]
    results = list(candidates)
    for row, found in zip(rows, changed, strict=True):
        results[row] = found
    return results


@dataclass(frozen=True)
class PriorReranker:
    """Prefer concepts with many names: score + weight · log(1 + names) / log(1 + most names).

    Among homonyms of the same score the better known wins; a weight well below the differences
    between scores leaves the rest as it is.
    """

    weight: float = 0.02

    def __call__(
        self, mentions: Sequence[Mention], candidates: Ordered, kb: KnowledgeBase
    ) -> Ordered:
        """Return the candidates of a document in another order; see `Reranker`."""
        ids = {candidate.concept_id for found in candidates for candidate in found}
        known = {concept_id: float(np.log1p(kb.count_aliases(concept_id))) for concept_id in ids}
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
        self, mentions: Sequence[Mention], candidates: Ordered, kb: KnowledgeBase
    ) -> Ordered:
        """Return the candidates of a document in another order; see `Reranker`."""
        distinct: dict[str, list[Candidate]] = {}
        for mention, found in zip(mentions, candidates, strict=True):
            distinct.setdefault(mention.text, found[: self.width])
        if len(distinct) < 2:
            return candidates
        scores = {text: {c.concept_id: c.score for c in found} for text, found in distinct.items()}
        near: dict[str, set[str]] = {}
        results = []
        for mention, found in zip(mentions, candidates, strict=True):
            others = [by_id for text, by_id in scores.items() if text != mention.text]
            changed = []
            for candidate in found:
                concept_id = candidate.concept_id
                if concept_id not in near:
                    near[concept_id] = {concept_id, *kb.related(concept_id)}
                support = [
                    max((by_id[other] for other in by_id.keys() & near[concept_id]), default=0)
                    for by_id in others
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
    """Configure `PriorReranker`.

    weight (float): As of the class.
    """
    return PriorReranker(weight)


def make_coherence(weight: float = 0.1, width: int = 5) -> CoherenceReranker:
    """Configure `CoherenceReranker`.

    weight, width: As of the class.
    """
    return CoherenceReranker(weight, width)
