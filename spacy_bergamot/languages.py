"""ISO 639-1 language codes and the codes that MRCONSO.RRF has for them (column LAT)."""

LANGUAGES = {
    "en": "ENG", "es": "SPA", "fr": "FRE", "de": "GER", "nl": "DUT", "it": "ITA", "pt": "POR",
    "ru": "RUS", "ja": "JPN", "zh": "CHI", "ko": "KOR", "th": "THA", "fi": "FIN", "tr": "TUR",
    "cs": "CZE", "pl": "POL", "sv": "SWE", "hu": "HUN", "el": "GRE", "he": "HEB", "ar": "ARA",
    "uk": "UKR", "fa": "PER", "vi": "VIE", "id": "IND", "no": "NOR", "nb": "NOR", "da": "DAN",
    "ro": "RUM", "bg": "BUL", "hr": "SCR", "et": "EST", "lv": "LAV", "eu": "BAQ", "ca": "CAT",
    "la": "LAT",
}  # fmt: skip
_CODES = frozenset(LANGUAGES.values())


NAMES = {
    "ENG": "English", "SPA": "Spanish", "FRE": "French", "GER": "German", "DUT": "Dutch",
    "ITA": "Italian", "POR": "Portuguese", "RUS": "Russian", "JPN": "Japanese", "CHI": "Chinese",
    "KOR": "Korean", "THA": "Thai", "FIN": "Finnish", "TUR": "Turkish", "CZE": "Czech",
    "POL": "Polish", "SWE": "Swedish", "HUN": "Hungarian", "GRE": "Greek", "HEB": "Hebrew",
    "ARA": "Arabic", "UKR": "Ukrainian", "PER": "Persian", "VIE": "Vietnamese",
    "IND": "Indonesian", "NOR": "Norwegian", "DAN": "Danish", "RUM": "Romanian",
    "BUL": "Bulgarian", "SCR": "Croatian", "EST": "Estonian", "LAV": "Latvian", "BAQ": "Basque",
    "CAT": "Catalan", "LAT": "Latin",
}  # fmt: skip
"""English names of the languages, by MRCONSO.RRF's codes."""

OTHER_SCRIPTS = frozenset(
    ["ARA", "BUL", "CHI", "GRE", "HEB", "JPN", "KOR", "PER", "RUS", "THA", "UKR"]
)
"""Languages that are not written in Latin letters, by MRCONSO.RRF's codes."""

NO_LANGUAGE = ("", "xx", "mul", "und", "zxx")
"""What is written where a name is of no language, or of any."""


def lat(code: str) -> str:
    """Return the code of MRCONSO.RRF of a language: itself, or that of an ISO 639-1 code.

    code (str): Either code, in any case; an unknown one stays as it is.

    >>> lat("en"), lat("zh-Hans"), lat("eng"), lat("GER"), lat("other")
    ('ENG', 'CHI', 'ENG', 'GER', 'other')
    """
    code = code.strip()
    short = code.lower().replace("_", "-").partition("-")[0]
    known = LANGUAGES.get(short, code.upper())
    return known if known in _CODES else code


def iso(code: str) -> str:
    """Return the ISO 639-1 code of a language: itself, or that of a code of MRCONSO.RRF.

    code (str): Either code, in any case; an unknown one stays as it is.
    """
    code = code.strip()
    if code.lower() in LANGUAGES:
        return code.lower()
    return next((short for short, long in LANGUAGES.items() if long == lat(code)), code)


def languages_of(given: str | list[str] | tuple[str, ...]) -> list[str]:
    """Return the languages that a document says: one code, or a list of them.

    given (str | list[str] | tuple[str, ...]): What `doc.user_data["language"]` says, or
        `doc.lang_`.
    """
    return [given] if isinstance(given, str) else list(given)
