"""Vocabularies: which one an id is of, and how FHIR codes it."""

from types import SimpleNamespace

import pytest

from spacy_bergamot.output.vocabularies import SYSTEMS, coding, reference


@pytest.mark.parametrize(
    ("concept_id", "given", "sources", "expected"),
    [
        ("HP_0001250", None, [], ("HP", "HP:0001250")),
        ("MONDO:0000001", "OURS", ["SRC"], ("MONDO", "MONDO:0000001")),
        ("C0020538", None, ["SRC"], ("UMLS", "C0020538")),
        ("C0020538", "OURS", ["SRC"], ("OURS", "C0020538")),
        ("C01", None, ["SRC"], ("SRC", "C01")),
        ("C01", None, ["SRC", "MORE"], ("", "C01")),
        ("C01", None, [], ("", "C01")),
        ("X_y", None, [], ("", "X_y")),
    ],
)
def test_an_id_s_vocabulary_is_said_by_its_form_then_by_the_knowledge_base(
    concept_id, given, sources, expected
):
    kb = SimpleNamespace(sources=sources)
    assert reference(concept_id, kb, knowledge_base=given) == expected


@pytest.mark.parametrize(
    ("vocabulary", "code", "expected"),
    [
        ("ICD10CM", "I10", "I10"),
        ("ORPHA", "ORPHA:558", "558"),
        ("HP", "HP:0001250", "HP:0001250"),
        ("HP", "0001250", "HP:0001250"),
        ("MONDO", "MONDO:0000001", "MONDO:0000001"),
    ],
)
def test_a_known_vocabulary_has_a_system_and_its_own_form(vocabulary, code, expected):
    assert coding(vocabulary, code) == {"system": SYSTEMS[vocabulary], "code": expected}


def test_a_system_may_be_given_and_an_unknown_one_is_left_out():
    assert coding("OURS", "OURS:1") == {"code": "OURS:1"}
    assert coding("OURS", "OURS:1", systems={"OURS": "urn:x"}) == {"system": "urn:x", "code": "1"}
    assert coding("HP", "1", systems={"HP": "urn:x"}) == {"system": "urn:x", "code": "HP:1"}
