"""Words without the endings of inflection: plural, case, gender, article.

An ending is left out only where it changes no meaning. Snowball's stemmers of many languages leave
out what makes a word another one, and make one of Italian *polmone* (lung) and *polmonite*
(pneumonia), Dutch *bloed* (blood) and *bloeding* (bleeding), Indonesian *darah* and *pendarahan*.
So languages have rules here, after the light stemmers of Savoy (2006); Snowball's serve those in
which inflection is most of what they know. Of English the plural alone (after Harman 1991).
"""

import csv
import re
from functools import cache
from pathlib import Path
from threading import local
from typing import Any

from spacy_bergamot.text import normalize

Rules = tuple[tuple[re.Pattern[str], str], ...]
"""Patterns and what stands instead, in the order in which they are applied, once each."""

_STEMMERS = {
    "ARA": "arabic", "BAQ": "basque", "CZE": "czech", "EST": "estonian", "FIN": "finnish",
    "HUN": "hungarian", "PER": "persian", "POL": "polish", "TUR": "turkish",
}  # fmt: skip
_OPPOSITES = frozenset(["hyper", "hypo", "hiper", "hipo", "iper", "ipo"])
"""Of names with a hyphen; stemmers make one of some."""
_thread = local()
_TABLE = "kept_whole.tsv"


def _rules(*pairs: tuple[str, str]) -> Rules:
    return tuple((re.compile(pattern), instead) for pattern, instead in pairs)


_BEFORE: dict[str, Rules] = {
    "ARA": _rules((r"^[وف]?[بك]?(?=ال\w{3})", "")),  # and the, with the
    "TUR": _rules((r"(?<=\w{3}[aeıioöuü])s[ıiuü]$", "")),  # ağrı, ağrısı; not uyku, uykusuz
}
"""What Snowball takes for another ending, or leaves at the beginning."""

_AFTER: dict[str, Rules] = {
    "CZE": _rules(
        (r"(?<=\w{3})ět$", ""),  # zánět, zánětem
        (r"(?<=\w{2}[^aeiouyáéíóúůýě])e(?=[lk]$)", ""),  # kašel, kašle
    ),
    "EST": _rules(
        (r"(?<=\w{2}[^aeiouõäöü])[aeiu]$", ""),  # neer, neeru
        (r"(?<=\w{2}[aeiouõäöü])n$", ""),  # insuliin, insuliini
        (r"(?<=\w{3}[aeiouõäöü])ks$", ""),  # verejooks, verejooksu
        (r"(?<=h)k$", ""),  # vererõhk, vererõhu
    ),
    "FIN": _rules(  # tulehdus, tulehduksen; kipu, kivun; vuoto, vuodon
        (r"(?<=[uyoö])(?:ks|[sdt]i?)$", ""),
        (r"v(?=[aouyäö]$)", "p"),
        (r"d(?=[aouyäö]$)", "t"),
        (r"(?<=[aeiä])ks$", "s"),  # lihas, lihaksen
        (r"(?<=\w{3})(?:ia|iin)$", ""),  # anemia, anemian; insuliini, insuliinia
        (r"(?<=\w{2}o)o$", ""),  # skolioosi, skolioosin
    ),
    "HUN": _rules(
        (r"(?<=\w{3})(?:in)+$", ""),  # inzulin, inzulint
        (r"(?<=\w{3})(?:ia|[aeé]t)$", ""),  # anaemia, anaemiája; műtét, műtétet
        (r"(?<=\w{3}l)m$", ""),  # fájdalom, fájdalmak
        (r"(?<=\w{3}u)m$", ""),  # antibiotikum, antibiotikumok
    ),
    "POL": _rules(
        (r"(?<=\w{3})(?:i|ob|ał)$", ""),  # anemia, anemii; choroba, choroby; zawał, zawału
        (r"(?<=\w{2}[bcćdfghjklłmnńprsśtwzźż])e(?=[lk]$)", ""),  # kaszel, kaszlu; nerka, nerek
    ),
    "TUR": _rules(
        (r"(?<=\w{3})(?:in)+$", ""),  # insülin, insülini
        (r"(?<=\w{2})b[ıiuü]$", "p"),  # kalp, kalbi
    ),
}
"""What Snowball leaves apart."""

