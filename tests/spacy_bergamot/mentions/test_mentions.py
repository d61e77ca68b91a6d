import time

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, Span

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.mentions import Place, exact_spans, split_tokens
from spacy_bergamot.pipeline.build import write_names
from spacy_bergamot.pipeline.loaders import concept_table
from tests.spacy_bergamot.conftest import CONCEPTS, write_concepts
from tests.spacy_bergamot.factories import mentions


@pytest.fixture(scope="module")
def matcher(concepts):
    def make(lang="xx", **config):
        nlp = spacy.blank(lang)
        pipe = nlp.add_pipe("bergamot_mentions", config=config)
        pipe.initialize(lambda: [], nlp=nlp, concepts=concept_table(str(concepts)))
        return nlp

    return make


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
        ("MRI and mri", [("MRI", "PROC")]),
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


def test_entities_that_are_there_stay(matcher):
    nlp = matcher()
    doc = nlp.make_doc("heart attack and fever")
    doc.ents = [doc.char_span(0, 5, label="MINE")]
    doc = nlp.get_pipe("bergamot_mentions")(doc)
    assert [(e.text, e.label_) for e in doc.ents] == [("heart", "MINE"), ("fever", "DISO")]


def test_a_span_group_may_overlap(matcher):
    doc = matcher(spans_key="sc")("heart attack")
    assert [(s.text, s.label_) for s in doc.spans["sc"]] == [
        ("heart", "ANAT"),
        ("heart attack", "DISO"),
    ]
    assert not doc.ents


def dictionary(tmp_path, names, lang="xx", **config):
    """Make a matcher of names by concept id, {language: [name, ...]} each."""
    known = {key: ("T047", {"ENG": [f"{key} x"], **by}) for key, by in names.items()}
    path = write_concepts(
        tmp_path / "own", known | {key: CONCEPTS[key] for key in ("C01", "C03", "C06")}
    )
    nlp = spacy.blank(lang)
    pipe = nlp.add_pipe("bergamot_mentions", config=config)
    pipe.initialize(lambda: [], nlp=nlp, concepts=concept_table(str(path)))
    return nlp


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
def test_borders_in_scripts_without_spaces(tmp_path, names, text, expected):
    nlp = dictionary(tmp_path, {"Z1": {"JPN": names}})
    assert [mention for mention, _ in mentions(nlp, text)] == expected


LUNG = {"L1": {"DUT": ["long", "dikke darm"]}, "L2": {"ENG": ["darm"], "": ["long x"]}}


@pytest.mark.parametrize("code", ["ENG", "en", "eng", "en-GB"])
def test_names_of_some_languages(tmp_path, code):
    assert mentions(dictionary(tmp_path, LUNG), "Long, darm") == [
        ("Long", "DISO"),
        ("darm", "DISO"),
    ]
    nlp = dictionary(tmp_path, LUNG, languages=[code])
    assert mentions(nlp, "Long, darm, long x") == [("darm", "DISO"), ("long x", "DISO")]
    doc = nlp.make_doc("Long, darm, dikke darm")
    doc.user_data["language"] = "nl"
    assert [ent.text for ent in nlp(doc).ents] == ["Long", "dikke darm"]
    doc = nlp.make_doc("Long, darm, dikke darm")
    doc.user_data["language"] = ["DUT", code]
    assert [ent.text for ent in nlp(doc).ents] == ["Long", "darm", "dikke darm"]


def test_a_language_that_no_name_has(tmp_path):
    with pytest.raises(BergamotError, match="B033"):
        dictionary(tmp_path, LUNG, languages=["fi"])


def test_a_name_of_two_groups_has_the_one_that_is_asked_for(matcher):
    assert mentions(matcher(), "a cold") == [("cold", "DISO")]
    assert mentions(matcher(groups=["PHEN"]), "a cold") == [("cold", "PHEN")]


def test_tokens_are_split_without_changing_the_text():
    doc = spacy.blank("xx")("ab患者は高血圧 x")
    doc = split_tokens(doc, {2, 5, 7})
    assert [token.text_with_ws for token in doc] == ["ab", "患者は", "高血", "圧 ", "x"]


