"""Documents, spans and packages that nobody meant well with."""

import json

import pytest
import spacy
import srsly
from spacy.pipeline import EntityLinker
from spacy.tokens import Doc, Span

from spacy_bergamot.errors import BergamotError


@pytest.mark.timeout(120)
def test_a_hundred_thousand_mentions_in_one_document(make_nlp):
    nlp = make_nlp(mentions=False)
    words = ["fever", "zebra", "and"] * 50_000
    doc = Doc(nlp.vocab, words=words)
    doc.set_ents([Span(doc, i, i + 1, label="X") for i in range(len(doc)) if i % 3 != 2])
    linked = nlp.get_pipe("bergamot_linker")(doc)
    assert len(linked.ents) == 100_000
    assert {ent.kb_id_ for ent in linked.ents[::2]} == {"C10"}
    assert "" not in {ent.kb_id_ for ent in linked.ents}


@pytest.mark.timeout(120)
def test_a_document_of_many_mentions_by_dictionary(nlp):
    text = "high blood pressure, then a fever. " * 10_000
    doc = nlp.make_doc(text)
    doc = nlp.get_pipe("bergamot_mentions")(doc)
    assert len(doc.ents) == 20_000
    assert doc.ents[-1].text == "fever"


def test_spans_in_any_order_nested_and_repeated(make_nlp):
    nlp = make_nlp(mentions=False, spans_key="sc")
    doc = nlp.make_doc("acute heart attack and cold")
    places = [(4, 5), (1, 3), (1, 2), (0, 5), (1, 3)]
    doc.spans["sc"] = [
        Span(doc, *place, label="X", span_id=str(n)) for n, place in enumerate(places)
    ]
    spans = nlp.get_pipe("bergamot_linker")(doc).spans["sc"]
    assert [(span.start, span.end) for span in spans] == places
    assert [span.id_ for span in spans] == ["0", "1", "2", "3", "4"]
    assert [spans[i].kb_id_ for i in (0, 1, 2, 4)] == ["C04", "C03", "C06", "C03"]


def test_a_span_of_white_space_is_nil(make_nlp):
    nlp = make_nlp(mentions=False, spans_key="sc")
    doc = Doc(nlp.vocab, words=["a", "\n\n", "\u200b", "b"])
    doc.spans["sc"] = [Span(doc, 1, 2, label="X"), Span(doc, 2, 3, label="X")]
    spans = nlp.get_pipe("bergamot_linker")(doc).spans["sc"]
    assert [span.kb_id_ for span in spans] == [EntityLinker.NIL] * 2


def test_a_document_of_another_vocabulary(nlp):
    other = spacy.blank("de")
    doc = other("Er hat Bluthochdruck")
    doc.ents = [Span(doc, 2, 3, label="X")]
    assert nlp.get_pipe("bergamot_linker")(doc).ents[0].kb_id_ == "C01"
    assert doc.ents[0]._.kb_ents == [("C01", 1.0)]


def test_a_pipeline_loaded_twice(saved):
    one, other = spacy.load(saved), spacy.load(saved)
    for nlp in (one, other, one):
        assert nlp("a fever").ents[0].kb_id_ == "C10"


def test_bytes_that_point_outside_their_folder_are_refused(nlp, tmp_path):
    linker = nlp.get_pipe("bergamot_linker")
    parts = srsly.msgpack_loads(linker.to_bytes())
    parts["index"]["../../escaped"] = b"x"
    with pytest.raises(BergamotError, match="bad path"):
        linker.from_bytes(srsly.msgpack_dumps(parts))
    assert linker.parts.bundles  # the linker goes on with what it had


@pytest.mark.parametrize("part", ["index", "encoder"])
def test_a_package_of_an_older_format_is_refused_with_the_remedy(saved, part):
    path = saved / "bergamot_linker" / part / "manifest.json"
    manifest = json.loads(path.read_text("utf8"))
    manifest["format_version"] = 0
    path.write_text(json.dumps(manifest), "utf8")
    with pytest.raises(BergamotError, match=r"B004.*Rebuild it, or install the release"):
        spacy.load(saved)
