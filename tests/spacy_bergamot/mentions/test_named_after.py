"""Tests, vaccines and wards that are named after a disorder."""

import csv
from importlib import resources

import pytest

from spacy_bergamot.languages import NAMES
from spacy_bergamot.mentions.named_after import named_after
from tests.spacy_bergamot.factories import mentions

ENGLISH = ["influenza", "hepatitis B", "hepatitis", "asthma", "fever"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Influenza swab negative.", []),
        ("Influenza and RSV swabs sent.", []),
        ("Hepatitis B-vaccine given", []),  # nor the hepatitis in it
        ("Screening for hepatitis B and asthma today", []),
        ("Vaccinated against influenza.", []),
        ("Seen by the asthma nurse", []),
        ("Asthma, influenza swab negative", ["Asthma"]),
        ("Influenza. Swab taken for asthma", ["Influenza", "asthma"]),
        ("influenza\nnurse called", ["influenza"]),
        ("influenza swabbed", ["influenza"]),
        ("Fever and cough, influenza", ["Fever", "influenza"]),
    ],
)
def test_a_name_after_which_something_is_named_is_no_mention(dictionary, text, expected):
    nlp = dictionary({"X1": {"ENG": ENGLISH}}, "en")
    assert [found for found, _ in mentions(nlp, text)] == expected


@pytest.mark.parametrize(
    ("code", "name", "text", "there"),
    [
        ("FRE", "grippe", "vaccin contre la grippe et le tétanos", 0),
        ("FRE", "tétanos", "vaccin contre la grippe et le tétanos", 0),
        ("FRE", "grippe", "fièvre et grippe", 1),
        ("GER", "Grippe", "Impfung gegen Grippe", 0),
        ("CHI", "肺癌", "预约肺癌筛查门诊", 0),
        ("CHI", "肺癌", "考虑肺癌,行筛查", 1),
        ("CHI", "肺癌", "肺癌、胃癌筛查", 0),
        ("CHI", "肺癌", "肺癌和糖尿病患者定期复查并筛查", 1),
    ],
)
def test_by_language(code: str, name: str, text: str, there: int):
    start = text.index(name)
    place = (start, start + len(name))
    assert named_after(text, [place], [code]) == (set() if there else {place})
    assert named_after(text, [place], ["FIN"]) == set()


def test_names_of_other_groups_are_mentions_there_too(dictionary):
    nlp = dictionary({"X1": {"ENG": ENGLISH}}, "en")  # C06 is of another group
    assert mentions(nlp, "Heart clinic, asthma clinic") == [("Heart", "ANAT")]


def test_the_table_has_languages_sides_and_no_words_twice():
    path = resources.files("spacy_bergamot.mentions").joinpath("named_after.tsv")
    with path.open(encoding="utf8", newline="") as lines:
        rows = [tuple(row.values()) for row in csv.DictReader(lines, delimiter="\t")]
    assert len(set(rows)) == len(rows) > 600
    assert {language for language, _, _ in rows} <= set(NAMES)
    assert {where for _, where, _ in rows} == {"before", "after"}
    assert all(words == words.strip() and words for _, _, words in rows)
