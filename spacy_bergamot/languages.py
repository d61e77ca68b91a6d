"""ISO 639-1 language codes and the codes that MRCONSO.RRF has for them (column LAT)."""

LANGUAGES = {
    "en": "ENG", "es": "SPA", "fr": "FRE", "de": "GER", "nl": "DUT", "it": "ITA", "pt": "POR",
    "ru": "RUS", "ja": "JPN", "zh": "CHI", "ko": "KOR", "th": "THA", "fi": "FIN", "tr": "TUR",
    "cs": "CZE", "pl": "POL", "sv": "SWE", "hu": "HUN", "el": "GRE", "he": "HEB", "ar": "ARA",
    "uk": "UKR", "fa": "PER", "vi": "VIE", "id": "IND", "no": "NOR", "nb": "NOR", "da": "DAN",
    "ro": "RUM", "bg": "BUL", "hr": "SCR", "et": "EST", "lv": "LAV", "eu": "BAQ", "ca": "CAT",
    "la": "LAT",
}  # fmt: skip


NO_LANGUAGE = ("", "xx", "mul", "und", "zxx")
"""What is written where a name is of no language, or of any."""


def lat(code: str) -> str:
    """Return the code of MRCONSO.RRF of a language: itself, or that of an ISO 639-1 code.

    >>> lat("de"), lat("zh-Hans"), lat("GER"), lat("ger")
    ('GER', 'CHI', 'GER', 'GER')
    """
    code = code.strip()
    known = LANGUAGES.get(code.lower().replace("_", "-").partition("-")[0])
    return known or (code.upper() if code.upper() in LANGUAGES.values() else code)
