"""The two codes of a language."""

import pytest

from spacy_bergamot.languages import LANGUAGES, NAMES, iso, languages_of, lat


def test_a_language_is_the_same_by_either_code():
    for short, long in LANGUAGES.items():
        assert [lat(code) for code in (short, f" {short.upper()}", long, long.lower())] == [
            long
        ] * 4
        assert lat(iso(short)) == lat(iso(long)) == long


@pytest.mark.parametrize("code", ["zh-Hans", "zh_TW", "ZH-hk"])
def test_script_and_country_make_no_other_language(code: str):
    assert lat(code) == "CHI"


@pytest.mark.parametrize("code", ["xx", "tlh", "", "other"])
def test_an_unknown_code_stays_as_it_is(code: str):
    assert lat(code) == iso(code) == code


def test_both_codes_of_norwegian_are_read_and_one_is_given():
    assert [iso(code) for code in ("ru", "RUS", "nb", "NOR")] == ["ru", "ru", "nb", "no"]


def test_every_language_has_an_english_name():
    assert NAMES.keys() == set(LANGUAGES.values())


def test_a_document_says_one_language_or_several():
    assert languages_of("de") == ["de"]
    assert languages_of(("de", "fr")) == languages_of(["de", "fr"]) == ["de", "fr"]
