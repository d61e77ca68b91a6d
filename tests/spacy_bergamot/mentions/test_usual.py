"""Usual words of all languages are told from misspelt ones."""

import pytest

from spacy_bergamot.mentions.usual import is_usual


@pytest.mark.parametrize("word", ["the", "patient", "house", "haus", "пациент", "walking"])
def test_words_that_people_use_are_usual(word: str):
    assert is_usual(word)


@pytest.mark.parametrize("word", ["hypertenison", "diabtees", "qzxv", "myocardiol"])
def test_misspelt_words_are_not(word: str):
    assert not is_usual(word)
