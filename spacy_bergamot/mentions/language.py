"""In which language a document is written, where nobody says it."""

from functools import cache
from typing import Any

from spacy_bergamot.languages import LANGUAGES, NO_LANGUAGE, iso, lat

_LEAST = 12
"""Letters below which a text does not say its language."""
_SURE = 0.75
_MOST = 2000


def detect(text: str, languages: tuple[str, ...]) -> str:
    """Return the language of a text as in MRCONSO.RRF, or nothing where that is not sure.

    languages: Those that it may be in, besides English, as in MRCONSO.RRF.
    """
    beginning = text[:_MOST]
    if sum(map(str.isalpha, beginning)) < _LEAST:
        return ""
    code, probability = _identifier(tuple(sorted({*languages, "ENG"}))).classify(beginning)
    return lat(code) if probability >= _SURE else ""


@cache
def _identifier(languages: tuple[str, ...]) -> Any:
    """Return py3langid's model (Lui and Baldwin 2012) for some languages."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    known = {iso(code) for code in languages if code not in NO_LANGUAGE}
    identifier.set_languages(sorted(known & set(identifier.nb_classes) & set(LANGUAGES)))
    return identifier
