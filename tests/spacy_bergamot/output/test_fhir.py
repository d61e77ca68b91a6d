"""FHIR: a document is a whole resource of FHIR's shape, and nothing is said that is not known."""

from base64 import b64decode

import pytest
from spacy.language import Language

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.output.fhir import codeable_concept, to_fhir, without_system
from tests.spacy_bergamot.output.shapes import DocumentReference, facts_of, linked_to

TEXT = "Zustand: 心 Bluthochdruck und Fieber."


def test_a_document_is_a_whole_resource(nlp: Language, kb: KnowledgeBase):
    doc = nlp(TEXT)
    resource = to_fhir(doc, kb, document_id="a/1", systems={"SRCENG": "https://kb.example"})
    DocumentReference.model_validate(resource)
    assert resource["identifier"][0]["value"] == "a/1"
    text = b64decode(resource["content"][0]["attachment"]["data"]).decode("utf8")
    assert text == TEXT
    first, second = map(facts_of, resource["extension"])
    assert text[first["start"] : first["end"]] == first["text"] == "Bluthochdruck"
    assert (first["label"], first["score"]) == ("DISO", 1.0)
    assert first["concept"] == {
        "coding": [
            {"system": "https://kb.example", "code": "C01", "display": "Hypertension"},
            {"system": "http://hl7.org/fhir/sid/icd-10-cm", "code": "I10"},
            {"system": "https://kb.example", "code": "x1"},
        ],
        "text": "Bluthochdruck",
    }
    assert second["text"] == "Fieber"
    for empty in ("", "nothing of note"):
        DocumentReference.model_validate(to_fhir(nlp(empty), kb))


@pytest.mark.parametrize("text", ["", " ", "心 \U0001f600 e\u0301", "a\r\nb\u2028c"])
def test_a_text_comes_back_from_its_attachment(nlp: Language, kb: KnowledgeBase, text: str):
    resource = DocumentReference.model_validate(to_fhir(nlp(text), kb))
    data = resource.content[0].attachment.data
    assert (b64decode(data).decode("utf8") if data else "") == text


def test_concepts_without_a_system_are_counted(make_kb):
    kb = make_kb("HP:0001250", "mine", "X:1")
    doc = linked_to("HP:0001250", "mine", "X:1", "NIL")
    assert without_system(to_fhir(doc, kb)) == 2
    assert without_system(to_fhir(doc, kb, systems={"X": "urn:x", "M": "urn:m"})) == 1
    known = {"systems": {"X": "urn:x", "M": "urn:m"}, "knowledge_base": "M"}
    assert without_system(to_fhir(doc, kb, **known)) == 0
    assert "concept" not in facts_of(to_fhir(doc, kb)["extension"][3])


def test_a_code_is_said_once(kb: KnowledgeBase):
    (mention,) = linked_to("C01").ents
    systems = {"SRCENG": "urn:src", "ICD10CM": "urn:src"}
    codings = codeable_concept(mention, kb, systems=systems)["coding"]
    assert codings[0] == {"system": "urn:src", "code": "C01", "display": "Hypertension"}
    assert [(c["system"], c["code"]) for c in codings[1:]] == [
        ("urn:src", "I10"),
        ("urn:src", "x1"),
    ]
    with pytest.raises(BergamotError, match="B100"):
        codeable_concept(linked_to("C99").ents[0], kb)