_RULES: dict[str, Rules] = {
    "ENG": _rules(
        (r"(?<![ae])(?<=\w)ies$", "y"),
        (r"(?<=\w)(ss|x|(?<!a)ch|sh|[^ae]us)es$", r"\1"),  # not "headaches"
        (r"(?<=\w)sis$", "se"),  # diagnosis: diagnoses
        (r"(?<=\w{2})(?:(?<![suie])s|(?<=e)s)$", ""),
    ),
    "GER": _rules(
        (r"(?<=\w{2}[bdfghklmnrt])s$", ""),
        # Not of the nouns Ekzem, Emphysem, Erythem, Empyem, System, Problem and Ödem.
        (r"(?<=\w{3})(?<!ekz)(?<!phys)(?<!th)(?<!mpy)(?<!yst)(?<!obl)(?<!öd)em$", ""),
        (r"(?<=\w{3})(?:ern|en|er|es|e)$|(?<=\w{2}[lr])n$", ""),
    ),
    "DUT": _rules(
        (r"(?<=\w{2}[^aeiouyjs])s$|(?<=\w{2}[^aeiouyjsc]e)s$", ""),  # not "abces"
        (r"ie(?:ën|s)$", "ie"),
        (r"(?<=\w{3})en?$", ""),
        (r"([bdfgklmnprst])\1$", r"\1"),
        (r"(?:(a)a|(e)e|(o)o|(u)u)(?=[^aeiou]$)", r"\1\2\3\4"),
        (r"z$", "s"),
        (r"v$", "f"),
    ),
    "SWE": _rules(
        (r"(?<=\w{3})(?:[aeo]rna|[ae][nt])s?$|(?<=\w{2}[lr])n$", ""),
        (r"(?<=\w{3})(?:[aeo]r|[ae])$", ""),
        (r"(?<=\w{4}i)n$", ""),  # anemi, anemin; insulin, insulinet
    ),
    "DAN": _rules(
        (r"(?<=\w{3})(?:erne|ene|en|et)s?$", ""),
        (r"(?<=\w{3})er?$", ""),
        (r"([bdfgklmnprst])\1$", r"\1"),
    ),
    "NOR": _rules(
        (r"(?<=\w{3})(?:ene|en|et)s?$", ""),
        (r"(?<=\w{3})(?:er?|a)$", ""),
        (r"([bdfgklmnprst])\1$", r"\1"),
    ),
    "FRE": _rules(
        (r"(?<=\w{2})aux$", "al"),
        (r"(?<=\w{2})eu(?:x|ses?)$", "eu"),
        (r"(?<=\w{2})i(?:fs?|ves?)$", "if"),
        (r"(?<=\w{2})[sx]$", ""),
        (r"(?<=\w{3})(?:ée|[eéë])$", ""),
        (r"([ln])\1$", r"\1"),
    ),
    "SPA": _rules(
        (r"(?<=\w{2})ces$", "z"),
        (r"(?<=\w{3})s$", ""),
        (r"(?<=\w{3})[aeo]$", ""),
    ),
    "POR": _rules(
        (r"(?:õe|ãe|ão)s$", "ão"),
        (r"ais$", "al"),
        (r"[eé]is$", "el"),
        (r"óis$", "ol"),
        (r"(?<=\w{2})ns$", "m"),
        (r"(?<=\w{3})s$", ""),
        (r"(?<=\w{3})[aeo]$", ""),
    ),
    "CAT": _rules(
        (r"ons$", "ó"),
        (r"ins$", "í"),
        (r"ans$", "à"),
        (r"(?<=\w{3})s$", ""),
        (r"(?<=\w{3})[aeo]$", ""),
        (r"(?<=\w{2})d$", "t"),  # aguda, agut
    ),
    "ITA": _rules(
        (r"(?<=\w{2}[cg])h(?=[ei]$)", ""),
        (r"(?<=\w{2})io$", "i"),
        (r"(?<=\w{3})[aeiou]$", ""),
    ),
    "RUM": _rules(
        (
            r"(?<=\w{3})(?:(?<![st])ur(?:ilor|ile|i)|i?ului|i?ul|i(?:ilor|ile|ei|i|e|a)"
            r"|ilor|ile|elor|ele|ei|ea|[aăeiu])$",
            "",
        ),
    ),
    "GRE": _rules(  # words without accents
        (
            r"(?<=\w{3})(?:μα(?:τ(?:οσ|α|ων))?|ουσ|οισ|εων|εωσ|εισ|[ωοα]ν|οι|ου|[οηεαι]σ|ην"
            r"|[ηαοιευω])$",
            "",
        ),
    ),
    "IND": _rules((r"(?<=\w{3})(?:nya|lah|kah)$", "")),
    "RUS": _rules(
        (r"(?<=\w{2})(?:[ое]го|[ое]му|ыми|ы[йехм]|[ая]я|[ое]е|[ую]ю)$", ""),
        (r"(?<=\w[кгхжшщч])и(?:й|е|х|ми?)$", ""),
        # The и of -ия and -ие stays: "наркомания" is no "наркоман".
        (
            r"(?:(?<=\w{2}и)(?:ями|ях|ям|е[йюм]|[еяюий])"
            r"|(?<=\w{3})(?:[ая]ми|[ая][хм]|[ое]в|[ое]й|[ое]м|[оеь]ю|[аяоеиыуюьй]))$",
            "",
        ),
        (r"(?<=\w{3})о[мв]$", ""),  # перелом, перелома
        (r"(?<=\w[бвгджзклмнпстфхцчшщ])е(?=[лк]$)", ""),  # кашель, кашля; почка, почек
    ),
    "UKR": _rules(
        (
            r"(?<=\w{3})(?:ами|ями|ові|еві|ого|ому|ими|ією|ості|істю|ій|их|им|ою|ею|ів|ам|ям|ах"
            r"|ях|ом|ем|єм|ий|ії|ія|ію|ої|[аяуюиіїеєойь])$",
            "",
        ),
        (r"(?<=\w{3})о[мв]$", ""),
        (r"(?<=\w[бвгджзклмнпстфхцчшщ])е(?=[лк]$)", ""),  # кашель, кашлю
    ),
    "BUL": _rules(
        (
            r"(?<=\w{3})(?:овете|ията|ието|иите|ият|ове|ата|ята|ото|ето|ите|ия|ие|ии|ят|ът"
            r"|[аяеиоъ])$",
            "",
        ),
        (r"(?<=\w{3})ц$", "к"),  # бъбрек, бъбреци
    ),
    "HEB": _rules(
        # And, the: they are written as a part of the next word. Those for in, to, from, as and
        # that stay: of the words for renal and placental they would make one.
        (r"^ו?ה?(?=[א-ת]{3})", ""),
    ),
}
_REPEATED: dict[str, Rules] = {
    "KOR": _rules(
        (
            r"(?<=[가-힣]{2})(?:으로|에서|에게|부터|까지|이나|이며|이고|이란|"
            r"[은는이가을를과와도의에로만])$",
            "",
        ),
    ),
}
"""Endings of which a word may have several."""


