"""The normal form of names, and what is no name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_bergamot.text import (
    broken_character,
    comma_separated,
    half_width,
    has_letters,
    normalize,
    unbroken,
    unify,
)


@given(st.text())
def test_a_normal_form_stays_as_it_is(text: str):
    once = normalize(text)
    assert normalize(once) == once
    assert once == " ".join(once.split())


@given(st.text(st.characters(max_codepoint=0x24F)), st.text(st.sampled_from(" \t\n\u00a0\u3000")))
def test_case_and_spaces_make_no_other_name(name: str, space: str):
    assert normalize(f"{space}{name}{space}") == normalize(name)
    assert normalize(name.lower()) == normalize(name)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("ＭＲＩ", "mri"),
        ("ｲﾝｽﾘﾝ", "インスリン"),
        ("ﬁbrosis", "fibrosis"),
        ("e\u0301clampsie", "éclampsie"),
        ("dia\u00adbetes", "diabetes"),
        ("\u200bheart\ufeff", "heart"),
        ("Crohn’s", "crohn’s"),
        ("Straße", "straße"),
        ("H\u0331ams", "ẖams"),  # of which the small letter alone is one character
        ("MAT\u0308T", "maẗt"),
        ("İNSÜLİN", "insülin"),  # whose small letter would have a second dot
    ],
)
def test_a_name_has_one_form_however_it_is_written(written: str, expected: str):
    assert normalize(written) == expected


def test_full_width_letters_digits_and_signs_have_a_narrow_form_of_the_same_length():
    assert half_width("ＣＫＤ　３ａ、ＣＲＰ（＋）肺炎") == "CKD　3a、CRP(+)肺炎"


def test_unifying_keeps_case_and_spaces():
    assert unify("  Ｍ\u00adRI  x") == "  MRI  x"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("", False), (" -?!", False), ("\u0301", False), ("7", True), ("-x-", True), ("心", True)],
)
def test_a_name_has_a_letter_or_a_digit_of_any_script(name: str, expected: bool):
    assert has_letters(name) is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a\0b", "U+0000"), ("a\x7f\0", "U+007F"), ("\x9f", "U+009F"), ("x\ud800", "U+D800")],
)
def test_the_first_broken_character_is_named(name: str, expected: str):
    assert broken_character(name) == expected


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]) | st.sampled_from("\t\n\r\x0b\x85")))
def test_what_a_file_can_hold_is_not_broken(name: str):
    assert broken_character(name) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pneu-\nmonia", "pneumonia"),
        ("pneu\u2010 \r\n\t monia", "pneumonia"),
        ("pneu\u00ad\nmo\u00adnia", "pneumonia"),
        ("Non-\nHodgkin", "Non-Hodgkin"),
        ("PNEU-\nMONIA", "PNEUMONIA"),
        ("T-\ncell", "T-cell"),
        ("hepatitis-\nC", "hepatitis-C"),
        ("heart\nattack", "heart\nattack"),
        ("x -\ny", "x -\ny"),
        ("ne\u0301phrite", "néphrite"),
    ],
)
def test_words_are_whole_that_lines_break(text: str, expected: str):
    assert unbroken(text) == expected


def test_options_are_separated_by_commas_and_blanks_count_for_nothing():
    assert comma_separated(" ENG, SPA,,") == ("ENG", "SPA")
    assert comma_separated("") == ()
