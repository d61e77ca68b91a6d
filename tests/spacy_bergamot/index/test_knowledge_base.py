"""The knowledge base in hand: as plain loops over its tables find it, before and after changes."""

import pytest

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.knowledge_base import KnowledgeBase


@pytest.mark.parametrize("which", ["kb", "changed"])
def test_all_ways_to_it_agree(request: pytest.FixtureRequest, which: str):
    kb = request.getfixturevalue(which)
    assert len(kb) == len(list(kb)) == len(kb.cui_to_entity)
    for concept_id in kb:
        concept, aliases = kb.cui_to_entity[concept_id], kb.aliases(concept_id)
        assert concept.aliases == list(dict.fromkeys(row["alias"] for row in aliases))
        assert concept.languages == sorted({row["language"] for row in aliases})
        assert kb.count_aliases(concept_id) == len(aliases)
        assert kb.name_and_types(concept_id) == (concept.canonical_name, concept.types)


def test_changes_are_there(changed: KnowledgeBase):
    assert changed.alias_to_cuis["cold"] == {"C05", "X1"}
    assert "C07" not in changed
    assert changed.name_and_types("C07") is None
    assert changed.cui_to_entity["C03"].languages == ["CHI", "ENG", "GER"]
    assert not changed.has_definition("X1")
    assert changed.has_definition("C01")


@pytest.mark.parametrize("ask", ["parents", "children", "descendants", "relations", "related",
                                 "aliases", "has_definition"])  # fmt: skip
def test_a_concept_that_is_not_there_is_named(kb: KnowledgeBase, ask: str):
    with pytest.raises(BergamotError, match=r"B013.*C99"):
        getattr(kb, ask)("C99")
    assert kb.find("C99") is None
    assert kb.count_aliases("C99") == 0


def test_the_knowledge_base_in_hand(kb: KnowledgeBase):
    concept = kb.cui_to_entity["C01"]
    assert concept.canonical_name == "Hypertension"
    assert concept.types == ["T047"]
    assert concept.groups == ["DISO"]
    assert concept.definition == "A definition."
    assert "高血圧" in concept.aliases
    assert concept._asdict()["codes"] == {"ICD10CM": ["I10"], "SRCENG": ["x1"]}
    assert kb.semantic_type_tree.get_canonical_name(concept.types[0]) == "Disease or Syndrome"
    assert concept.languages == ["ENG", "GER", "JPN", "RUS", "SPA"]
    assert kb.alias_to_cuis["COLD"] == {"C04", "C05"}
    assert kb.codes("C01", "ICD10CM") == ["I10"]
    assert kb.concepts_coded("ICD10CM", "I10") == ["C01"]
    assert kb.concepts_coded("ICD10CM", "ICD10CM:I10") == ["C01"]
    assert kb.concepts_coded("ICD10CM", "x1") == kb.concepts_coded("ICD10CM", "I1") == []
    assert "C99" not in kb.cui_to_entity
    assert "no such name" not in kb.alias_to_cuis
    assert list(kb.cui_to_entity)[:2] == ["C01", "C02"]


def test_the_knowledge_base_can_be_walked(kb: KnowledgeBase):
    assert kb.relations("C06") == [("CHD", "isa", "C03"), ("RO", "finding_site_of", "C03")]
    assert (kb.parents("C06"), kb.children("C06"), kb.descendants("C06")) == ([], ["C03"], {"C03"})
    assert kb.related("C06") == {"C03"}
    assert {row["alias"] for row in kb.aliases("C04")} == {"common cold", "cold"}


def test_both_spellings_of_an_accession_are_found(make_kb):
    kb = make_kb("HP:0001250", "MONDO_0000001", "X_y")
    for asked, known in (
        ("HP:0001250", "HP:0001250"),
        ("HP_0001250", "HP:0001250"),
        ("MONDO:0000001", "MONDO_0000001"),
        ("MONDO_0000001", "MONDO_0000001"),
    ):
        assert kb.cui_to_entity[asked].concept_id == known
        assert asked in kb
        assert len(kb.aliases(asked)) == 1
    assert "X:y" not in kb