def uninflected(word: str, language: str) -> str:
    """Return a word without its endings of inflection; as it is in a language without rules.

    word (str): In normal form; Greek without accents.
    language (str): As in MRCONSO.RRF.
    """
    if word in _OPPOSITES:
        return word
    if language == "ENG":
        return _singular(word)
    if found := stemmer(language):
        word = str(found.stemWord(_applied(_BEFORE.get(language, ()), word)))
    word = _applied(_AFTER.get(language, _RULES.get(language, ())), word)
    if repeated := _REPEATED.get(language):
        while (stem := _applied(repeated, word)) != word:
            word = stem
    return word


@cache
def kept_whole(language: str) -> frozenset[str]:
    """Return the words (in normal form) that without an ending would be another: vårt, vårta.

    language (str): As in MRCONSO.RRF.
    """
    with Path(__file__).with_name(_TABLE).open(encoding="utf8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t")
        return frozenset(normalize(row["word"]) for row in rows if row["language"] == language)


def _applied(rules: Rules, word: str) -> str:
    for pattern, instead in rules:
        word = pattern.sub(instead, word)
    return word


def _singular(word: str) -> str:
    """Return an English word without a plural's ending: the first rule that fits, and no other."""
    if len(word) > 3:
        for pattern, instead in _RULES["ENG"]:
            if pattern.search(word):
                return pattern.sub(instead, word)
    return word


def stemmer(language: str) -> Any:
    """Return this thread's Snowball stemmer of a language, None if there is none.

    PyStemmer's are not to be used by two threads at once.

    language (str): MRCONSO.RRF's code.
    """
    import Stemmer

    known: dict[str, Any] = _thread.__dict__
    if language not in known:
        name = _STEMMERS.get(language)
        known[language] = Stemmer.Stemmer(name) if name in Stemmer.algorithms() else None
    return known[language]
