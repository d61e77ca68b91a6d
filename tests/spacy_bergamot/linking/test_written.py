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
