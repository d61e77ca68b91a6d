import pytest
import spacy

from spacy_bergamot.build import write_names
from spacy_bergamot.errors import BergamotError
from spacy_bergamot.loaders import concept_table
from spacy_bergamot.mentions import split_tokens


def mentions(nlp, text):
    doc = nlp(text)
    assert doc.text == text
    return [(ent.text, ent.label_) for ent in doc.ents]


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


def test_tokens_are_split_without_changing_the_text():
    doc = spacy.blank("xx")("ab患者は高血圧 x")
    split_tokens(doc, {2, 5, 7})
    assert [token.text_with_ws for token in doc] == ["ab", "患者は", "高血", "圧 ", "x"]


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
