"""Candidates of gold mentions as ranked results, before and after a reranker; links among them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.rerank import rerank_documents
from training.benchmark.corpora import set_of
from training.corpora.marks import marked
from training.corpora.schema import GoldMention
from training.evaluate.ranking import Ranked
from training.evaluate.spans import NIL, Link, score_documents
from training.rerank.candidates import Document

if TYPE_CHECKING:
    from spacy_bergamot.pipeline.linker import BergamotLinker

Found = list[list[list[Candidate]]]
"""Candidates by document and mention."""


def queries_of(documents: Sequence[Document], sets: dict[str, Any]) -> list[GoldMention]:
    """Return the gold mentions of documents, each in the set that its document belongs to."""
    return [
        GoldMention(
            mention.context[mention.start : mention.end],
            gold.concepts,
            set_of(document.name, sets),
            type=mention.label,
            language=mention.language,
            document=document.name,
            context=marked(mention.context, mention.start, mention.end),
        )
        for document in documents
        for mention, gold in zip(document.mentions, document.golds, strict=True)
    ]


def reranked(linker: "BergamotLinker", documents: Sequence[Document]) -> Found:
    """Return the candidates of documents as a linker's reranker changes them; behind NIL, none."""
    parts = linker.parts
    assert parts.reranker is not None
    mentions = [document.mentions for document in documents]
    found = [document.candidates for document in documents]
    changed = rerank_documents(parts.reranker, mentions, found, parts.kb)
    return [[_before_nil(one) for one in of] for of in changed]


def ranked_of(found: Found) -> list[Ranked]:
    """Return the candidates of every mention as ranked results, in turn."""
    return [
        Ranked(
            [one.concept_id for one in candidates],
            [one.score for one in candidates],
            list(range(len(candidates))),
            [one.alias for one in candidates],
            not candidates,
        )
        for of in found
        for candidates in of
    ]


def link_scores(
    documents: Sequence[Document], found: Found, sets: dict[str, Any], *, golds: str
) -> dict[str, Any]:
    """Return {set: {"p@1", "r@1", "f1@1", "n"}} of the first candidate of every mention.

    golds (str): With "each_shifted", a place with n gold concepts is given the first n candidates.
    """
    predicted: list[list[Link]] = []
    expected: list[list[Link]] = []
    names = [set_of(document.name, sets) for document in documents]
    for document, of in zip(documents, found, strict=True):
        predicted.append([])
        expected.append([])
        for mention, gold, candidates in zip(document.mentions, document.golds, of, strict=True):
            place = (mention.start, mention.end)
            each = golds.startswith("each")
            right = sorted(gold.concepts) if each else ["|".join(sorted(gold.concepts))]
            most = max(1, len(right)) if golds == "each_shifted" else 1
            chosen = [one.concept_id for one in candidates[:most]]
            predicted[-1] += [Link(*place, concept) for concept in chosen or [NIL]]
            expected[-1] += [Link(*place, concept or NIL) for concept in right or [NIL]]
    scores = score_documents(predicted, expected, names)["languages"]  # of sets, here
    return {
        name: {"p@1": strict["p"], "r@1": strict["r"], "f1@1": strict["f"], "n": strict["n"]}
        for name, strict in ((name, rates["strict"]) for name, rates in scores.items())
    }


def _before_nil(candidates: list[Candidate]) -> list[Candidate]:
    ids = [one.concept_id for one in candidates]
    return candidates[: ids.index(NIL)] if NIL in ids else candidates
