"""Mentions that are not written as the dictionary has them, and the language of a document."""

from pathlib import Path

import pytest

from spacy_bergamot.mentions.language import guess
from tests.spacy_bergamot.conftest import write_concepts
from tests.spacy_bergamot.factories import matcher_of, mentions

KNOWN = {
    "C01": ("T047", {"ENG": ["stroke", "cerebrovascular accident"], "GER": ["Schlaganfall"]}),
    "C02": ("T047", {"ENG": ["type 2 diabetes", "diabetes mellitus, type 2"],
                     "RUS": ["сахарный диабет 2 типа"], "GER": ["Diabetes Typ 2"]}),
    "C03": ("T047", {"ENG": ["heart attack"], "FRE": ["infarctus du myocarde"]}),
    "C04": ("T023", {"ENG": ["lung"], "DUT": ["long"], "ITA": ["polmone"]}),
    "C05": ("T047", {"ENG": ["tumor of esophagus"], "SPA": ["neumonía"],
                     "POL": ["zapalenie płuc"]}),
    "C06": ("T121", {"ENG": ["beta blocker"], "GER": ["Betablocker"]}),
    "C08": ("T121", {"ENG": ["amoxicillin-clavulanate"]}),
    "C07": ("T047", {"ENG": ["Der"], "JPN": ["肺炎"], "CHI": ["肺炎"]}),
}  # fmt: skip


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    known = {key: (of, {"ENG": ["x1y2z3"], **names}) for key, (of, names) in KNOWN.items()}
    return write_concepts(tmp_path_factory.mktemp("folded") / "kb", known)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The patient had two strokes and heart-attacks.", ["strokes", "heart-attacks"]),
        ("This patient has Type-2 Diabetes since 2010.", ["Type-2 Diabetes"]),
        ("A known Diabetes Mellitus Type II of the father.", ["Diabetes Mellitus Type II"]),
        ("Treated because of tumours of the oesophagus.", ["tumours of the oesophagus"]),
        # A slash parts two findings, but not what a drug is made of.
        ("Of an esophagus/tumor and heart/attack nothing.", []),
        ("Given amoxicillin/clavulanate for a week.", ["amoxicillin/clavulanate"]),
        ("Given β-blockers, measured IL6 in the blood.", ["β-blockers"]),
        ("Der Patient hatte mehrere Schlaganfälle und Typ-2-Diabetes.",
         ["Schlaganfälle", "Typ-2-Diabetes"]),
        ("Пациент с сахарным диабетом 2 типа поступил вчера.", ["сахарным диабетом 2 типа"]),
        ("Le malade a souffert d'infarctus du myocarde.", ["infarctus du myocarde"]),
        ("El paciente tuvo dos neumonías el año pasado.", ["neumonías"]),
        ("Pacjent przebył dwa zapalenia płuc w zeszłym roku.", ["zapalenia płuc"]),
        ("患者は昨日、肺炎で入院しました。", ["肺炎"]),
        # A hyphen in a compound, and the end of a line in a word.
        ("Der Mann hatte zwei Schlag-Anfälle und nimmt weiter Beta-Blocker.",
         ["Schlag-Anfälle", "Beta-Blocker"]),
        ("Die Patientin erlitt gestern einen Schlag-\nanfall.", ["Schlag-\nanfall"]),
        ("The patient had two stro-\r\n  kes last year.", ["stro-\r\n  kes"]),
        ("The patient had two stro-kes last year.", []),
        # Words of another sentence, or beyond a comma, are none of the mention.
        ("It beats the heart. Attack of the enemy, who lost it.", []),
        ("He has no heart, attacks come from the left side.", []),
    ],
)  # fmt: skip
def test_what_is_written_otherwise_is_marked(table: Path, text: str, expected: list[str]):
    assert [ent.text for ent in matcher_of(table)(text).ents] == expected


def test_folding_can_be_switched_off(table: Path):
    text = "Two strokes, one stroke and a heart attack in this patient."
    assert [ent.text for ent in matcher_of(table, folded=False)(text).ents] == [
        "stroke",
        "heart attack",
    ]
    assert len(matcher_of(table)(text).ents) == 3


def test_short_names_of_other_languages_are_words_of_this_one(table: Path):
    nlp = matcher_of(table)
    english = "It took a long time until the patient had a Schlaganfall."
    assert [ent.text for ent in nlp(english).ents] == ["Schlaganfall"]
    dutch = "De patiënt heeft een ontsteking van de rechter long gehad."
    assert [ent.text for ent in nlp(dutch).ents] == ["long"]
    german = "Der Patient klagt über Schmerzen im rechten Arm."
    assert not nlp(german).ents
    # A pipeline's language says it too, and a document's own goes before all.
    assert not matcher_of(table, "en")("long").ents
    doc = nlp.make_doc(english)
    doc.user_data["language"] = "nl"
    assert [ent.text for ent in nlp(doc).ents] == ["long", "Schlaganfall"]
    only_dutch = matcher_of(table, languages=["nl"])
    assert [ent.text for ent in only_dutch(english).ents] == ["long"]


def test_a_language_is_guessed_where_there_is_enough_text():
    languages = ("GER", "SPA", "RUS", "JPN", "")
    assert guess("Der Patient klagt über Schmerzen im rechten Arm.", languages) == (["GER"], True)
    assert guess("The patient complains of pain in the arm.", languages) == (["ENG"], True)
    assert guess("Пациент жалуется на боль в правой руке.", languages) == (["RUS"], True)
    assert guess("患者は昨日、肺炎で入院しました。", languages) == (["JPN"], True)
    assert not guess("The patient complains of pain in the arm.", ("SPA", "ELVISH")).sure
    for text in ("COPD 12", ""):
        assert not guess(text, languages).sure
        assert {"ENG", "GER", "JPN"} <= set(guess(text, languages).languages)


def test_short_texts_are_folded_by_every_language(table: Path):
    for text in ("strokes", "Neumonías", "диабет сахарный 2", "Schlaganfälle"):
        assert len(matcher_of(table)(text).ents) == (text != "диабет сахарный 2"), text


def test_an_arrow_is_a_part_of_a_name(dictionary):
    nlp = dictionary({"X1": {"GER": ["Kreatinin ↑", "CRP erhöht"]}}, "de")
    assert mentions(nlp, "Kreatinin 79, CRP 120") == []
    assert mentions(nlp, "Kreatinin ↑, kreatinin↑") == [
        ("Kreatinin ↑", "DISO"),
        ("kreatinin↑", "DISO"),
    ]


def test_words_of_two_names_that_a_conjunction_joins_are_no_third(dictionary):
    names = {"Z1": {"FRE": ["IRM cérébrale"]}, "Z2": {"FRE": ["IRM du genou"]}}
    nlp = dictionary({**names, "Z3": {"ENG": ["blood in the urine", "nausea and vomiting"]}})
    doc = nlp.make_doc("Le patient a eu des IRM cérébrales et IRM du genou hier matin.")
    doc.user_data["language"] = "fr"
    doc = nlp.get_pipe("bergamot_mentions")(doc)
    assert [ent.text for ent in doc.ents] == ["IRM cérébrales", "IRM du genou"]
    text = "The blood and urine of this man, after vomiting and nausea, had bloods in urine again."
    doc = nlp.make_doc(text)
    doc.user_data["language"] = "en"
    doc = nlp.get_pipe("bergamot_mentions")(doc)
    assert [ent.text for ent in doc.ents] == ["vomiting and nausea", "bloods in urine"]
