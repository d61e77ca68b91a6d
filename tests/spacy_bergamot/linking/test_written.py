"""Of concepts that have the mention as a name, the one that writes it alike is linked."""

from collections.abc import Callable

import pytest
from spacy.language import Language

from tests.spacy_bergamot.factories import add, mark

EXACT = {"@misc": "spacy_bergamot.ExactGenerator.v1"}


@pytest.mark.parametrize(
    ("text", "mention", "linked"),
    [
        ("She has a cold.", "cold", "C04"),
        ("Cold since Monday.", "Cold", "C04"),
        ("She has COLD since 2010.", "COLD", "C01"),
        ("COLD", "COLD", "C01"),
        ("SHE HAS A COLD.", "COLD", "C01"),  # nothing is known: the order of the table stays
        ("Chronic lung disease (COLD). The COLD is old.", "COLD", "C01"),
    ],
)
def test_an_abbreviation_in_capitals_is_no_word(
    make_nlp: Callable[..., Language], text: str, mention: str, linked: str
):
    nlp = make_nlp(mentions=False, generator=EXACT, resolve_abbreviations=False)
    linker = nlp.get_pipe("bergamot_linker")
    linker.update_index([add("C01", "COLD")])
    (ent,) = linker(mark(nlp, text, mention)).ents
    assert ent.kb_id_ == linked
    assert {c["concept_id"] for c in ent._.candidates} == {"C01", "C04", "C05"}
    explained = linker.explain(mention, context=text)
    assert explained["decision"] == linked


def test_a_name_means_what_it_means_in_the_text_s_language(make_nlp: Callable[..., Language]):
    """Both have score 1, and more names of the other one are the same string."""
    nlp = make_nlp(mentions=False, generator=EXACT)
    linker = nlp.get_pipe("bergamot_linker")
    others = [{**add("C01", "Zelose"), "language": language} for language in ("DUT", "CZE")]
    linker.update_index([*others, {**add("C04", "Zelose"), "language": "GER"}])
    for language, linked, scores in (
        ("de", "C04", [1, 0.9]),
        ("nl", "C01", [1, 0.9]),
        ("fr", "C01", [1, 1]),  # a tie, which says nothing of the text
    ):
        doc = mark(nlp, "Zelose seit 2010.", "Zelose")
        doc.user_data["language"] = language
        (ent,) = linker(doc).ents
        assert ent.kb_id_ == linked, language
        assert [c["score"] for c in ent._.candidates] == scores, language


@pytest.mark.parametrize("language", ["JPN", "CHI"])
def test_a_name_that_two_languages_have_is_in_the_text_s(
    make_nlp: Callable[..., Language], language: str
):
    nlp = make_nlp(mentions=False, generator=EXACT)
    doc = mark(nlp, "糖尿病 あり", "糖尿病")
    doc.user_data["language"] = language
    (ent,) = nlp.get_pipe("bergamot_linker")(doc).ents
    assert [(c["concept_id"], c["language"]) for c in ent._.candidates] == [("C02", language)]
