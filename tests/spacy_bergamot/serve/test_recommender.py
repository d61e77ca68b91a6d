"""INCEpTION's external recommender: documents as INCEpTION sends them, made by dkpro-cassis."""

import sys
from typing import Any

import pytest

cassis = pytest.importorskip("cassis", reason="the extra `inception` is not installed")

LAYER, FEATURE = "custom.Diagnosis", "concept"
TEXT = "🙂 Bluthochdruck, kein Fieber; Schmidt."
PREDICTED = "inception_internal_predicted"


def types(*features: tuple[str, str]) -> Any:
    """Return a type system whose layer has some features, and INCEpTION's of a request."""
    system = cassis.TypeSystem()
    layer = system.create_type(name=LAYER, supertypeName="uima.tcas.Annotation")
    told = ((FEATURE, "String"), (PREDICTED, "Boolean"), (f"{FEATURE}_score", "Double"))
    for name, kind in (*told, *features):
        system.create_feature(layer, name=name, rangeType=f"uima.cas.{kind}")
    return system


def request(system: Any, text: str = TEXT, language: str = "x-unspecified") -> dict[str, Any]:
    """Return a request for a document in which somebody has marked a mention."""
    cas = cassis.Cas(typesystem=system)
    cas.sofa_string, cas.document_language = text, language
    cas.add(system.get_type(LAYER)(begin=0, end=1, concept="C99"))
    return {
        "metadata": {"layer": LAYER, "feature": FEATURE, "projectId": 1, "crossSentence": False,
                     "anchoringMode": "tokens", "range": {"begin": 0, "end": len(text)}},
        "document": {"xmi": cas.to_xmi(), "documentId": 42, "userId": "somebody"},
        "typeSystem": system.to_xml(),
    }  # fmt: skip


def suggestions(answer: Any, system: Any) -> list[Any]:
    """Return the suggestions of an answer, after a look at what was there before."""
    assert answer.status_code == 200, answer.text
    cas = cassis.load_cas_from_xmi(answer.json()["document"], system)
    found = cas.select(LAYER)
    assert [one.concept for one in found if not one[PREDICTED]] == ["C99"]
    return [(one.get_covered_text(), one) for one in found if one[PREDICTED]]


def test_mentions_come_back_as_suggestions(service):
    system = types((f"{FEATURE}_score_explanation", "String"))
    found = suggestions(service.post("/inception/predict", request(system)), system)
    assert [(text, one.concept) for text, one in found] == [
        ("Bluthochdruck", "C01"),
        ("Fieber", "C10"),
    ]
    assert [one.concept_score for _, one in found] == [1.0, 1.0]
    assert found[0][1].concept_score_explanation == "Hypertension: Bluthochdruck (de)"
    # UIMA counts UTF-16 units, of which 🙂 has two.
    assert 'begin="3" end="16"' in service.post("/inception/predict", request(system)).text.replace(
        "\\", ""
    )


def test_an_explanation_needs_a_feature_and_a_language_may_be_said(service):
    system = types()
    for language in ("de", "GER", "tlh"):
        answer = service.post("/inception/predict", request(system, language=language))
        assert [text for text, _ in suggestions(answer, system)] == ["Bluthochdruck", "Fieber"]


def test_an_empty_document_has_no_suggestions(service):
    system = types()
    assert suggestions(service.post("/inception/predict", request(system, " ")), system) == []


def test_what_is_no_document_is_refused_field_by_field(service):
    good = request(types())
    wrong = [
        ("metadata.layer", {**good, "metadata": {"layer": "other.Layer", "feature": FEATURE}}),
        ("metadata.feature", {**good, "metadata": {"layer": LAYER, "feature": "other"}}),
        ("document.xmi", {**good, "document": {"xmi": "<no xmi"}}),
        ("typeSystem", {**good, "typeSystem": "Fieber"}),
        ("document", {"metadata": good["metadata"], "typeSystem": good["typeSystem"]}),
    ]
    for field, body in wrong:
        assert field in service.refused("/inception/predict", body)


def test_entities_are_refused_before_they_are_read(service):
    good = request(types())
    xmi = good["document"]["xmi"]
    head, end, rest = xmi.partition("?>")
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]>'
    for field, body in (
        ("document.xmi", {**good, "document": {"xmi": f"{head}{end}{bomb}{rest}"}}),
        ("typeSystem", {**good, "typeSystem": bomb + good["typeSystem"]}),
    ):
        assert "DOCTYPE" in service.refused("/inception/predict", body)[field]


def test_without_cassis_it_says_what_to_install(service, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "cassis", None)
    answer = service.post("/inception/predict", request(types()))
    assert answer.status_code == 501
    assert 'pip install "spacy_bergamot[inception]"' in answer.json()["error"]


def test_nothing_is_learned(service):
    assert service.post("/inception/train", {"documents": []}).status_code == 204
