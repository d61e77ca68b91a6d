"""Concepts by what somebody types."""

from spacy_bergamot.index.knowledge_base import KnowledgeBase


def test_a_search_is_by_id_then_name_then_grams(kb: KnowledgeBase):
    for asked in ("C06", " c06 "):
        assert [(c.concept_id, s) for c, s in kb.search(asked)][:1] == [("C06", 1.0)]
    found = kb.search("Heart", limit=3)
    assert (found[0][0].concept_id, found[0][1]) == ("C06", 1.0)
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    assert len({c.concept_id for c, _ in found}) == len(found) <= 3
    assert "C03" in {c.concept_id for c, _ in found}
    assert kb.search("qqq") == []
    assert kb.search("heart attack")[0][0].concept_id == "C03"
