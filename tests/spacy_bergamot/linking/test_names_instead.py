"""Names inside of mentions that are linked to nothing."""

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_bergamot.mentions import NAMES_INSIDE
from tests.spacy_bergamot.factories import mark

TEXT = "burning fever, zebra nose, heart attack and a cold"


def marked(nlp: Language) -> Doc:
    return mark(nlp, TEXT, "burning fever", "zebra nose", "heart attack", "cold", label="DISO")


def test_the_name_inside_of_a_mention_is_linked_where_that_is_not(make_nlp):
    nlp = make_nlp(mentions=False, threshold=1.0)
    linker = nlp.get_pipe("bergamot_linker")
    doc = marked(nlp)
    places = [(1, 2), (4, 5), (6, 7)]
    doc.spans[NAMES_INSIDE] = [Span(doc, *place, label="NAME") for place in places]
    assert [(ent.text, ent.label_, ent.kb_id_) for ent in linker(doc).ents] == [
        ("fever", "NAME", "C10"),
        ("zebra nose", "DISO", "NIL"),  # neither is linked
        ("heart attack", "DISO", "C03"),
        ("cold", "DISO", "C04"),
    ]
    assert doc.ents[0]._.kb_ents == [("C10", 1.0)]
    (without,) = linker.pipe([marked(nlp)])
    assert [ent.kb_id_ for ent in without.ents] == ["NIL", "NIL", "C03", "C04"]


def test_of_several_names_the_first_is_taken_and_spans_of_a_group_stay(make_nlp):
    nlp = make_nlp(mentions=False, threshold=1.0)
    doc = mark(nlp, "fever cold shock", "fever cold shock")
    doc.spans[NAMES_INSIDE] = [Span(doc, 0, 1, label="N"), Span(doc, 1, 2, label="N")]
    assert [ent.text for ent in nlp.get_pipe("bergamot_linker")(doc).ents] == ["fever"]
    doc = spacy.blank("xx").make_doc("burning fever")
    doc.spans["sc"] = [Span(doc, 0, 2, label="X")]
    doc.spans[NAMES_INSIDE] = [Span(doc, 1, 2, label="N")]
    linker = make_nlp(mentions=False, threshold=1.0, spans_key="sc").get_pipe("bergamot_linker")
    assert [span.text for span in linker(doc).spans["sc"]] == ["burning fever"]
