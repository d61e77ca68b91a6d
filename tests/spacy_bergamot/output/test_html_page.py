"""The page of linked documents: nothing of a text is lost, run or fetched."""

import re
from html import unescape

import pytest
import spacy
from spacy import displacy
from spacy.tokens import Doc, Span

from spacy_bergamot.output.exporters import to_displacy, to_html
from tests.spacy_bergamot.output.shapes import Page

URL = "https://kb.example/{}"


def marked(text: str, *found: tuple[str, str, str], key: str = "", lang: str = "en") -> Doc:
    """Return a document with (text, label, kb id) as entities, or as spans of a group."""
    doc = spacy.blank(lang)(text)
    spans = []
    for part, label, kb_id in found:
        start = text.index(part)
        span = doc.char_span(start, start + len(part), label=label, kb_id=kb_id)
        assert span is not None
        spans.append(span)
    if key:
        doc.spans[key] = spans
    else:
        doc.ents = spans
    return doc


def test_a_text_comes_through_whole_and_its_mentions_are_marked():
    text = "No  cough.\n\n<b> Fever </b> & “chills”; 7 > 5"
    doc = marked(text, ("cough", "SIGN", "C01"), ("Fever", "SIGN", "NIL"), ("chills", "X", ""))
    page = Page(to_html([doc], kb_url=URL))
    assert page.text == text
    assert page.tags == ["SIGN · C01", "SIGN", "X"]
    assert [mark for mark, _ in page.marks] == ["cough", "Fever", "chills"]
    assert ["unlinked" in kind for _, kind in page.marks] == [False, True, True]
    colours = [re.search(r"c\d", kind)[0] for _, kind in page.marks]
    assert colours[0] == colours[1] != colours[2]
    assert [a["href"] for name, a in page.elements if name == "a"] == ["https://kb.example/C01"]


def test_what_is_said_of_a_mention_breaks_as_the_text_does():
    """A box of its own would leave half a line empty before it, and a comma alone behind it."""
    style = to_html([spacy.blank("en")("x")]).partition("</style>")[0]
    assert ".tag {" in style
    assert "inline-block" not in style


def test_nothing_is_run_or_fetched_whatever_a_document_holds():
    evil = '"><script>alert(1)</script><img src=x>{{ 7 * 7 }}'
    doc = marked(evil, ("script", evil, evil))
    doc.user_data["title"] = evil
    html = to_html([doc], kb_url=URL)
    page = Page(html)
    assert page.text == evil
    assert {name for name, _ in page.elements} == {
        "html", "head", "meta", "title", "style", "body", "main", "article", "h1", "h2", "p",
        "mark", "span", "a", "bdi",
    }  # fmt: skip
    assert "default-src 'none'" in unescape(html)
    assert not re.search(r"url\(|@import|src=|<link", html.replace("src=x", ""))
    assert ("meta", {"charset": "utf-8"}) in page.elements


def test_spans_that_overlap_are_each_said_once_with_their_text():
    text = "severe chest pain now"
    found = ("severe chest", "A", "C01"), ("chest pain", "B", "C02"), ("now", "C", "C03")
    page = Page(to_html([marked(text, *found, key="sc")], spans_key="sc"))
    assert page.text == text
    assert sorted(page.tags) == ["C · C03", "“chest pain” · B · C02", "“severe chest” · A · C01"]
    deep = [mark for mark, kind in page.marks if "deep" in kind]
    assert deep == ["chest"]
    twice = marked(text, ("now", "A", "C01"), ("now", "B", "C02"), key="sc")
    assert len(Page(to_html([twice], spans_key="sc")).tags) == 2


@pytest.mark.parametrize(("lang", "said"), [("ar", "ar"), ("xx", None)])
def test_direction_and_language_are_those_of_the_text(lang: str, said: str | None):
    doc = marked("ضغط الدم aspirin", ("aspirin", "DRUG", "C01"), lang=lang)
    page = Page(to_html([doc]))
    (paragraph,) = [attributes for name, attributes in page.elements if name == "p"]
    assert paragraph["dir"] == "auto"
    assert paragraph.get("lang") == said
    tags = [a for _, a in page.elements if str(a.get("class", "")).startswith("tag")]
    assert [tag["dir"] for tag in tags] == ["ltr"]  # else the first tag decides for the text


def test_a_linked_document_says_names_and_scores(make_nlp):
    nlp = make_nlp()
    linker = nlp.get_pipe("bergamot_linker")
    doc = nlp("Bluthochdruck")
    ((concept_id, score), *_) = doc.ents[0]._.kb_ents
    name = linker.kb.cui_to_entity[concept_id].canonical_name
    (tag,) = Page(to_html([doc], kb=linker.kb)).tags
    assert tag == f"{doc.ents[0].label_} · {concept_id} · {name} · {score:.2f}".removeprefix(" · ")
    doc.ents = [Span(doc, 0, 1, label="X", kb_id="unknown")]
    (tag,) = Page(to_html([doc], kb=linker.kb)).tags
    assert tag.startswith("X · unknown")


@pytest.mark.parametrize(("style", "key"), [("ent", None), ("span", "sc")])
def test_displacy_draws_a_linked_document(style: str, key: str | None):
    found = ("fever", "<i>", "C01"), ("chills", "SIGN", "NIL")
    doc = marked("fever and chills", *found, key=key or "")
    drawing = displacy.render(
        to_displacy(doc, spans_key=key, kb_url=URL), style=style, manual=True, jupyter=False
    )
    assert 'href="https://kb.example/C01"' in drawing
    assert "example/NIL" not in drawing
    assert "SIGN" in drawing
    assert "<i>" not in drawing
