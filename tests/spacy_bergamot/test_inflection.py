"""Endings of inflection go; what makes a word another one stays."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from spacy_bergamot.folding import fold_word
from spacy_bergamot.inflection import stemmer, uninflected

SAME = [
    ("ENG", "fracture", "fractures"),
    ("ENG", "diagnosis", "diagnoses"),
    ("ENG", "headache", "headaches"),
    ("ENG", "biopsy", "biopsies"),
    ("GER", "Fieber", "Fiebers"),
    ("GER", "akuter", "akutes", "akutem", "akute"),
    ("GER", "Ekzem", "Ekzeme", "Ekzems", "Ekzemen"),
    ("GER", "Ödem", "Ödeme", "Ödems"),
    ("GER", "Anfall", "Anfälle", "Anfällen"),
    ("GER", "Fistel", "Fisteln"),
    ("DUT", "fractuur", "fracturen"),
    ("DUT", "ziekte", "ziekten", "ziektes"),
    ("DUT", "abces", "abcessen"),
    ("DUT", "coloscopie", "coloscopieën", "coloscopies"),
    ("DUT", "luis", "luizen"),
    ("DUT", "rib", "ribben"),
    ("SWE", "fraktur", "frakturer", "frakturen", "frakturerna"),
    ("SWE", "feber", "febern"),
    ("DAN", "brud", "bruddet"),
    ("DAN", "feber", "feberen"),
    ("NOR", "betennelse", "betennelsen", "betennelser"),
    ("FRE", "lésion", "lésions"),
    ("FRE", "chronique", "chroniques"),
    ("FRE", "abdominal", "abdominale", "abdominaux", "abdominales"),
    ("FRE", "infectieux", "infectieuse", "infectieuses"),
    ("FRE", "fracturé", "fracturée", "fracturées"),
    ("SPA", "dolor", "dolores"),
    ("SPA", "aguda", "agudo", "agudas", "agudos"),
    ("SPA", "infección", "infecciones"),
    ("POR", "lesão", "lesões"),
    ("POR", "dor", "dores"),
    ("POR", "abdominal", "abdominais"),
    ("POR", "hemorragia", "hemorragias"),
    ("CAT", "infecció", "infeccions"),
    ("CAT", "agut", "aguda", "agudes"),
    ("ITA", "frattura", "fratture"),
    ("ITA", "bronco", "bronchi"),
    ("ITA", "disturbo", "disturbi"),
    ("RUM", "infecție", "infecția", "infecției", "infecțiilor", "infecții"),
    ("RUM", "durere", "durerea", "dureri", "durerii", "durerilor"),
    ("GRE", "πυρετός", "πυρετού", "πυρετό", "ΠΥΡΕΤΟΣ"),
    ("GRE", "οίδημα", "οιδήματος", "οιδήματα", "οιδημάτων"),
    ("IND", "luka", "lukanya"),
    ("RUS", "пневмония", "пневмонии", "пневмонию", "пневмонией"),
    ("RUS", "перелом", "перелома", "переломом", "переломов", "переломы"),
    ("RUS", "хронический", "хронического", "хроническая", "хронические", "хроническим"),
    ("RUS", "кровотечение", "кровотечения", "кровотечением", "кровотечений"),
    ("RUS", "бронхит", "бронхита", "бронхитом"),
    ("UKR", "перелом", "перелому", "переломом"),
    ("BUL", "счупване", "счупването", "счупвания"),
    ("POL", "zapalenie", "zapalenia", "zapaleniem"),
    ("POL", "anemia", "anemii", "anemię", "anemią"),
    ("POL", "kaszel", "kaszlu", "kaszlem"),
    ("POL", "choroba", "choroby"),
    ("CZE", "zánět", "zánětu", "zánětem"),
    ("CZE", "kašel", "kašle", "kašlem"),
    ("EST", "insuliin", "insuliini", "insuliiniga"),
    ("EST", "palavik", "palaviku", "palavikuga"),
    ("EST", "verejooks", "verejooksu"),
    ("HUN", "kreatinin", "kreatinint", "kreatininje"),
    ("HUN", "fájdalom", "fájdalmak", "fájdalma"),
    ("HUN", "műtét", "műtétet", "műtétek"),
    ("TUR", "kolonoskopi", "kolonoskopisi", "kolonoskopide"),
    ("TUR", "kreatinin", "kreatinini"),
    ("TUR", "kalp", "kalbi"),
    ("SWE", "anemi", "anemin", "anemier"),
    ("SWE", "insulin", "insulinet"),
    ("RUM", "genunchi", "genunchiul"),
    ("RUM", "fractură", "fractura", "fracturii", "fracturi"),
    ("RUS", "почка", "почки", "почек"),
    ("UKR", "кашель", "кашлю", "кашлем"),
    ("BUL", "бъбрек", "бъбреци", "бъбреците"),
    ("FIN", "tulehdus", "tulehduksen", "tulehdusta"),
    ("FIN", "anemia", "anemiaa", "anemian"),
    ("FIN", "insuliini", "insuliinia", "insuliinin"),
    ("FIN", "skolioosi", "skolioosia", "skolioosin"),
    ("FIN", "lihas", "lihaksen", "lihakset"),
    ("KOR", "두통", "두통이", "두통에서는"),
]
DIFFERENT = [
    ("ENG", "hepatitis", "hepatic"),
    ("GER", "Verwirrtheit", "verwirrt"),
    ("GER", "Wunder", "Wunde"),
    ("DUT", "bloed", "bloeding"),
    ("DUT", "slaap", "slaperigheid"),
    ("SWE", "vårt", "vårta"),
    ("SWE", "kläder", "klåda"),
    ("SWE", "hösten", "hosta"),
    ("SWE", "sömn", "sömnighet"),
    ("FRE", "jaune", "jaunisse"),
    ("FRE", "alcool", "alcoolisme"),
    ("SPA", "años", "anos"),
    ("SPA", "sangre", "sangrado"),
    ("SPA", "débil", "debilidad"),
    ("POR", "irritante", "irritabilidade"),
    ("CAT", "càncer", "cançó"),
    ("ITA", "polmoni", "polmonite"),
    ("ITA", "cellula", "cellulite"),
    ("ITA", "vagina", "vaginite"),
    ("ITA", "mano", "mania"),
    ("RUM", "celulă", "celulită"),
    ("GRE", "πνεύμονας", "πνευμονία"),
    ("GRE", "λευκά", "λεύκη"),
    ("SPA", "sangre", "sangra"),
    ("DAN", "blødt", "bløder"),
    ("IND", "darah", "pendarahan"),
    ("IND", "putih", "keputihan"),
    ("RUS", "бронхи", "бронхит"),
    ("RUS", "миокарда", "миокардит"),
    ("RUS", "кисти", "киста"),
    ("RUS", "наркоман", "наркомания"),
    ("UKR", "бактерій", "бактеріємія"),
    ("HUN", "hólyag", "hólyagok"),
    ("TUR", "kanada", "kanama"),
    ("TUR", "uyku", "uykusuz"),
    ("FIN", "kasvis", "kasvain"),
    ("RUS", "перл", "перелом"),
    ("UKR", "ранок", "ранка"),
    ("FIN", "luvun", "lupus"),
    ("ITA", "iper", "ipo"),
]


@pytest.mark.parametrize(("language", "words"), [(one, words) for one, *words in SAME])
def test_inflected_words_are_one(language: str, words: list[str]):
    forms = {word: fold_word(word, language) for word in words}
    assert len(set(forms.values())) == 1, forms


@pytest.mark.parametrize(("language", "one", "other"), DIFFERENT)
def test_other_words_stay_apart(language: str, one: str, other: str):
    assert fold_word(one, language) != fold_word(other, language)


def test_a_language_without_rules_has_words_as_they_are():
    assert uninflected("homes", "XXX") == "homes"


def test_stemmers_are_not_shared_by_threads():
    """PyStemmer's are not made for it."""
    with ThreadPoolExecutor(4) as pool:
        barrier = Barrier(4)
        found = set(pool.map(lambda _: (barrier.wait(), id(stemmer("FIN")))[1], range(4)))
    assert len(found) == 4
