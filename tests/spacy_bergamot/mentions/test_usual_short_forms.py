"""The table of short forms that clinical notes use."""

import csv
from pathlib import Path

import spacy_bergamot.mentions.usual_short_forms as module
from spacy_bergamot.folding import plain_word
from spacy_bergamot.languages import LANGUAGES, iso
from spacy_bergamot.mentions.usual import is_usual
from spacy_bergamot.mentions.usual_short_forms import usual_short_forms


def test_a_language_has_its_short_forms():
    assert usual_short_forms("de")["KHK"] == "coronary heart disease"
    assert usual_short_forms("GER") == usual_short_forms("de")
    assert "KHK" not in usual_short_forms("ENG")
    assert usual_short_forms("tlh") == {}


def test_english_ones_stand_in_other_scripts_too():
    assert usual_short_forms("THA")["AF"] == usual_short_forms("ENG")["AF"]
    assert usual_short_forms("JPN")["PNA"] == "pneumonia"
    assert "CHF" in usual_short_forms("ENG")
    assert "CHF" not in usual_short_forms("SPA")


def test_they_are_read_in_small_letters_too_unless_they_are_words_then():
    forms = usual_short_forms("ENG")
    assert forms["htn"] == forms["Htn"] == forms["HTN"]
    assert forms["t2dm"] == "type 2 diabetes mellitus"
    assert "ALS" in forms
    assert not {"als", "Als", "doe", "Doe", "mi", "Mi", "cap", "Cap"} & forms.keys()


def test_without_a_language_those_count_that_mean_the_same_everywhere():
    forms = usual_short_forms("")
    assert forms == usual_short_forms("xx")
    assert forms["HTN"] == "hypertension"  # English
    assert forms["HTA"] == "hypertension"  # French, Spanish and others
    assert "PNA" not in forms  # pneumonia in English, pyelonephritis in French
    assert "IM" not in forms  # too short
    assert "KHK" not in forms  # German alone


def test_the_table_is_in_order_and_says_each_once():
    table = Path(module.__file__).with_name("usual_short_forms.tsv")
    with table.open(encoding="utf8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    assert [row["language"] for row in rows] == sorted(row["language"] for row in rows)
    said = [(row["language"], row["short_form"]) for row in rows]
    assert len(set(said)) == len(said)
    assert all(iso(language) in LANGUAGES for language, _ in said)
    assert all(value == value.strip() for row in rows for value in row.values())
    assert all(row["short_form"] and row["long_form"] for row in rows)
    for row in rows:
        if row["any_case"]:
            short = row["short_form"]
            assert short.isupper()
            assert short.isalnum()
            assert len(short) > 3 or (len(short) == 3 and not set(short) & set("AEIOUYАЕИОУЫЭЮЯІ"))
            assert not is_usual(plain_word(short.lower()))
