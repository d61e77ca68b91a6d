"""Scripts without spaces, and how much a letter says."""

import pytest

from spacy_bergamot.scripts import lacks_spaces, letters


@pytest.mark.parametrize("text", ["糖尿病", "カタカナ", "ไข้", "type 2糖尿病", "MRI、", "々"])
def test_scripts_without_spaces(text: str):
    assert lacks_spaces(text)


@pytest.mark.parametrize("text", ["", "fever", "сахарный диабет", "고혈압", "سكري", "naïve"])
def test_scripts_with_spaces(text: str):
    assert not lacks_spaces(text)


def test_a_korean_syllable_counts_as_two_letters():
    assert [letters(word) for word in ("", "flu", "боль", "두통")] == [0, 3, 4, 4]
