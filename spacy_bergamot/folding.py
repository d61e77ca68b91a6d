"""Folded words: what writing varies and meaning does not.

A word is folded by the rules of its language: inflection (Snowball's stemmers; of English the
plural alone, as Snowball makes one of "hepatitis" and "hepatic"), accents, British and American
spelling in English, Roman numbers, Greek letters. Hyphens, apostrophes and the border of letters
and digits part words; articles and the like fold to nothing, and so do single letters beside an
apostrophe. A name's folded words, in any order, are its folded form: "diabetes type II",
"Type-2 diabetes".
"""

import re
import unicodedata
from functools import cache, lru_cache
from threading import local
from typing import Any, NamedTuple

from spacy_bergamot.text import normalize

_STEMMERS = {
    "ARA": "arabic", "BAQ": "basque", "CAT": "catalan", "CZE": "czech", "DAN": "danish",
    "DUT": "dutch", "EST": "estonian", "FIN": "finnish", "FRE": "french",
    "GER": "german", "GRE": "greek", "HUN": "hungarian", "IND": "indonesian", "ITA": "italian",
    "NOR": "norwegian", "PER": "persian", "POL": "polish", "POR": "portuguese", "RUM": "romanian",
    "RUS": "russian", "SPA": "spanish", "SWE": "swedish", "TUR": "turkish",
}  # fmt: skip
# No single letters: of "hepatitis A" and "гепатит В" they are the point.
_FUNCTION_WORDS = {
    "ENG": "an the of in on at to by with for and or due",
    "GER": "der die das des dem den ein eine einer eines einem einen von vom im in am an zu zur "
    "mit und",
    "FRE": "le la les un une de du des en au aux et par sur dans avec",
    "SPA": "el la los las un una de del en al por con",
    "ITA": "il lo la gli le un uno una di del dello della dei degli delle in al per con da",
    "POR": "os as um uma de do da dos das em no na nos nas por com",
    "DUT": "de het een van der den in op aan bij met en door",
    "CZE": "ve na se ze",
    "POL": "we na ze",
    "RUS": "во на со об от при",
    "SWE": "en ett den det av på med och",
    "DAN": "en et den det af på med og",
    "NOR": "en et den det av på med og",
    "RUM": "al ale de din la cu și în",
    "CAT": "el la els les un una de del dels en al per amb",
}  # fmt: skip
_COMMA_BELOW = str.maketrans("şţ", "șț")
"""Romanian letters as old fonts have them, with a cedilla, and as they are written."""
_APOSTROPHES = ("'", "’")
_ROMAN = {
    "i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7", "viii": "8",
    "ix": "9", "x": "10", "xi": "11", "xii": "12", "xiii": "13", "xiv": "14", "xv": "15",
}  # fmt: skip
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta",
    "θ": "theta", "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi",
    "ο": "omicron", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "υ": "upsilon", "φ": "phi",
    "χ": "chi", "ψ": "psi", "ω": "omega",
}  # fmt: skip
# Vowels and tones of Thai, Arabic, Hebrew and Hindi are marks, no letters to `re`.
_MARK = (
    r"\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f"
    r"\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
)
_WORD = re.compile(rf"[^\W\d_]+(?:[{_MARK}]+[^\W\d_]*)*|\d+(?:[.,]\d+)*")
_PART, _HYPHEN = r"[^\W\d_]{2,}", r"[-\u2010\u2011]"
_SEPARATOR = re.compile(_HYPHEN)
# From the beginning of words alone: else a word takes the square of its length.
_PARTED = re.compile(rf"(?<![^\W\d_]){_PART}(?:{_HYPHEN}{_PART})+")
_WHOLE = re.compile(f"{_PARTED.pattern}|{_WORD.pattern}")
_COMPOUNDING = ("DAN", "DUT", "EST", "FIN", "GER", "HUN", "NOR", "SWE")
"""Languages that write compounds as one word, or with a hyphen as it pleases."""
_BRITISH = (
    (re.compile("(?:ae|oe)(?=[a-z]{2})"), "e"),
    (re.compile("our(?=s?$)"), "or"),
    (re.compile("is(?=(?:ation|e|ed|es|ing)s?$)"), "iz"),
    (re.compile("ys(?=(?:e|ed|es|ing)$)"), "yz"),
    (re.compile("sulph"), "sulf"),
    (re.compile("tre$"), "ter"),
)
_PLURALS = (
    (re.compile("(?<![ae])ies$"), "y"),
    (re.compile("(ss|x|(?<!a)ch|sh|[^ae]us)es$"), r"\1"),  # not "headaches"
    (re.compile("sis$"), "se"),  # diagnosis: diagnoses
    (re.compile("(?<![suie])s$|(?<=e)s$"), ""),
)
_PORTUGUESE_PLURALS = (  # which Snowball leaves apart
    (re.compile("(?:õe|ãe|ão)s$"), "ão"),
    (re.compile("ais$"), "al"),
    (re.compile("[eé]is$"), "el"),
    (re.compile("óis$"), "ol"),
)
_ENDINGS = {  # of languages without a stemmer of Snowball's; two syllables stay
    "KOR": re.compile(
        "(?<=[가-힣]{2})(?:으로|에서|에게|부터|까지|이나|이며|이고|이란|"
        "[은는이가을를과와도의에로만])$"
    ),
    "UKR": re.compile(
        "(?<=[а-яіїєґ]{3})(?:ами|ями|ові|еві|ого|ому|ими|ією|ості|істю|"
        "ій|их|им|ою|ею|ів|ам|ям|ах|ях|ом|ем|єм|ий|ії|ія|ію|ої|[аяуюиіїеєойь])$"
    ),
    "BUL": re.compile(
        "(?<=[а-я]{3})(?:ията|ието|иите|ият|ове|ата|ята|ото|ето|ите|ия|ие|ии|ят|ът|[аяеиоъ])$"
    ),
}
_FINNISH = (  # which Snowball leaves apart: tulehdus, tulehduksen; kipu, kivun; vuoto, vuodon
    (re.compile("(?<=[uyoö])(?:ks|[sdt]i?)$"), ""),
    (re.compile("v(?=[aouyäö]$)"), "p"),
    (re.compile("d(?=[aouyäö]$)"), "t"),
)
_HEBREW_PREFIXES = re.compile("^ו?ה?(?=[א-ת]{3})")
"""And, the: they are written as a part of the next word. Those for in, to, from, as and that stay:
of the words for renal and placental they would make one."""
_OPPOSITES = frozenset(["hyper", "hypo", "hiper", "hipo", "iper", "ipo"])
"""Of names with a hyphen; stemmers make one of some."""
_thread = local()
_LONG = 6
"""Letters from which a word's British spelling is changed: not of "hour" or "rise"."""


