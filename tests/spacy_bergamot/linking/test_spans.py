"""Mentions of documents: what is written on them lasts, and is taken off a copy."""

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin, Span

from spacy_bergamot.linking.spans import is_linked, span_key, spans_of, unlinked, write_links

NLP = spacy.blank("xx")
PLACES = st.lists(st.tuples(st.integers(0, 5), st.integers(1, 3), st.sampled_from("AB")),
                  max_size=5, unique_by=lambda place: place[0])  # fmt: skip


def marked(places: list[tuple[int, int, str]], key: str | None) -> Doc:
    """Return eight words with spans; those of a group overlap and have ids."""
    doc = Doc(NLP.vocab, list("abcdefgh"))
    spans = [
        Span(doc, start, start + size, label=label, span_id=f"i{start}")
        for start, size, label in places
    ]
    if key is None:
        doc.ents = spacy.util.filter_spans(spans)
    else:
        doc.spans[key] = spans
    return doc


@given(PLACES, st.sampled_from([None, "sc"]))
def test_links_last_and_a_copy_has_none(places, key: str | None):
    doc = marked(places, key)
    before = [span_key(span) for span in spans_of(doc, key)]
    write_links(doc, {place: f"C{n}" for n, place in enumerate(before)}, key)
    data = DocBin(docs=[doc], store_user_data=True).to_bytes()
    (saved,) = DocBin().from_bytes(data).get_docs(NLP.vocab)
    for one in (doc, saved):
        spans = spans_of(one, key)
        assert [span_key(span) for span in spans] == before
        assert [span.kb_id_ for span in spans] == [f"C{n}" for n in range(len(before))]
        assert all(map(is_linked, spans))
    copy = unlinked(doc, key)
    assert [span_key(span) for span in spans_of(copy, key)] == before
    assert not any(map(is_linked, spans_of(copy, key)))
    assert all(map(is_linked, spans_of(doc, key)))


def test_spans_that_get_no_link_stay_as_they_were():
    doc = marked([(0, 2, "A"), (1, 3, "B")], "sc")
    write_links(doc, {span_key(doc.spans["sc"][1]): "C1"}, "sc")
    assert [(span.kb_id_, span.id_) for span in doc.spans["sc"]] == [("", "i0"), ("C1", "i1")]


@pytest.mark.parametrize("key", ["none", None])
def test_a_document_without_mentions_has_none(key: str | None):
    doc = NLP("text")
    write_links(doc, {(0, 1, 0): "C1"} if key else {}, key)
    assert spans_of(doc, key) == []
    assert "none" not in doc.spans


def test_nil_is_no_link():
    doc = marked([(0, 1, "A"), (2, 1, "A")], None)
    first, second = (span_key(ent) for ent in doc.ents)
    write_links(doc, {first: "NIL", second: "C1"})
    assert [is_linked(ent) for ent in doc.ents] == [False, True]
