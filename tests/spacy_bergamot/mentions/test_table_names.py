"""Abbreviations among the names of a knowledge base: initials, and those that are too many."""

from itertools import product
from pathlib import Path

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.mentions.table_names import crowded, is_short_form
from tests.spacy_bergamot.conftest import write_concepts
from tests.spacy_bergamot.factories import mentions

THREE = ["".join(letters) for letters in product("ABCDEF", repeat=3)]  # 216 of 17,576


def test_initials_in_small_letters_are_marked_in_capitals_alone(dictionary):
    names = ["zed", "Zonular eye disease", "hzm", "HTLV-1-associated zonular myelopathy", "zab"]
    nlp = dictionary({"X1": {"ENG": names}}, "en")
    assert mentions(nlp, "zed, hzm, zab") == [("zab", "DISO")]
    assert mentions(nlp, "ZED, HZM, ZAB") == [("ZED", "DISO"), ("HZM", "DISO"), ("ZAB", "DISO")]


def test_a_short_form_of_three_letters_is_no_mention_where_many_are_names(dictionary):
    names = {f"X{number}": {"ENG": [name]} for number, name in enumerate(THREE)}
    nlp = dictionary(names | {"Y1": {"ENG": ["ABCD", "abdominal bleeding"]}}, "en")
    text = "Face: FAD. ABCD. BED 2. Abdominal bleeding (ABE): ABE ends."
    assert [text for text, _ in mentions(nlp, text)] == ["ABCD", "Abdominal bleeding", "ABE", "ABE"]


def test_of_few_all_are_mentions(dictionary):
    nlp = dictionary({"X1": {"ENG": THREE[:100]}}, "en")
    assert mentions(nlp, "AAA") == [("AAA", "DISO")]


def test_which_lengths_are_crowded(tmp_path: Path):
    names = [*THREE, *THREE, "ABCD", "A12", "AB", "bcd"]
    table = {f"C{number}": ("T047", {"ENG": [name]}) for number, name in enumerate(names)}
    assert crowded(ConceptTable.open(write_concepts(tmp_path / "kb", table))) == [3]
    assert [name for name in names if is_short_form(name)] == [*THREE, *THREE, "ABCD", "AB"]
