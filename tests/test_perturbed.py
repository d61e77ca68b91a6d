"""Mentions are found though they are inflected, misspelt or reordered, in ten languages."""

import pytest

from spacy_bergamot.mentions import BergamotMentions
from tests.inflections import inflected
from tests.perturbed import (
    CHANGES,
    Sentence,
    counted,
    dictionary,
    gold_sentences,
    misspelt,
    perturbed,
)  # fmt: skip

RECALL = {"unchanged": 0.75, "inflected": 0.9, "misspelt": 0.7, "reordered": 1.0}
PRECISION = {"unchanged": 0.95, "inflected": 0.95, "misspelt": 0.95, "reordered": 0.95}


@pytest.fixture(scope="module")
def matcher(tmp_path_factory: pytest.TempPathFactory) -> BergamotMentions:
    return dictionary(tmp_path_factory.mktemp("sample"))


@pytest.mark.parametrize("kind", CHANGES)
def test_changed_mentions_are_found_in_every_language(matcher: BergamotMentions, kind: str):
    counts, missed = counted(matcher, gold_sentences(), kind)
    assert len(counts) == 10
    assert sum(of.changed for of in counts.values()) > 50
    recalls = {language: of.recall for language, of in counts.items()}
    precisions = {language: of.precision for language, of in counts.items()}
    assert min(recalls.values()) >= RECALL[kind], (recalls, missed)
    assert min(precisions.values()) >= PRECISION[kind], precisions


def test_a_sentence_is_changed_at_its_mentions_alone():
    sentence = Sentence("ENG", "The heart attack, no fever.", [(4, 16), (21, 26)], [True, True])
    changed = perturbed(sentence, "inflected")
    assert changed.text == "The heart attacks, no fevers."
    assert [changed.text[slice(*span)] for span in changed.mentions] == ["heart attacks", "fevers"]
    assert perturbed(sentence, "unchanged") == sentence
    changed = perturbed(sentence, "reordered")
    assert changed.text in ("The attack heart, no fever.", "The heart-attack, no fever.")
    assert changed.changed == [True, False]


@pytest.mark.parametrize(
    ("language", "mention", "expected"),
    [
        ("ENG", "cirrhosis of the liver", "cirrhosis of the liver"),
        ("ENG", "lung biopsy", "lung biopsies"),
        ("SPA", "hipertensión arterial", "hipertensiones arteriales"),
        ("FRE", "crise d'épilepsie", "crises d'épilepsie"),
        ("GER", "tiefe Venenthrombose", "tiefe Venenthrombosen"),
        ("DUT", "hoge bloeddruk", "hoge bloeddrukken"),
        ("RUS", "бронхиальная астма", "бронхиальную астму"),
        ("CHI", "发热", "发热"),
        ("GER", "KHK", "KHK"),
    ],
)
def test_forms_by_language(language: str, mention: str, expected: str):
    assert inflected(mention, language) == expected


def test_a_word_is_misspelt_once_and_alike_every_time():
    import random

    words = {misspelt("tuberculosis", "ENG", random.Random(seed)) for seed in range(50)}
    assert len(words) > 10
    assert "tuberculosis" not in words
    assert all(abs(len(word) - 12) <= 1 and word[0] == "t" and word[-1] == "s" for word in words)
    assert misspelt("fever", "ENG", random.Random(0)) == "fever"
