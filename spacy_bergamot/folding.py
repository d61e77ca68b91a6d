"""Folded words: what writing varies and meaning does not.

A word is folded by the rules of its language: inflection (`spacy_bergamot.inflection`), accents,
British and American spelling in English, Roman numbers, Greek letters. Hyphens, apostrophes and the
border of letters and digits part words; articles and the like fold to nothing, and so do single
letters beside an apostrophe. A name's folded words, in any order, are its folded form: "diabetes
type II", "Type-2 diabetes".
"""

import re
import unicodedata
from functools import cache, lru_cache
from typing import NamedTuple

from spacy_bergamot.inflection import kept_whole, uninflected
from spacy_bergamot.text import normalize

# No single letters: of "hepatitis A" and "гепатит В" they are the point. No conjunctions: "blood
# and urine" is no blood in urine, and in "IRM cérébrale et IRM du genou" two names end and begin.
_FUNCTION_WORDS = {
    "ENG": "an the of in on at to by with for due",
    "GER": "der die das des dem den ein eine einer eines einem einen von vom im in am an zu zur "
    "mit",
    "FRE": "le la les un une de du des en au aux par sur dans avec",
    "SPA": "el la los las un una de del en al por con",
    "ITA": "il lo la gli le un uno una di del dello della dei degli delle in al per con da",
    "POR": "os as um uma de do da dos das em no na nos nas por com",
    "DUT": "de het een van der den in op aan bij met door",
    "CZE": "ve na se ze",
    "POL": "we na ze",
    "RUS": "во на со об от при",
    "SWE": "en ett den det av på med",
    "DAN": "en et den det af på med",
    "NOR": "en et den det av på med",
    "RUM": "al ale de din la cu în",
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
# An arrow is a word: "CRP ↑" is no CRP.
_WORD = re.compile(rf"[^\W\d_]+(?:[{_MARK}]+[^\W\d_]*)*|\d+(?:[.,]\d+)*|[↑↓]")
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
_KEPT = {
    "DAN": "åæø", "EST": "äöõü", "FIN": "åäö", "NOR": "åæø", "SPA": "ñ", "SWE": "åäö",
}  # fmt: skip
"""Letters that are no others with an accent: Swedish vårt (our) is no vårta, Spanish año no ano."""
_AS_IT_IS = "."  # no word without an ending ends so
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
    if word in kept_whole(language):
        return word + _AS_IT_IS
    if language != "GRE":
        word = "".join(_GREEK.get(letter, letter) for letter in word)
    if language == "ENG" and len(word) >= _LONG:
        for pattern, instead in _BRITISH:
            word = pattern.sub(instead, word)
    if language == "VIE":  # tones tell words apart
        return word
    if language == "GRE":
        word = _without_accents(word).replace("ς", "σ")
    kept = _KEPT.get(language, "")
    folded = _without_accents(uninflected(word, language), kept) or word
    # In capitals both are I: "AĞRI", ağrı.
    return folded.replace("ı", "i") if language == "TUR" else folded


@cache
def _function_words(language: str) -> frozenset[str]:
    return frozenset(_FUNCTION_WORDS.get(language, "").split())


def plain_word(word: str) -> str:
    """Return the normal form of a word without accents, uninflected or not."""
    return _without_accents(normalize(word))


def _without_accents(word: str, kept: str = "") -> str:
    """Return a word without combining marks; those of scripts that need them stay.

    kept (str): Letters that are as they are.
    """
    if word.isascii():
        return word
    return "".join(letter if letter in kept else _plain(letter) for letter in word)


@lru_cache(maxsize=10_000)
def _plain(letter: str) -> str:
    parts = unicodedata.normalize("NFD", letter)
    return unicodedata.normalize("NFC", "".join(c for c in parts if not "\u0300" <= c <= "\u036f"))
