"""Units: tokens, and in scripts without spaces parts of them."""

import numpy as np
import pytest
import spacy
from hypothesis import example, given
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_bergamot.mentions.reading import reading
from spacy_bergamot.mentions.units import units_of
from spacy_bergamot.scripts import lacks_spaces
from tests.spacy_bergamot.factories import mentions

NLP = spacy.blank("xx")
TEXTS = st.text(
    st.sampled_from(" ab-é病のカタカナไข้า、。・ー\u00ad\u200b\u0301\n")
    | st.characters(exclude_categories=["Cs"])
)


def texts_of(doc: Doc) -> list[str]:
    read = reading(doc)
    units = units_of(read)
    return [read.text[a:b] for a, b in zip(units.starts, units.ends, strict=True)]


@example("fever   cold\n")
@given(TEXTS.filter(str.strip))
def test_units_have_every_character_but_white_space_once(text: str):
    doc = NLP(text)
    read = reading(doc)
    units = units_of(read)
    assert (units.starts < units.ends).all()
    assert (units.ends[:-1] <= units.starts[1:]).all()
    assert "".join("".join(texts_of(doc)).split()) == "".join(read.text.split())
    assert not any(map(str.isspace, texts_of(doc)))
    assert not (units.unspaced & ~units.dense).any()
    for start, end, unspaced, _ in zip(*units, strict=True):
        (first,), (last,) = read.places(np.array([start]), np.array([end]))
        assert doc.char_span(first, last, alignment_mode="expand").start_char <= first
        assert not unspaced or lacks_spaces(read.text[start:end])


@given(st.lists(st.text("abcé-", min_size=1), min_size=1))
def test_with_spaces_a_token_is_a_unit(words: list[str]):
    doc = Doc(NLP.vocab, words)
    assert texts_of(doc) == words
    assert not units_of(reading(doc)).unspaced.any()


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("POChP.", ["POChP", "."]),
        ("Hb↓.", ["Hb↓", "."]),
        ("fever(-)", ["fever", "(", "-", ")"]),
        ("e.g.", ["e.g."]),
        ("m.", ["m."]),
        ("...", ["..."]),
        ("U.S.A.", ["U.S.A."]),
        ("L'IRM", ["L'", "IRM"]),
        ("dell’ECG", ["dell’", "ECG"]),
        ("Crohn's", ["Crohn's"]),
        ("aujourd'hui", ["aujourd'hui"]),
        ("м'язи", ["м'язи"]),
        ("CT에서", ["CT", "에서"]),
        ("D-dimer가", ["D-dimer", "가"]),
        ("2.3,TSH", ["2.3,", "TSH"]),
        ("1,25-OH", ["1,25-OH"]),
    ],
)
def test_brackets_the_dot_that_ends_a_word_and_what_is_elided_are_units(
    token: str, expected: list[str]
):
    assert texts_of(Doc(NLP.vocab, [token])) == expected


def test_a_name_at_the_end_of_a_sentence_is_a_mention(dictionary):
    """The tokenizer leaves the dot with what ends in one capital."""
    nlp = dictionary({"X1": {"POL": ["POChP"]}}, "pl")
    assert mentions(nlp, "Rozpoznanie: POChP. Nikotynizm.") == [("POChP", "DISO")]


def test_names_behind_an_apostrophe_are_mentions(dictionary):
    nlp = dictionary({"X1": {"FRE": ["urée", "hypertension"]}}, "xx")
    doc = nlp.make_doc("Le patient a fait de l'HTA. Le dosage d'urée était normal hier.")
    doc.user_data["language"] = "fr"
    doc = nlp.get_pipe("bergamot_mentions")(doc)
    assert [ent.text for ent in doc.ents] == ["HTA", "urée"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("高血圧", ["高", "血", "圧"]),
        ("インスリン注射", ["インスリン", "注", "射"]),
        ("B型", ["B", "型"]),
        ("(MRI)後", ["(", "MRI", ")", "後"]),
        ("ไข้", ["ไข้"]),
        ("dia\u00adbetes後", ["diabetes", "後"]),
        ("نمی\u200cدانم後", ["نمی\u200cدانم", "後"]),
    ],
)
def test_parts_of_scripts_without_spaces(text: str, expected: list[str]):
    assert texts_of(Doc(NLP.vocab, [text])) == expected


def test_a_broken_word_is_a_unit():
    assert texts_of(NLP("Pneu-\nmonia, hyper\u00ad\n  tension")) == [
        "Pneumonia",
        ",",
        "hypertension",
    ]
    assert texts_of(NLP("Non-\nHodgkin")) == ["Non-", "Hodgkin"]


@pytest.mark.parametrize(
    ("names", "text", "expected"),
    [
        (["B型肝炎", "C型肝炎"], "B型肝炎、C型肝炎", ["B型肝炎", "C型肝炎"]),
        (["2型糖尿病", "糖尿病", "高血圧症"], "高血圧症、2型糖尿病。", ["高血圧症", "2型糖尿病"]),
        (["COPD"], "肺病（COPD）。", ["COPD"]),
        (["ヘリコバクター・ピロリ"], "ヘリコバクター・ピロリ感染", ["ヘリコバクター・ピロリ"]),
        (["IgA血管炎性紫斑病"], "IgA血管炎性紫斑病", ["IgA血管炎性紫斑病"]),
        (["ไข้", "ความดันโลหิตสูง"], "มีไข้และความดันโลหิตสูง", ["ไข้", "ความดันโลหิตสูง"]),
        (["ไต"], "ไตรมาส ไต ไตๆ", ["ไต", "ไต", "ไต"]),
        (["กา"], "กาล การ กำ", ["กา", "กา"]),
        (["กล"], "กลำ", []),
    ],
)
def test_borders_in_scripts_without_spaces(dictionary, names, text, expected):
    nlp = dictionary({"Z1": {"JPN": names}})
    assert [mention for mention, _ in mentions(nlp, text)] == expected
