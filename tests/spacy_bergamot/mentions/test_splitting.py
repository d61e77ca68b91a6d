"""Tokens are split where spans need it, and nothing that is annotated is lost."""

import numpy as np
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span

from spacy_bergamot.mentions.splitting import Place, exact_spans, split_tokens

NLP = spacy.blank("xx")
WORDS = st.lists(st.text("ab高血圧ก", min_size=1, max_size=5), min_size=1, max_size=5)


@given(WORDS, st.data())
def test_every_border_inside_a_token_becomes_one_of_tokens(words: list[str], data: st.DataObject):
    spaces = data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    doc = Doc(NLP.vocab, words, spaces)
    first = data.draw(st.integers(0, len(words) - 1))
    doc.ents = [Span(doc, first, len(words), "A")]
    borders = data.draw(st.sets(st.integers(-2, len(doc.text) + 2)))
    made = split_tokens(doc, borders)
    assert made.text == doc.text
    assert [(e.text, e.label_) for e in made.ents] == [(e.text, e.label_) for e in doc.ents]
    old, new = (
        {place for token in one for place in (token.idx, token.idx + len(token))}
        for one in (doc, made)
    )
    inside = {b for b in borders if any(t.idx < b < t.idx + len(t) for t in doc)}
    assert new == old | inside
    assert (made is doc) == (not inside)
    assert split_tokens(made, borders) is made


def test_tokens_are_split_without_changing_the_text():
    doc = spacy.blank("xx")("ab患者は高血圧 x")
    doc = split_tokens(doc, {2, 5, 7})
    assert [token.text_with_ws for token in doc] == ["ab", "患者は", "高血", "圧 ", "x"]


def test_what_is_annotated_goes_over_to_split_tokens():
    nlp = spacy.blank("xx")
    words = ["ab患者は高血圧", "x", "糖尿病", "。"]
    doc = Doc(
        nlp.vocab,
        words,
        [True, False, False, False],
        tags=["N", "X", "N", "P"],
        lemmas=["l", "m", "n", "o"],
        heads=[1, 1, 1, 2],
        deps=["a", "ROOT", "b", "c"],
        user_data={"language": "JPN"},
    )
    doc.set_ents([Span(doc, 0, 2, label="A", kb_id="C1", span_id="i"), Span(doc, 2, 3, label="B")])
    doc.spans["sc"] = [Span(doc, 1, 3, label="S", kb_id="C2")]
    doc.spans["sc"].attrs["by"] = "me"
    doc.tensor = np.arange(4, dtype="float32")[:, None]
    doc._context = "context"
    doc.cats["x"] = 0.5
    Span.set_extension("note", default=None, force=True)
    doc.ents[1]._.note = "kept"
    made = split_tokens(doc, {2, 5, 11, 12})
    assert made.text == doc.text
    assert [token.text for token in made] == ["ab", "患者は", "高血圧", "x", "糖", "尿", "病", "。"]
    before = [(e.text, e.label_, e.kb_id_, e.id_) for e in doc.ents]
    assert [(e.text, e.label_, e.kb_id_, e.id_) for e in made.ents] == before
    assert made.ents[1]._.note == "kept"
    (span,) = made.spans["sc"]
    assert (span.text, span.label_, span.kb_id_) == ("x糖尿病", "S", "C2")
    assert made.spans["sc"].attrs == {"by": "me"}
    assert [token.tag_ for token in made if token.text in words] == ["X", "P"]
    assert (made[0].lemma_, made[3].lemma_) == ("ab", "m")
    assert (made[0].head.text, made[1].head.text, made[-1].head.text) == ("x", "ab", "糖")
    assert [sent.text for sent in made.sents] == [sent.text for sent in doc.sents]
    assert made.tensor[:, 0].tolist() == [0, 0, 0, 1, 2, 2, 2, 3]
    assert made.user_data["language"] == "JPN"
    assert (made._context, made.cats) == ("context", {"x": 0.5})
    assert split_tokens(doc, {0, 10, 99, -1}) is doc


def test_sentences_without_a_parse_stay_whole_where_tokens_are_split():
    doc = Doc(spacy.blank("xx").vocab, ["高血圧", "糖尿病"], [False, False], sent_starts=[1, 1])
    made = split_tokens(doc, {1, 4})
    assert [sent.text for sent in made.sents] == ["高血圧", "糖尿病"]


def test_spans_are_exact_in_scripts_without_spaces_only():
    doc = spacy.blank("xx")("患者は高血圧 hyperten\u00adsions x")
    places = [
        Place(3, 6, "A", "C1"),
        Place(4, 5, "B"),
        Place(7, 12, "A"),
        Place(90, 99, "A"),
        Place(3, 3, "A"),
    ]
    made, spans = exact_spans(doc, places)
    assert [span and (span.text, span.label_, span.kb_id_) for span in spans] == [
        ("高血圧", "A", "C1"),
        ("血", "B", ""),
        ("hyperten\u00adsions", "A", ""),
        None,
        None,
    ]
    assert made.text == doc.text
