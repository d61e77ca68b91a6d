"""What writing varies and meaning does not, by language."""

import pytest

from spacy_bergamot.folding import fold_word, folded_words

SAME = [
    ("ENG", "stroke", "strokes", "STROKE", "stroke's"),
    ("ENG", "type 2 diabetes", "diabetes, type II", "type-2 diabetes", "Diabetes type 2"),
    ("ENG", "esophageal tumor", "oesophageal tumours", "tumour, esophageal"),
    ("ENG", "hemorrhage", "haemorrhages"),
    ("ENG", "beta blocker", "β-blockers", "Beta-Blocker"),
    ("ENG", "IL-6", "IL6", "il 6"),
    ("ENG", "cancer of the breast", "breast cancers", "cancer, breast"),
    ("ENG", "Crohn's disease", "Crohn disease", "crohn diseases"),
    ("GER", "Lungenentzündung", "Lungenentzündungen", "LUNGENENTZÜNDUNG"),
    ("GER", "Diabetes Typ 2", "Typ-2-Diabetes"),
    ("SPA", "hipertensión arterial", "hipertensiones arteriales", "hipertension arterial"),
    ("FRE", "infarctus du myocarde", "l'infarctus du myocarde", "Infarctus de myocardes"),
    ("ITA", "polmonite", "polmoniti"),
    ("POR", "fratura do fémur", "fraturas do femur"),
    ("DUT", "longontsteking", "longontstekingen"),
    ("RUS", "сахарный диабет 2 типа", "сахарным диабетом 2 типа", "Диабет сахарный, тип II"),
    ("POL", "zapalenie płuc", "zapalenia płuc", "zapaleniem płuc"),
    ("ITA", "ＣＯＰＤ", "copd"),
    ("KOR", "고혈압", "고혈압으로", "고혈압과", "고혈압에서는"),
    ("KOR", "만성피로", "만성피로로", "만성피로가"),
    ("UKR", "цукровий діабет", "цукрового діабету", "цукровим діабетом"),
    ("UKR", "пневмонія", "пневмонії", "пневмонією"),
    ("BUL", "артериална хипертония", "артериалната хипертония"),
    ("BUL", "мигрена", "мигрената", "мигрени"),
    ("FIN", "rintakipu", "rintakivun", "rintakipua", "rintakivut"),
    ("FIN", "hengenahdistus", "hengenahdistuksen", "hengenahdistusta"),
    ("FIN", "aivoverenvuoto", "aivoverenvuodon"),
    ("HEB", "בחילה", "ובחילה", "הבחילה"),
    ("RUM", "boală și inflamaţie", "boală şi inflamație"),
    ("ARA", "هيبارين", "الهيبارين", "والهيبارين", "بالهيبارين"),
    ("TUR", "baş ağrısı", "BAŞ AĞRISI", "Baş ağrısı"),
    ("TUR", "ishal", "İshal", "İSHAL"),
]
DIFFERENT = [
    ("ENG", "type 1 diabetes", "type 2 diabetes"),
    ("ENG", "hour", "hor"),
    ("ENG", "hepatitis", "hepatic"),
    ("RUS", "гипертония", "гипотония"),
    ("GER", "Leber", "Lehrer"),
    ("SPA", "no fiebre", "fiebre"),
    ("ENG", "hepatitis A", "hepatitis"),
    ("ENG", "protein S deficiency", "protein deficiency"),
    ("ITA", "vitamina E", "vitamine"),
    ("FRE", "vitamine D", "vitamine"),
    ("RUS", "гепатит В", "гепатит"),
    ("KOR", "피로", "피가"),
    ("POR", "hiper-hidrose", "hipo-hidrose"),
    ("HEB", "אי ספיקה שלייתית", "אי ספיקה כלייתית"),
    ("TUR", "hipokalsemi", "hipokalemi"),
    ("HUN", "tüdőrák", "tüdőödéma"),
    ("THA", "โรคหืด", "โรคหัด"),
    ("UKR", "гіпертонія", "гіпотонія"),
    ("BUL", "анурия", "анемия"),
    ("RUS", "пульс", "пульс ↑"),
    ("ENG", "CRP ↑", "CRP ↓"),
]


def form(language: str, name: str) -> list[str]:
    return sorted(word.folded for word in folded_words(name, language) if word.folded)


@pytest.mark.parametrize(("language", "names"), [(one, names) for one, *names in SAME])
def test_the_same_in_other_words(language: str, names: list[str]):
    forms = {name: form(language, name) for name in names}
    assert all(form == forms[names[0]] for form in forms.values()), forms


@pytest.mark.parametrize(("language", "one", "other"), DIFFERENT)
def test_other_meanings_stay_apart(language: str, one: str, other: str):
    assert form(language, one) != form(language, other)


def test_words_say_where_they_are():
    text = "Typ-2-Diabetes der Kinder"
    words = folded_words(text, "GER")
    assert [text[word.start : word.end] for word in words] == [
        "Typ",
        "2",
        "Diabetes",
        "der",
        "Kinder",
    ]
    assert [word.folded for word in words] == ["typ", "2", "diabet", "", "kind"]


def test_languages_without_rules_fold_case_width_and_accents():
    assert fold_word("Ｈépatite", "XXX") == "hepatite"
    assert fold_word("発熱", "JPN") == "発熱"
    assert folded_words("", "ENG") == folded_words("–, ()", "ENG") == []
