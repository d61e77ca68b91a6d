"""Short forms that neither the text nor a list explains are linked to nothing."""

import pytest
from spacy.language import Language

from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.mention import Mention
from tests.spacy_bergamot.factories import add, mark

ATTACK = "C03"
"""Has the name MI, which is a usual short form in English, and none in German."""


@pytest.fixture
def nlp(make_nlp, monkeypatch: pytest.MonkeyPatch) -> Language:
    """A linker to whose knowledge base the few names of two letters are too many."""
    monkeypatch.setattr("spacy_bergamot.mentions.table_names._CROWDED", 0)
    return make_nlp(mentions=False)


def linked(nlp: Language, text: str, mention: str, language: str = "de") -> str:
    doc = mark(nlp, text, mention)
    doc.user_data["language"] = language
    return nlp.get_pipe("bergamot_linker")(doc).ents[0].kb_id_


@pytest.mark.parametrize(
    ("text", "mention", "language", "expected"),
    [
        pytest.param("Patient mit MI", "MI", "de", "NIL", id="nothing says it"),
        pytest.param("Zustand nach mi", "mi", "de", "NIL", id="in small letters"),
        pytest.param("Patient with MI", "MI", "en", ATTACK, id="a usual one"),
        pytest.param("myocardial infarction (MI)", "MI", "de", ATTACK, id="the text says it"),
        pytest.param("mi", "mi", "de", ATTACK, id="by itself"),
        pytest.param("PATIENT: MI", "MI", "de", ATTACK, id="all in capitals"),
        pytest.param("Patient mit diabetes", "diabetes", "de", "C02", id="no short form"),
    ],
)
def test_a_short_form_that_nothing_explains_is_not_linked(nlp, text, mention, language, expected):
    assert linked(nlp, text, mention, language) == expected


def test_what_somebody_added_is_a_name(nlp):
    linker = nlp.get_pipe("bergamot_linker")
    assert linked(nlp, "Patient mit XY", "XY") == "NIL"
    linker.update_index([add(ATTACK, "XY")])
    assert linked(nlp, "Patient mit XY", "XY") == ATTACK


@pytest.mark.parametrize(
    ("written", "expected"),
    [("mets", ["NIL", ATTACK]), ("MetS", [ATTACK]), ("METS", ["NIL", ATTACK])],
)
def test_one_in_other_capitals_than_its_name_is_another(nlp, written: str, expected: list[str]):
    """The metabolic syndrome, MetS, is no metastases."""
    unexplained = nlp.get_pipe("bergamot_linker").parts.unexplained
    mention = Mention("mets", "", f"no {written} here", 3, 7)
    candidate = Candidate(ATTACK, 1.0, "MetS", "ENG", "LOCAL", "exact")
    ((found,),) = unexplained([[mention]], [[[candidate]]])
    assert [one.concept_id for one in found] == expected


def test_it_is_so_of_lengths_with_too_many_names_alone(make_nlp):
    assert linked(make_nlp(mentions=False), "Patient mit MI", "MI") == ATTACK


def test_why_is_said_and_candidates_are_shown(nlp):
    explained = nlp.get_pipe("bergamot_linker").explain(
        "MI", context="Patient mit MI", language="de"
    )
    assert explained["reason"] == "neither the text nor a list says what this short form means"
    assert [one["concept_id"] for one in explained["candidates"]][:1] == [ATTACK]