class FoldedWord(NamedTuple):
    """A word of a text: where it is, and its folded form, empty for an article and the like."""

    start: int
    end: int
    folded: str


def folded_words(text: str, language: str) -> list[FoldedWord]:
    """Return the words of a text with their folded forms.

    language (str): As in MRCONSO.RRF: ENG. Of one without rules, words are folded by case, width
        and accents alone.
    """
    return _folded(_WORD, text, language)


def joined_words(text: str, language: str) -> list[FoldedWord]:
    """Return the words of a text, those that a hyphen parts as one; none if none is parted.

    Only of languages that write compounds as one word: "Herz-Infarkt".

    text (str): As it is written.
    language (str): As in MRCONSO.RRF.
    """
    parted = language in _COMPOUNDING and _PARTED.search(text)
    return _folded(_WHOLE, text, language) if parted else []


def _folded(pattern: re.Pattern[str], text: str, language: str) -> list[FoldedWord]:
    words = []
    for found in pattern.finditer(text):
        start, end = found.span()
        # Of "l'infarctus" and "Crohn's".
        elided = end - start == 1 and (
            text.startswith(_APOSTROPHES, end) or text.endswith(_APOSTROPHES, 0, start)
        )
        word = _SEPARATOR.sub("", found[0])
        words.append(FoldedWord(start, end, "" if elided else fold_word(word, language)))
    return words


@lru_cache(maxsize=100_000)
def fold_word(word: str, language: str) -> str:
    """Return the folded form of a word; nothing for an article and the like.

    language (str): MRCONSO.RRF's code.
    """
    word = normalize(word).translate(_COMMA_BELOW) if language == "RUM" else normalize(word)
    if word in _function_words(language):
        return ""
    if word in _ROMAN:
        return _ROMAN[word]
    if language != "GRE":
        word = "".join(_GREEK.get(letter, letter) for letter in word)
    if language == "ENG" and len(word) >= _LONG:
        for pattern, instead in _BRITISH:
            word = pattern.sub(instead, word)
    stem = _stem(word, language)
    return stem if language == "VIE" else _without_accents(stem) or word


def _stem(word: str, language: str) -> str:
    if language == "ENG":
        return _singular(word)
    for pattern, instead in _PORTUGUESE_PLURALS if language == "POR" else ():
        word = pattern.sub(instead, word)
    if endings := _ENDINGS.get(language):
        while (stem := endings.sub("", word)) != word:
            word = stem
    if language == "HEB":
        word = _HEBREW_PREFIXES.sub("", word)
    if word not in _OPPOSITES and (found := stemmer(language)):
        # "enfermedades" takes one step more than "enfermedad". Elsewhere more steps make one
        # word of several: of lung cancer, oedema and embolism in Hungarian.
        for _ in range(2 if language == "SPA" else 1):
            word = str(found.stemWord(word))
    for pattern, instead in _FINNISH if language == "FIN" else ():
        word = pattern.sub(instead, word)
    return word


def _singular(word: str) -> str:
    """Return an English word without a plural's ending (after Harman 1991)."""
    if len(word) > 3:
        for pattern, instead in _PLURALS:
            if pattern.search(word):
                return pattern.sub(instead, word)
    return word


def stemmer(language: str) -> Any:
    """Return this thread's stemmer of a language, None if there is none.

    PyStemmer's are not to be used by two threads at once.

    language (str): MRCONSO.RRF's code.
    """
    import Stemmer

    known: dict[str, Any] = _thread.__dict__
    if language not in known:
        name = _STEMMERS.get(language)
        known[language] = Stemmer.Stemmer(name) if name in Stemmer.algorithms() else None
    return known[language]


@cache
def _function_words(language: str) -> frozenset[str]:
    return frozenset(_FUNCTION_WORDS.get(language, "").split())


def plain_word(word: str) -> str:
    """Return the normal form of a word without accents, uninflected or not."""
    return _without_accents(normalize(word))


def _without_accents(word: str) -> str:
    """Return a word without combining marks; those of scripts that need them stay."""
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", "".join(c for c in parts if not "\u0300" <= c <= "\u036f"))