def test_what_is_annotated_goes_over_to_split_tokens():
    nlp = spacy.blank("xx")
    words = ["ab患者は高血圧", "x", "糖尿病", "。"]
    doc = Doc(
        nlp.vocab,
        words,
        [True, False, False, False],
        tags=["N", "X", "N", "P"],
        lemmas=["l", "m", "n", "o"],
        heads=[1, 1, 1, 2],
        deps=["a", "ROOT", "b", "c"],
        user_data={"language": "JPN"},
    )
    doc.set_ents([Span(doc, 0, 2, label="A", kb_id="C1", span_id="i"), Span(doc, 2, 3, label="B")])
    doc.spans["sc"] = [Span(doc, 1, 3, label="S", kb_id="C2")]
    doc.spans["sc"].attrs["by"] = "me"
    doc.tensor = np.arange(4, dtype="float32")[:, None]
    doc._context = "context"
    doc.cats["x"] = 0.5
    Span.set_extension("note", default=None, force=True)
    doc.ents[1]._.note = "kept"
    made = split_tokens(doc, {2, 5, 11, 12})
    assert made.text == doc.text
    assert [token.text for token in made] == ["ab", "患者は", "高血圧", "x", "糖", "尿", "病", "。"]
    before = [(e.text, e.label_, e.kb_id_, e.id_) for e in doc.ents]
    assert [(e.text, e.label_, e.kb_id_, e.id_) for e in made.ents] == before
    assert made.ents[1]._.note == "kept"
    (span,) = made.spans["sc"]
    assert (span.text, span.label_, span.kb_id_) == ("x糖尿病", "S", "C2")
    assert made.spans["sc"].attrs == {"by": "me"}
    assert [token.tag_ for token in made if token.text in words] == ["X", "P"]
    assert (made[0].lemma_, made[3].lemma_) == ("ab", "m")
    assert (made[0].head.text, made[1].head.text, made[-1].head.text) == ("x", "ab", "糖")
    assert [sent.text for sent in made.sents] == [sent.text for sent in doc.sents]
    assert made.tensor[:, 0].tolist() == [0, 0, 0, 1, 2, 2, 2, 3]
    assert made.user_data["language"] == "JPN"
    assert (made._context, made.cats) == ("context", {"x": 0.5})
    assert split_tokens(doc, {0, 10, 99, -1}) is doc


def test_sentences_without_a_parse_stay_whole_where_tokens_are_split():
    doc = Doc(spacy.blank("xx").vocab, ["高血圧", "糖尿病"], [False, False], sent_starts=[1, 1])
    made = split_tokens(doc, {1, 4})
    assert [sent.text for sent in made.sents] == ["高血圧", "糖尿病"]


def test_the_context_of_a_stream_stays(matcher):
    pairs = [("患者は高血圧", 1), ("fever", 2)]
    found = list(matcher().pipe(pairs, as_tuples=True))
    assert [(doc.ents[0].text, number) for doc, number in found] == [("高血圧", 1), ("fever", 2)]


def test_spans_are_exact_in_scripts_without_spaces_only():
    doc = spacy.blank("xx")("患者は高血圧 hyperten\u00adsions x")
    places = [
        Place(3, 6, "A", "C1"),
        Place(4, 5, "B"),
        Place(7, 12, "A"),
        Place(90, 99, "A"),
        Place(3, 3, "A"),
    ]
    made, spans = exact_spans(doc, places)
    assert [span and (span.text, span.label_, span.kb_id_) for span in spans] == [
        ("高血圧", "A", "C1"),
        ("血", "B", ""),
        ("hyperten\u00adsions", "A", ""),
        None,
        None,
    ]
    assert made.text == doc.text


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


def test_a_long_document_takes_linear_time(matcher):
    doc = matcher()("fever and 高血圧 " * 5000)
    assert len(doc.ents) == 10_000


@pytest.mark.parametrize("piece", ["患者は高血圧、糖尿病と診断された。", "fever ", "x", "é", "。"])
def test_time_grows_with_the_length_of_a_text(matcher, piece):
    nlp = matcher()
    pipe = nlp.get_pipe("bergamot_mentions")
    seconds = []
    for size in (25_000, 200_000):
        words = [(piece * size)[:size]] if piece != "fever " else ["fever"] * (size // 6)
        doc = Doc(nlp.vocab, words, [piece.endswith(" ")] * len(words))
        start = time.process_time()
        pipe(doc)
        seconds.append(time.process_time() - start)
    # Eight times the text: 64 times the seconds if it were quadratic.
    assert seconds[1] < 24 * max(seconds[0], 0.05)


def test_an_alias_is_found_however_long_the_others_are(tmp_path):
    nlp = dictionary(tmp_path, {"Z1": {"ENG": ["x" * 100_000]}})
    text = "fever " + "x" * 100_000 + " heart " + "x" * 100_001
    assert [len(ent.text) for ent in nlp(text).ents] == [100_000, 5]


def test_stop_words_and_groups_that_say_nothing_of_a_patient_are_no_mentions(tmp_path):
    known = {"this": "T184", "All": "T184", "ALL": "T047", "severe": "T080"}
    added = {f"L{n}": (known[name], {"ENG": [name]}) for n, name in enumerate(known)}
    write_concepts(tmp_path / "kb", CONCEPTS | added)

    def found(text, **config):
        nlp = spacy.blank("en")
        pipe = nlp.add_pipe("bergamot_mentions", config=config)
        pipe.initialize(lambda: [], nlp=nlp, concepts=concept_table(str(tmp_path / "kb")))
        return mentions(nlp, text)

    text = "This is all: severe fever, no ALL."
    assert found(text) == [("fever", "DISO"), ("ALL", "DISO")]
    assert found(text, groups=["CONC", "DISO"]) == [
        ("severe", "CONC"),
        ("fever", "DISO"),
        ("ALL", "DISO"),
    ]
    assert found(text, groups_discard=["DISO"]) == [("severe", "CONC")]
