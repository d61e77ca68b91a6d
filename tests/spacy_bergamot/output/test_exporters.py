"""Exports: a knowledge base goes by its own name, and FHIR's resources have FHIR's shape."""

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Span

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.output.exporters import to_bigbio, to_brat, to_dict, to_fhir
from spacy_bergamot.output.vocabularies import reference
from tests.spacy_bergamot.output.shapes import facts_of, linked_to

TEXT = "Zustand: 心 Bluthochdruck und Fieber."


def test_a_knowledge_base_goes_by_its_own_name(nlp: Language, kb: KnowledgeBase):
    doc = nlp("Bluthochdruck")
    (coding, _) = facts_of(to_fhir(doc, kb)["extension"][0])["concept"]["coding"]
    assert coding == {"code": "C01", "display": "Hypertension"}
    assert to_bigbio(doc, "1", kb=kb)["entities"][0]["normalized"][0]["db_name"] == "SRCENG"
    named = to_bigbio(doc, "1", kb=kb, knowledge_base="OURS")
    assert named["entities"][0]["normalized"] == [{"db_name": "OURS", "db_id": "C01"}]
    assert "Reference T1 OURS:C01" in to_brat(doc, knowledge_base="OURS")
    assert "Reference T1 KB:C01" in to_brat(doc)


@pytest.mark.parametrize(
    ("concept_id", "vocabulary", "code", "system"),
    [
        ("C0020538", "UMLS", "C0020538", "http://www.nlm.nih.gov/research/umls"),
        ("HP:0001250", "HP", "HP:0001250", "http://human-phenotype-ontology.org"),
        ("HP_0001250", "HP", "HP:0001250", "http://human-phenotype-ontology.org"),
        ("ORPHA:558", "ORPHA", "ORPHA:558", "http://www.orpha.net"),
    ],
)
def test_an_id_says_its_vocabulary(make_kb, concept_id, vocabulary, code, system):
    kb, doc = make_kb(concept_id), linked_to(concept_id)
    assert reference(concept_id, kb) == (vocabulary, code)
    (coding,) = facts_of(to_fhir(doc, kb)["extension"][0])["concept"]["coding"]
    expected = "558" if vocabulary == "ORPHA" else code
    assert coding == {"system": system, "code": expected, "display": "name 0"}
    assert f"Reference T1 {vocabulary}:{code}\t" in to_brat(doc)
    (entity,) = to_bigbio(doc, "1", kb=kb)["entities"]
    assert entity["normalized"] == [{"db_name": vocabulary, "db_id": code}]


def test_a_concept_that_is_not_known_is_named(kb: KnowledgeBase):
    with pytest.raises(BergamotError, match=r"B100.*'C99'"):
        to_fhir(linked_to("C99"), kb)
    assert "name" not in to_dict(linked_to("C99"), kb=kb)["ents"][0]


def test_a_link_has_name_and_types(nlp: Language, kb: KnowledgeBase):
    (entity,) = to_dict(nlp("Bluthochdruck"), kb=kb)["ents"]
    assert (entity["name"], entity["types"]) == ("Hypertension", ["T047"])


def test_brat_lines_hold_one_annotation_each():
    doc = spacy.blank("xx")("a heart\r\n\tattack")
    doc.set_ents([Span(doc, 1, len(doc), label="A B,C", kb_id="my id")])
    mention, link = to_brat(doc).splitlines()
    assert mention == "T1\tA_B_C 2 7;9 16\theart  attack"
    assert link.split("\t")[1] == "Reference T1 KB:my_id"
