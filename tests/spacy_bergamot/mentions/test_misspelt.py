"""Mentions with a misspelt word, and words that are none although they look like it."""

import random
import string
from pathlib import Path

import pytest
import spacy
from hypothesis import assume, example, given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.mentions.usual import is_usual
from tests.spacy_bergamot.conftest import write_concepts
from tests.spacy_bergamot.factories import add, matcher_of, remove
from tests.work import lines_run

KNOWN = {
    "C01": ("T047", {"ENG": ["hypertension", "high blood pressure"], "RUS": ["гипертония"],
                     "SPA": ["hipertensión arterial", "hipertensión"], "GER": ["Hypertonie"]}),
    "C02": ("T047", {"ENG": ["type 2 diabetes mellitus"], "FRE": ["diabète sucré"]}),
    "C03": ("T047", {"ENG": ["pneumonia"], "GER": ["Lungenentzündung"], "SPA": ["neumonía"],
                     "FRE": ["pneumonie"], "RUS": ["пневмония"]}),
    "C04": ("T047", {"ENG": ["myocardial infarction", "heart attack"], "GER": ["Herzinfarkt"]}),
    "C05": ("T047", {"ENG": ["leukemia", "anemia"], "GER": ["Leukämie"]}),
    "C06": ("T047", {"ENG": ["schizophrenia", "hepatitis A", "breast cancer", "COVID-19"]}),
    "C07": ("T184", {"ENG": ["patient", "cause", "bleeding", "scurvy", "sweating", "asthma"]}),
    "C08": ("T047", {"ENG": ["influenza"], "": ["tularemia"], "JPN": ["肺炎"]}),
    "C09": ("T047", {"ENG": ["carcinoma", "Alzheimer disease", "IgA", "stroke"]}),
}  # fmt: skip


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    known = {key: (of, {"ENG": ["x1y2z3"], **names}) for key, (of, names) in KNOWN.items()}
    return write_concepts(tmp_path_factory.mktemp("misspelt") / "kb", known)


@pytest.fixture(scope="module")
def english(table: Path) -> Language:
    return matcher_of(table, "en")


def marked(nlp: Language, text: str) -> list[str]:
    return [ent.text for ent in nlp(text).ents]


@pytest.mark.parametrize(
    ("lang", "text", "expected"),
    [
        ("en", "Known hypertenson and pnuemonia.", ["hypertenson", "pnuemonia"]),
        ("en", "He has type-2 diabtes melitus.", ["type-2 diabtes melitus"]),
        ("en", "Old schizophrena, hepattitis A again.", ["schizophrena", "hepattitis A"]),
        ("en", "Two of the carcinomsa; other carcynomas.", ["carcinomsa", "carcynomas"]),
        ("en", "He came with tularmia.", ["tularmia"]),
        ("en", "Dysfunction and leukaemai.", ["leukaemai"]),
        ("es", "Tiene hipertencion arterial y neumomia.", ["hipertencion arterial", "neumomia"]),
        ("de", "Aufnahme wegen einer Lungenentzünudng.", ["Lungenentzünudng"]),
        ("fr", "Un diabtèe sucré, une pneumnie.", ["diabtèe sucré", "pneumnie"]),
        ("ru", "У него гипретония и певмония.", ["гипретония", "певмония"]),
        # A usual word, or one that may be a person's name, if the rest of the name is beside it.
        ("en", "An old myocardial infraction.", ["myocardial infraction"]),
        ("en", "Known Alzhiemer disease.", ["Alzhiemer disease"]),
        ("en", "DIAGNOSIS IS PNUEMONIA AND HYPERTENSON", ["PNUEMONIA", "HYPERTENSON"]),
        ("en", "Note:\n- Pnuemonia\nHypertenson. Anemeia.",
         ["Pnuemonia", "Hypertenson", "Anemeia"]),
    ],
)  # fmt: skip
def test_what_is_misspelt_is_marked(table: Path, lang: str, text: str, expected: list[str]):
    found = marked(matcher_of(table, lang), text)
    assert found == expected
    assert not set(found) & set(marked(matcher_of(table, lang, tolerant=False), text))


@pytest.mark.parametrize(
    "text",
    [
        # Usual words of this language and others.
        "The patent was signed; a pause because of the horse, in a good course.",
        "He was sweeping, breeding dogs, and wanted to invest in Catalonia.",
        # Derived words, which differ at their ends.
        "A leukemic and anemic state, asthmatic, pneumonic.",
        # People, and other words with a capital in mid-sentence.
        "We saw Mr Pneumonio with his sister Leukemina, who wrote to Scurvey.",
        # Other first letters, other words, two edits.
        "The bypertension of tarcinoma; a hyptenson; a schzophrena thing.",
        # Too short, and with digits.
        "No strke and no asthm. The IgB of COVID-18, COVIT-19, COVlD19.",
        # No other word of the name is there.
        "A type 3 diabtes, an infraction, a brast.",
    ],
)
def test_other_words_are_left_alone(english: Language, text: str):
    assert marked(english, text) == []


