"""What a pipeline does not do, in plain sentences."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from spacy_bergamot.languages import LANGUAGES

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_bergamot.linking.settings import LinkerSettings

_DICTIONARY = "bergamot_mentions"
_WRITTEN = {"doc.ents", "doc.spans"}


def limits_of(
    nlp: "Language", settings: "LinkerSettings", *, languages: Iterable[str], measured: set[str]
) -> list[str]:
    """Return the limits that follow from a pipeline's components, settings and names.

    languages (Iterable[str]): Of the knowledge base's names. measured (set[str]): Groups of the
        evaluation.
    """
    known = set(languages)
    return [
        *_of_mentions(nlp),
        *_of_settings(settings),
        "Says nothing of negation, of doubt, or of whom a mention is about.",
        *_of_languages(known, measured),
        "Recall is of mentions that are given; finding them in text is not part of it.",
    ]


def _of_mentions(nlp: "Language") -> list[str]:
    finders = [
        name
        for name in nlp.pipe_names
        if nlp.get_pipe_meta(name).factory != "bergamot_linker"
        and _WRITTEN & set(nlp.get_pipe_meta(name).assigns)
    ]
    if not finders:
        return ["Finds no mentions: it links those that a component before it has marked."]
    if any(nlp.get_pipe_meta(name).factory != _DICTIONARY for name in finders):
        return []
    return [
        "Finds mentions by dictionary only: names of the knowledge base, also inflected or with "
        "their words in another order. Others are linked where another component marks them."
    ]


def _of_settings(settings: "LinkerSettings") -> list[str]:
    found = []
    if settings.threshold is None and settings.min_probability is None:
        found.append(
            "Gives a concept to every mention: nothing is NIL unless threshold or min_probability "
            "is set."
        )
    if settings.rerank is None:
        found.append("Does not read the context: a mention has the same concept in every text.")
    if not settings.resolve_abbreviations:
        found.append(
            "Does not look short forms up as the long forms that a text defines, unless "
            "resolve_abbreviations is set."
        )
    return found


def _of_languages(known: set[str], measured: set[str]) -> list[str]:
    found = []
    without = sorted(set(LANGUAGES.values()) - known)
    if without:
        found.append(
            f"Has no names in {', '.join(without)}: mentions in these are compared with names in "
            "other languages."
        )
    unmeasured = sorted(known - measured)
    if measured and unmeasured:
        found.append(f"Was not measured in {', '.join(unmeasured)}, which it has names in.")
    return found


def settings_facts(settings: "LinkerSettings") -> dict[str, Any]:
    """Return the settings that decide what is linked."""
    return {
        "threshold": settings.threshold,
        "min_probability": settings.min_probability,
        "candidates": settings.k,
        "scoring": settings.scoring,
    }
