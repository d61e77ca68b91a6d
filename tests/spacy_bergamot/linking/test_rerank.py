"""Rerankers: scores by the written formulas, and an order that is stable."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.mention import Mention
from spacy_bergamot.linking.rerank import CoherenceReranker, PriorReranker
from tests.spacy_bergamot.factories import DENSE, candidate, mark

IDS = [f"C{number}" for number in range(5)]
PAIRS = st.tuples(st.sampled_from(IDS), st.integers(0, 2).map(lambda halves: halves / 2))
FOUND = st.lists(PAIRS, max_size=4, unique_by=lambda pair: pair[0]).map(
    lambda pairs: [candidate(*pair) for pair in sorted(pairs, key=lambda pair: -pair[1])]
)
DOCUMENTS = st.lists(st.tuples(st.sampled_from(["fever", "cold", "pain"]), FOUND), max_size=5)
Document = list[tuple[str, list[Candidate]]]


def mentions_of(document: Document) -> list[Mention]:
    return [Mention(text, "", text, 0, 1) for text, _ in document]


def assert_raised(made: list[Candidate], before: list[Candidate], by: dict[str, float], key: str):
    """See that every score is raised by so much, and that equal ones stay in their order."""
    raised = [(of.concept_id, round(of.score + by[of.concept_id], 6)) for of in before]
    raised.sort(key=lambda pair: -pair[1])
    assert [(of.concept_id, of.score) for of in made] == raised
    assert all(of.scores[key] == round(by[of.concept_id], 6) for of in made)


@settings(max_examples=50)
@given(DOCUMENTS, st.lists(st.integers(0, 50), min_size=5, max_size=5))
def test_the_prior_is_the_share_of_names(document: Document, counts: list[int]):
    names = dict(zip(IDS, counts, strict=True))
    found = [of for _, of in document]
    kb = SimpleNamespace(count_aliases=names.get)
    made = PriorReranker(0.5)(mentions_of(document), found, kb)
    most = max((names[c.concept_id] for of in found for c in of), default=0)
    by = {key: 0.5 * np.log1p(count) / (np.log1p(most) or 1) for key, count in names.items()}
    for of, before in zip(made, found, strict=True):
        assert_raised(of, before, by, "prior")


@settings(max_examples=50)
@given(DOCUMENTS, st.lists(st.tuples(st.sampled_from(IDS), st.sampled_from(IDS))))
def test_coherence_is_the_best_related_candidate_of_every_other_mention(document: Document, edges):
    near = {key: {b for a, b in edges if a == key} for key in IDS}
    found = [of for _, of in document]
    kb = SimpleNamespace(related=near.get)
    made = CoherenceReranker(weight=0.5, width=2)(mentions_of(document), found, kb)
    first = dict(reversed(document))  # of equal mentions, the first counts
    for (text, before), of in zip(document, made, strict=True):
        others = [candidates[:2] for other, candidates in first.items() if other != text]
        if not others:
            assert of == before
            continue
        by = {}
        for key in IDS:
            support = [[c.score for c in o if c.concept_id in {key, *near[key]}] for o in others]
            by[key] = 0.5 * sum(max(scores, default=0) for scores in support) / len(others)
        assert_raised(of, before, by, "coherence")


def test_related_mentions_support_each_other(make_nlp):
    rerank = {"@misc": "spacy_bergamot.CoherenceReranker.v1", "weight": 0.5, "width": 10}
    nlp = make_nlp(mentions=False, rerank=rerank, generator=DENSE, k=10)
    plain = make_nlp(mentions=False, generator=DENSE, k=10)
    text, marked = "the attack of the heart", ("attack", "heart")

    def score(pipeline) -> float:
        doc = pipeline.get_pipe("bergamot_linker")(mark(pipeline, text, *marked))
        found = {c["concept_id"]: c for c in doc.ents[1]._.candidates}
        return found["C06"]["score"]

    assert score(nlp) > score(plain)
    one = nlp.get_pipe("bergamot_linker")(mark(nlp, text, "heart")).ents[0]._.candidates
    assert "coherence" not in one[0]["scores"]


def test_the_concept_with_more_names_comes_first_among_equals(make_nlp):
    rerank = {"@misc": "spacy_bergamot.PriorReranker.v1", "weight": 0.02}
    nlp = make_nlp(mentions=False, rerank=rerank)
    first = nlp.get_pipe("bergamot_linker")(mark(nlp, "MI", "MI")).ents[0]._.candidates[0]
    assert first["scores"]["prior"] == pytest.approx(0.02)
    linker = nlp.get_pipe("bergamot_linker")
    few, many, better = candidate("C08", 0.5), candidate("C01", 0.5), candidate("C09", 0.6)
    (found,) = linker.settings.rerank(
        [Mention("x", "", "x", 0, 1)], [[better, few, many]], linker.kb
    )
    assert [c.concept_id for c in found] == ["C09", "C01", "C08"]
