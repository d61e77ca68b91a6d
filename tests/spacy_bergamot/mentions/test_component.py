"""bergamot_mentions: the longest names of a dictionary are marked, in any language and script."""

import pytest
import spacy

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.pipeline.build import write_names
from spacy_bergamot.pipeline.loaders import concept_table
from tests.spacy_bergamot.factories import mentions


def test_names_of_concepts_without_a_type_are_mentions_too(tmp_path):
    write_names(tmp_path / "kb", {"L1": ["long covid"]}, language="ENG")
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("bergamot_mentions")
    pipe.initialize(lambda: [], nlp=nlp, concepts=concept_table(str(tmp_path / "kb")))
    assert mentions(nlp, "Known long COVID.") == [("long COVID", "MENTION")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("diabetes mellitus", [("diabetes mellitus", "DISO")]),
        ("HIGH\tblood  pressure", [("HIGH\tblood  pressure", "DISO")]),
        ("the heart, heart attack!", [("heart", "ANAT"), ("heart attack", "DISO")]),
        ("患者は高血圧と糖尿病がある。", [("高血圧", "DISO"), ("糖尿病", "DISO")]),
        ("インスリン注射", [("インスリン", "CHEM")]),
        ("スーパーインスリン", []),
        ("因心肌梗死入院", [("心肌梗死", "DISO")]),
        ("MRI and mri", [("MRI", "PROC"), ("mri", "PROC")]),  # a usual short form
        ("coldly cold-hearted", [("cold", "DISO")]),
        ("", []),
        (
            "MRI、MRI。高血圧、「糖尿病」",
            [("MRI", "PROC")] * 2 + [("高血圧", "DISO"), ("糖尿病", "DISO")],
        ),
        ("（MRI）を施行", [("MRI", "PROC")]),
        ("高血圧(MRI)後", [("高血圧", "DISO"), ("MRI", "PROC")]),
        ("ＭＲＩとＤｉａｂｅｔｅｓ", [("ＭＲＩ", "PROC"), ("Ｄｉａｂｅｔｅｓ", "DISO")]),
        ("インスリン・アスピリン、ｲﾝｽﾘﾝ", [("インスリン", "CHEM"), ("ｲﾝｽﾘﾝ", "CHEM")]),
        ("\u200b高血\u200b圧\u200b", [("高血\u200b圧", "DISO")]),
        ("dia\u00adbetes", [("dia\u00adbetes", "DISO")]),
        ("fever\u3000cold\n", [("fever", "DISO"), ("cold", "DISO")]),
    ],
)
def test_longest_aliases_are_marked(matcher, text, expected):
    assert mentions(matcher(), text) == expected


@pytest.mark.parametrize("lang", ["en", "de", "es", "ru"])
def test_any_tokenizer(matcher, lang):
    assert mentions(matcher(lang), "aspirin and сахарный диабет") == [
        ("aspirin", "CHEM"),
        ("сахарный диабет", "DISO"),
    ]


def test_groups_and_lengths(matcher):
    assert mentions(matcher(groups=["CHEM"]), "fever, aspirin") == [("aspirin", "CHEM")]
    assert mentions(matcher(min_length=6), "fever, aspirin") == [("aspirin", "CHEM")]
    assert mentions(matcher(max_tokens=1), "heart attack") == [("heart", "ANAT")]
    with pytest.raises(BergamotError, match="B033"):
        matcher(groups=["NONE"])


def test_a_name_of_another_language_without_spaces_may_begin_with_a_number(dictionary):
    nlp = dictionary({"L1": {"CHI": ["2型糖尿病"], "ENG": ["MODY"]}})
    doc = nlp.make_doc("脂質異常症、2型糖尿病、12型糖尿病")
    doc.user_data["language"] = "ja"
    doc = nlp.get_pipe("bergamot_mentions")(doc)
    assert [(ent.text, ent.start_char) for ent in doc.ents] == [("2型糖尿病", 6)]


def test_korean_names_have_two_syllables_and_particles_behind_them(dictionary):
    nlp = dictionary({"Z1": {"KOR": ["두통", "빈혈", "고혈압"]}})
    expected = ["두통", "빈혈과", "고혈압으로"]
    assert [text for text, _ in mentions(nlp, "두통, 빈혈과 고혈압으로 내원.")] == expected
    assert mentions(nlp, "통과 혈압") == []


def test_longer_names_of_other_languages_are_marked_english_ones_sooner(dictionary):
    names = {"L1": {"CZE": ["deficit", "paraliza"]}, "L2": {"ENG": ["sepsis", "dyspnea"]}}
    nlp = dictionary(names | {"L3": {"CZE": ["obrnataobr"], "GER": ["Fieber"]}}, lang="de")
    doc = nlp("deficit, paraliza, sepsis, dyspnea, obrnataobr")
    assert [ent.text for ent in doc.ents] == ["dyspnea", "obrnataobr"]


LUNG = {"L1": {"DUT": ["long", "dikke darm"]}, "L2": {"ENG": ["darm"], "": ["long x"]}}


@pytest.mark.parametrize("code", ["ENG", "en", "eng", "en-GB"])
def test_names_of_some_languages(dictionary, code):
    assert mentions(dictionary(LUNG), "Long, darm") == [
        ("Long", "DISO"),
        ("darm", "DISO"),
    ]
    nlp = dictionary(LUNG, languages=[code])
    assert mentions(nlp, "Long, darm, long x") == [("darm", "DISO"), ("long x", "DISO")]
    doc = nlp.make_doc("Long, darm, dikke darm")
    doc.user_data["language"] = "nl"
    assert [ent.text for ent in nlp(doc).ents] == ["Long", "dikke darm"]
    doc = nlp.make_doc("Long, darm, dikke darm")
    doc.user_data["language"] = ["DUT", code]
    assert [ent.text for ent in nlp(doc).ents] == ["Long", "darm", "dikke darm"]


def test_a_language_that_no_name_has(dictionary):
    with pytest.raises(BergamotError, match="B033"):
        dictionary(LUNG, languages=["fi"])


def test_a_name_of_two_groups_has_the_one_that_is_asked_for(matcher):
    assert mentions(matcher(), "a cold") == [("cold", "DISO")]
    assert mentions(matcher(groups=["PHEN"]), "a cold") == [("cold", "PHEN")]


def test_the_context_of_a_stream_stays(matcher):
    pairs = [("患者は高血圧", 1), ("fever", 2)]
    found = list(matcher().pipe(pairs, as_tuples=True))
    assert [(doc.ents[0].text, number) for doc, number in found] == [("高血圧", 1), ("fever", 2)]


def test_round_trips(matcher, tmp_path):
    nlp = matcher()
    nlp.to_disk(tmp_path / "p")
    text = "患者は高血圧, fever"
    expected = mentions(nlp, text)
    assert mentions(spacy.load(tmp_path / "p"), text) == expected
    assert mentions(matcher().from_bytes(nlp.to_bytes()), text) == expected


def test_a_matcher_that_was_never_initialised_raises():
    nlp = spacy.blank("xx")
    nlp.add_pipe("bergamot_mentions")
    with pytest.raises(BergamotError, match="B030"):
        nlp("fever")
    with pytest.raises(BergamotError, match="B038"):
        nlp.initialize()
