"""Which candidates are links, and why a mention has none."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.decision import NIL, Decision
from spacy_bergamot.linking.settings import LinkerSettings
from tests.spacy_bergamot.factories import candidate, mark

SHARES = st.integers(0, 10).map(lambda tenths: tenths / 10)
KB = SimpleNamespace(has_definition=lambda concept_id: concept_id.startswith("D"))
CANDIDATES = st.lists(
    st.builds(candidate, st.sampled_from(["C1", "C2", "D1", "D2"]), SHARES,
              probability=st.none() | SHARES), max_size=5,
)  # fmt: skip
SETTINGS = st.builds(
    LinkerSettings,
    threshold=st.none() | SHARES,
    min_probability=st.none() | SHARES,
    filter_for_definitions=st.booleans(),
    no_definition_threshold=SHARES,
)


def may_be_linked(settings: LinkerSettings, one: Candidate) -> bool:
    sure = settings.min_probability is None or one.probability is None
    return (settings.threshold is None or one.score >= settings.threshold) and (
        sure or one.probability >= settings.min_probability
    )


def is_known(settings: LinkerSettings, one: Candidate) -> bool:
    defined = one.concept_id.startswith("D") or one.score >= settings.no_definition_threshold
    return defined or not settings.filter_for_definitions


@given(SETTINGS, CANDIDATES)
def test_a_link_passes_every_threshold(settings: LinkerSettings, candidates: list[Candidate]):
    decision = Decision(settings, KB)
    known = [one for one in candidates if is_known(settings, one)]
    assert decision.links(candidates) == [one for one in known if may_be_linked(settings, one)]
    linked = known[0].concept_id if known and may_be_linked(settings, known[0]) else NIL
    assert decision.concept_of(candidates) == linked
    assert (decision.reason(candidates) == "") == (linked != NIL)


@pytest.mark.parametrize(
    ("given", "found", "reason"),
    [
        ({}, [], "nothing was found"),
        ({"threshold": 0.9}, [candidate("D1", 0.81234)], "score, 0.8123, is below threshold, 0.9"),
        (
            {"min_probability": 0.5},
            [candidate("D1", 1.0, probability=0.25), candidate("D2", 0.9, probability=0.75)],
            "probability, 0.25, is below min_probability, 0.5",
        ),
        (
            {"filter_for_definitions": True, "no_definition_threshold": 0.9},
            [candidate("C1", 0.8)],
            "no concept has a definition or a score of 0.9",
        ),
    ],
)
def test_the_reason_names_what_was_not_reached(given, found, reason):
    assert reason in Decision(LinkerSettings(**given), KB).reason(found)


def test_concepts_without_definition_need_a_better_score(make_nlp):
    """As scispaCy's settings of the same names."""
    text, mentions = "an hypertensions and the colds", ("hypertensions", "colds")
    free = make_nlp(mentions=False, filter_for_definitions=False)
    doc = free.get_pipe("bergamot_linker")(mark(free, text, *mentions))
    assert [ent.kb_id_ for ent in doc.ents] == ["C01", "C04"]
    assert all(ent._.kb_ents[0][1] < 1 for ent in doc.ents)
    strict = make_nlp(mentions=False, filter_for_definitions=True, no_definition_threshold=1.0)
    doc = strict.get_pipe("bergamot_linker")(mark(strict, text, *mentions))
    found = [[concept for concept, _ in ent._.kb_ents] for ent in doc.ents]
    assert found == [["C01"], ["C01"]]  # the only one that is defined
    assert doc.ents[0].kb_id_ == "C01"
    assert len(doc.ents[1]._.candidates) == 10
    exact = strict.get_pipe("bergamot_linker")(mark(strict, "a fever", "fever"))
    assert exact.ents[0].kb_id_ == "C10"
