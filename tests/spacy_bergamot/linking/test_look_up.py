"""What is looked up for a mention."""

import pytest
import spacy

from spacy_bergamot.index.knowledge_base import KnowledgeBase
from tests.spacy_bergamot.factories import add, mark


def test_abbreviations_are_looked_up_as_their_long_forms(make_nlp):
    nlp = make_nlp(mentions=False, abbreviations={"HTN": "hypertension"})
    linker = nlp.get_pipe("bergamot_linker")
    doc = linker(mark(nlp, "a common cold (CC) and CC with HTN", "CC", "HTN"))
    assert [ent.kb_id_ for ent in doc.ents] == ["C04", "C01"]
    plain = make_nlp(mentions=False, threshold=0.999, resolve_abbreviations=False).get_pipe(
        "bergamot_linker"
    )
    doc = plain(mark(nlp, "a common cold (CC) and CC with HTN", "CC", "HTN"))
    assert {ent.kb_id_ for ent in doc.ents} == {"NIL"}
    table = {"FA": "fever", "de": {"FA": "Herzinfarkt"}, "fr": {"FA": "aspirin"}}
    linker = make_nlp(mentions=False, abbreviations=table).get_pipe("bergamot_linker")
    of_languages = [
        ("de", "C03"),
        ("xx", "C10"),
        ("DE", "C03"),
        ("GER", "C03"),
        (["fr", "de"], "C03"),
    ]
    for language, expected in of_languages:
        doc = mark(nlp, "FA", "FA")
        doc.user_data["language"] = language
        assert linker(doc).ents[0].kb_id_ == expected
    german = spacy.blank("de")
    assert linker(mark(german, "FA", "FA")).ents[0].kb_id_ == "C03"
    explained = linker.explain("CC", context="a common cold (CC)")
    assert explained["looked_up"] == "common cold"


@pytest.mark.parametrize(
    ("language", "short", "looked_up"),
    [
        ("en", "HTN", "hypertension"),
        ("ja", "ＨＴＮ", "hypertension"),
        ("ja", "ＣＯＰＤ", "chronic obstructive pulmonary disease"),
        ("FRE", "HTA", "hypertension"),
        ("ru", "ИМ", "myocardial infarction"),
        ("de", "HTN", "htn"),
        ("", "HTN", "hypertension"),
        ("", "IM", "im"),
        ("en", "htn", "hypertension"),
        ("en", "als", "als"),
        ("en", "MI", "myocardial infarction"),  # a name of the knowledge base too
        ("cs", "IM", "myocardial infarction"),
    ],
)
def test_usual_short_forms_are_looked_up_as_what_notes_mean(make_nlp, language, short, looked_up):
    linker = make_nlp(mentions=False).get_pipe("bergamot_linker")
    assert linker.explain(short, language=language)["looked_up"] == looked_up


def test_what_a_text_or_the_settings_say_goes_before_what_is_usual(make_nlp):
    given = {"en": {"HTN": "fever"}}
    linker = make_nlp(mentions=False, abbreviations=given).get_pipe("bergamot_linker")
    assert linker.explain("HTN", language="en")["looked_up"] == "fever"
    defined = linker.explain("HTN", language="en", context="heat thing now (HTN)")
    assert defined["looked_up"] == "heat thing now"
    off = make_nlp(mentions=False, usual_abbreviations=False).get_pipe("bergamot_linker")
    assert off.explain("HTN", language="en")["looked_up"] == "htn"


def test_a_name_that_is_added_goes_before_what_is_usual(make_nlp):
    linker = make_nlp(mentions=False).get_pipe("bergamot_linker")
    assert linker.explain("HTN", language="en")["decision"] == "C01"
    linker.update_index([add("C03", "HTN", language="ENG")])
    assert linker.explain("HTN", language="en")["decision"] == "C03"


def test_concepts_of_an_updated_knowledge_base_are_not_counted_for_a_short_form(
    make_nlp, monkeypatch
):
    linker = make_nlp(mentions=False).get_pipe("bergamot_linker")
    linker.update_index([{"action": "remove", "concept_id": "C03"}])
    counted = []
    monkeypatch.setattr(KnowledgeBase, "__len__", lambda kb: counted.append(kb) or 1)
    assert linker.explain("HTN", language="en")["decision"] == "C01"
    assert not counted


def test_a_word_that_a_line_breaks_is_looked_up_whole(make_nlp):
    nlp = make_nlp(mentions=False)
    linker = nlp.get_pipe("bergamot_linker")
    doc = linker(mark(nlp, "He has hyper-\n  tension.", "hyper-\n  tension"))
    assert doc.ents[0]._.kb_ents[0] == ("C01", 1.0)
    assert linker.explain("Non-\nHodgkin")["looked_up"] == "non-hodgkin"


def test_a_document_that_does_not_say_its_language_is_read_for_it(make_nlp):
    nlp = make_nlp(mentions=False, abbreviations={"ru": {"АГ": "hypertension"}})
    text = "У пациента сахарный диабет и АГ, принимает таблетки"
    doc = nlp.get_pipe("bergamot_linker")(mark(nlp, text, "АГ"))
    assert doc.ents[0].kb_id_ == "C01"
