"""Words that are broken are read whole, by every way in which names are found."""

from collections.abc import Callable
from functools import cache, partial
from unicodedata import normalize

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc

from spacy_bergamot.mentions.reading import reading, readings
from tests.spacy_bergamot.conftest import write_concepts
from tests.spacy_bergamot.factories import matcher_of
from tests.work import lines_run

NLP = spacy.blank("xx")
KNOWN = {
    "C01": ("T047", {"ENG": ["pneumonia", "hypertension"], "GER": ["Lungenentzündung"]}),
    "C02": ("T047", {"ENG": ["beta-blocker", "non-Hodgkin lymphoma", "T-cell leukemia"]}),
    "C03": ("T047", {"ENG": ["Hodgkin lymphoma", "lung"], "FRE": ["néphrite aiguë"]}),
    "C04": ("T047", {"ENG": ["stroke", "hyper\u00adplasia"], "JPN": ["肺炎", "インスリン"]}),
}  # fmt: skip
GERMAN = "Der Patient klagt weiter über {} und Schmerzen im Arm."
ENGLISH = "The patient was admitted because of {} last year."


@pytest.fixture(scope="module")
def matcher(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Language]:
    table = write_concepts(tmp_path_factory.mktemp("reading") / "kb", KNOWN)
    return cache(partial(matcher_of, table))


@pytest.mark.parametrize("folded", [True, False])
@pytest.mark.parametrize("lang", ["xx", "en", "de"])
@pytest.mark.parametrize(
    "written",
    [
        "pneu-\nmonia",
        "pneu\u2010\r\n  monia",
        "pneu- \nmonia",
        "pneu-\nmo-\nnia",
        "pneu\u00ad\nmonia",
        "pneu\u00admonia",
        "pneu\u200bmo\u2060nia",
        "PNEU-\nMONIA",
        "beta-\nblocker",
        "Non-\nHodgkin lymphoma",
        "Non-\nHodgkin lym-\nphoma",
        "T-\ncell leuk\u00ademia",
    ],
)
def test_a_broken_word_is_found_in_a_text_of_any_language(matcher, written, lang, folded):
    nlp = matcher(lang, folded=folded)
    for text in (GERMAN, ENGLISH):
        doc = nlp(text.format(written))
        assert [ent.text for ent in doc.ents] == [written]
        assert doc.text == text.format(written)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # As folded names, and as misspelt ones.
        (ENGLISH.format("two stro\u00adkes"), ["stro\u00adkes"]),
        (ENGLISH.format("two stro-\nkes"), ["stro-\nkes"]),
        (ENGLISH.format("hyperplasias"), ["hyperplasias"]),
        (ENGLISH.format("hyper-\ntenson"), ["hyper-\ntenson"]),
        (ENGLISH.format("hyperten\u00ad\nson"), ["hyperten\u00ad\nson"]),
        ("Le malade a souffert de ne\u0301phrites aigue\u0308s.", ["ne\u0301phrites aigue\u0308s"]),
        (
            "患者は昨日、肺\u200b炎とイン\u00adスリンで入院しました。",
            ["肺\u200b炎", "イン\u00adスリン"],
        ),
        # What is beside a word is none of it.
        ("\ufeffStroke\u00ad today", ["Stroke"]),
        # No word is broken.
        (ENGLISH.format("pneu-monia"), []),
        (ENGLISH.format("pneu\nmonia"), []),
        (ENGLISH.format("pneu\u200b\nmonia"), []),
        (ENGLISH.format("pneu-\n\nmonia"), []),
        ("- Pneumonia\n-\n- Stroke -\nlung", ["Pneumonia", "Stroke", "lung"]),
    ],
)
def test_it_is_found_as_it_would_be_whole(matcher, text: str, expected: list[str]):
    assert [ent.text for ent in matcher("xx")(text).ents] == expected


@given(st.text(st.sampled_from("aéB肺1 -\n\r\t\u2010\u00ad\u200b\u0301\ufeff")))
def test_every_character_says_where_it_stands(text: str):
    doc = NLP.make_doc(text)
    for read in readings(doc):
        assert len(read.text) == len(read.starts) == len(read.ends)
        assert (read.starts < read.ends).all()
        assert (np.diff(read.starts) >= 0).all()
        assert (np.diff(read.ends) >= 0).all()
        for character, start, end in zip(read.text, read.starts, read.ends, strict=True):
            assert character in normalize("NFC", text[start:end])
        assert (read.token_starts < read.token_ends).all()
        assert (read.token_ends[:-1] <= read.token_starts[1:]).all()


def test_a_document_without_breaks_has_one_reading():
    (read,) = readings(NLP.make_doc("Pneumonia - or\nHodgkin-lymphoma"))
    assert read.text == "Pneumonia - or\nHodgkin-lymphoma"
    kept, gone = readings(NLP.make_doc("pneu-\nmonia"))
    assert (kept.text, gone.text) == ("pneu-monia", "pneumonia")
    assert reading(NLP.make_doc("")).text == ""


@pytest.mark.parametrize("piece", ["pneu-\nmonia ", "-\n", "a\u00ad", "e\u0301", "- \t", "a- "])
def test_work_grows_with_the_length_of_a_text(piece):
    work = []
    for size in (500, 4000):
        doc = Doc(NLP.vocab, [piece.strip(" ") or piece] * size)
        work.append(lines_run(lambda doc=doc: readings(doc)))
    assert work[1] < 10 * work[0]
