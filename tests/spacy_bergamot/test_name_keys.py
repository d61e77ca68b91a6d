"""Keys of names, as they are written and folded."""

import pytest

from spacy_bergamot.name_keys import folded_key, folded_name, keyed


@pytest.mark.parametrize(
    ("alias", "key"),
    [("Heart  Attack", "heart attack"), ("MRI", "=MRI"), ("ＭＲＩ", "=MRI"), ("T 3", "=T 3"),
     ("INSULIN", "insulin"), ("Mri", "mri"), ("12", "12"), ("МРТ", "=МРТ")],
)  # fmt: skip
def test_a_short_name_in_capitals_keeps_them(alias: str, key: str):
    assert keyed(alias) == key


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [("ENG", "cancer of the breast", "Breast Cancers"), ("RUS", "боль в груди", "боли в груди")],
)
def test_names_of_one_folded_form_have_one_key(language: str, one: str, other: str):
    assert folded_key(folded_name(one, language)) == folded_key(folded_name(other, language)) > 0


@pytest.mark.parametrize("name", ["", "flu", "the of", "糖尿病", "12"])
def test_what_says_too_little_has_no_folded_form(name: str):
    assert folded_name(name, "ENG") == []
    assert folded_key([]) == 0


def test_two_korean_syllables_say_enough():
    assert folded_name("두통", "KOR")
    assert not folded_name("암", "KOR")
