"""The knowledge base of spaCy's own entity linker: candidates and vectors of our index."""

import pickle

import numpy as np
import spacy

from spacy_bergamot.pipeline.alias_knowledge_base import AliasKnowledgeBase


def test_candidates_and_vectors(loader):
    nlp = spacy.blank("en")
    kb = loader(nlp.vocab)
    doc = nlp("High Blood  Pressure and cold and ?!")
    first, second, third = kb.get_candidates_batch([doc[0:4], doc[5:6], doc[7:9]])
    assert (first[0].entity_, first[0].alias_, first[0].prior_prob) == (
        "C01", "high blood pressure", 1.0,
    )  # fmt: skip
    assert {one.entity_ for one in second[:2]} == {"C04", "C05"}
    assert third == []
    parts = kb.parts
    (expected,) = parts.encoder.encode(["Hypertension"])
    np.testing.assert_allclose(first[0].entity_vector, expected, atol=1e-5)
    assert kb.entity_vector_length == len(kb.get_vector("C01")) == 32
    assert not kb.get_vector("NIL").any()
    again = AliasKnowledgeBase(nlp.vocab, 1, settings=kb.settings).from_bytes(kb.to_bytes())
    np.testing.assert_allclose(again.get_vector("C01"), expected, atol=1e-5)
    other = pickle.loads(pickle.dumps(kb))
    assert [one.entity_ for one in other.get_candidates(doc[5:6])][:2] == ["C04", "C05"]
