"""A stream of documents: every one comes out in its place, linked or with what is wrong."""

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc

from spacy_bergamot.annotate.documents import link_documents
from spacy_bergamot.annotate.sources import Entry

KINDS = {
    "fine": Entry("fine", {}),
    "doc": Entry(Doc(spacy.blank("xx").vocab, ["made"]), {}),
    "doom": Entry("doom", {}),
    "long": Entry("x" * 50, {}),
    "half": Entry("a \udcff", {}),
    "read": Entry(None, {}, "it could not be read"),
}
PROBLEMS = {
    "doom": "ArithmeticError: near",
    "long": "50 characters; 20 are the most",
    "half": "no valid Unicode",
    "read": "it could not be read",
}


@Language.component("ends_at_doom")
def ends_at_doom(doc: Doc) -> Doc:
    if doc.text == "doom":
        raise ArithmeticError("near")
    return doc


@pytest.fixture(scope="module")
def nlp() -> Language:
    nlp = spacy.blank("xx")
    nlp.add_pipe("ends_at_doom")
    nlp.max_length = 20
    return nlp


@settings(max_examples=40)
@given(st.lists(st.sampled_from(list(KINDS)), max_size=9), st.integers(1, 4))
def test_documents_come_out_in_order_whatever_fails(nlp: Language, kinds, batch_size: int):
    handler = nlp.default_error_handler
    entries = (KINDS[kind]._replace(facts={"id": n}) for n, kind in enumerate(kinds))
    found = list(link_documents(nlp, entries, n_process=1, batch_size=batch_size))
    assert [one.facts["id"] for one in found] == list(range(len(kinds)))
    for kind, one in zip(kinds, found, strict=True):
        problem = PROBLEMS.get(kind, "")
        assert one.problem.startswith(problem)
        assert (one.doc is None) == bool(one.problem) == bool(problem)
        if one.doc is not None:
            assert one.doc.text.strip() == {"fine": "fine", "doc": "made"}[kind]
    assert nlp.default_error_handler is handler