def test_usual_words_are_never_corrected(table: Path):
    lines = (Path(__file__).parents[2] / "no_concepts.txt").read_text("utf8").splitlines()
    for lang in ("en", "de", "es", "fr", "ru"):
        nlp = matcher_of(table, lang)
        for line in lines:
            assert marked(nlp, line) == []


def test_a_word_of_a_name_is_no_mistake(table: Path):
    # Of a language that the text may be in; and "carcinomas" is no "carcinome".
    nlp = matcher_of(table)
    doc = nlp.make_doc("pneumonie")
    doc.user_data["language"] = ["en", "fr"]
    assert [ent.text for ent in nlp(doc).ents] == ["pneumonie"]
    doc = nlp.make_doc("gripe, carcinome")
    doc.user_data["language"] = ["en", "fr"]
    assert [ent.text for ent in nlp(doc).ents] == []


def test_what_is_written_rightly_goes_before(english: Language):
    doc = english("pneumonia, pneumonias, pneumnoia")
    assert [ent.text for ent in doc.ents] == ["pneumonia", "pneumonias", "pneumnoia"]
    assert {ent.label_ for ent in doc.ents} == {"DISO"}


def test_tolerance_can_be_switched_off_and_needs_folded_names(table: Path):
    text = "Known hypertenson and two carcinomas of old."
    assert marked(matcher_of(table, "en"), text) == ["hypertenson", "carcinomas"]
    assert marked(matcher_of(table, "en", tolerant=False), text) == ["carcinomas"]
    assert marked(matcher_of(table, "en", folded=False), text) == []


def test_groups_count_for_misspelt_names_too(table: Path):
    text = "Known hypertenson and heavy bleedding."
    assert marked(matcher_of(table, "en"), text) == ["hypertenson", "bleedding"]
    assert marked(matcher_of(table, "en", groups=["DISO"]), text) == ["hypertenson", "bleedding"]
    with pytest.raises(BergamotError, match="B033"):
        matcher_of(table, "en", groups=["NONE"])


NAMES = ["hypertension", "pneumonia", "schizophrenia", "influenza", "carcinoma"]


@example("pneumonia", 7, 3, "x")
@given(
    st.sampled_from(NAMES),
    st.integers(1, 20),
    st.integers(0, 3),
    st.sampled_from(string.ascii_lowercase),
)
def test_any_edit_inside_of_a_word_is_forgiven(
    english: Language, name: str, at: int, kind: int, letter: str
):
    at = 1 + at % (len(name) - 2)
    written = [
        name[:at] + name[at + 1 :],
        name[:at] + letter + name[at:],
        name[:at] + letter + name[at + 1 :],
        name[:at] + name[at + 1] + name[at] + name[at + 2 :],
    ][kind]
    assume(not is_usual(written))
    assert marked(english, f"He was treated for {written} last year.") == [written]


@given(
    st.sampled_from(NAMES),
    st.text("bcdfgkqwxz", min_size=2, max_size=2),
    st.integers(1, 20),
)
def test_two_letters_more_are_not(english: Language, name: str, letters: str, at: int):
    at = 1 + at % (len(name) - 2)
    written = name[:at] + letters + name[at:]
    assert marked(english, f"He was treated for {written} last year.") == []


def test_dictionary_and_tolerance_survive_round_trips(english: Language, tmp_path: Path):
    text = "Known hypertenson."
    english.to_disk(tmp_path / "p")
    assert marked(spacy.load(tmp_path / "p"), text) == ["hypertenson"]
    other = spacy.blank("en")
    other.add_pipe("bergamot_mentions")
    assert marked(other.from_bytes(english.to_bytes()), text) == ["hypertenson"]


def test_an_update_changes_what_is_corrected(make_nlp):
    nlp = make_nlp()
    linker = nlp.get_pipe("bergamot_linker")
    mentions = nlp.get_pipe("bergamot_mentions")
    before = [column.tolist() for column in mentions.keys.spellings]
    text = "It is tularmia and wisdowmaker and, as before, diabtes mellitus."
    assert marked(nlp, text) == ["diabtes mellitus"]
    linker.update_index([add("C03", "tularemia"), add("C03", "widowmaker")])
    assert marked(nlp, text) == ["tularmia", "wisdowmaker", "diabtes mellitus"]
    linker.update_index([remove("C03", "tularemia")])
    assert marked(nlp, text) == ["wisdowmaker", "diabtes mellitus"]
    linker.update_index([remove("C03", "widowmaker")])
    assert [column.tolist() for column in mentions.keys.spellings] == before


def test_random_letters_take_bounded_work(english: Language):
    draw = random.Random(0)
    words = [
        "".join(draw.choices(string.ascii_lowercase, k=draw.randint(3, 12))) for _ in range(2000)
    ]
    pipe = english.get_pipe("bergamot_mentions")
    work = []
    for size in (250, 2000):
        doc = Doc(english.vocab, [*words[: size - 1], "z" * 100_000])
        work.append(lines_run(lambda doc=doc: pipe(doc)))
    # Eight times the text: 64 times the work if it were quadratic.
    assert work[1] < 10 * work[0]
