"""Short forms that a document defines, or that notes use as known: mentions wherever they stand."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from spacy.tokens import Doc

from spacy_bergamot.mentions.abbreviations import definitions
from spacy_bergamot.mentions.language import Guess, stop_words
from spacy_bergamot.mentions.reading import reading
from spacy_bergamot.mentions.units import units_of
from spacy_bergamot.mentions.usual_short_forms import (
    lengths_of,
    usual_lengths,
    usual_short_forms,
)
from spacy_bergamot.text import half_width

_MEASURES = frozenset({"PHYS", "PROC"})
"""Labels of what has a value: blood pressure, white blood cells."""
_VALUE = re.compile(r"(?<=[^\W\d_])(?=\d+(?:[.,/]\d|\d))")
"""Where a value stands close behind letters: "BP130/80"; not in "CD4" or "T3"."""

Labels = Mapping[tuple[int, int], str]
"""Labels of mentions by start and end in characters."""


def short_form_places(doc: Doc, places: Labels) -> dict[tuple[int, int], str]:
    """Return every place of the short forms whose long forms are mentions, with their labels.

    A long form is one where a mention ends with it and has half of its characters: of "acute
    myocardial infarction (AMI)" the last two words will do. A short form is a run of whole units
    in the case in which it is defined.

    doc (Doc): The document.
    places: The mentions that were found.
    """
    text = doc.text
    labels = _labels(text, places)
    if not labels:
        return {}
    starts, ends = _units(doc)
    words = {text[start:end] for start, end in zip(starts, ends, strict=True)}
    # "He" is no helium where the text has "he" too: it may be the first word of a sentence.
    sure = {
        short: label
        for short, label in labels.items()
        if not (short.istitle() and short.isalpha() and short.lower() in words)
    }
    found = _occurrences(text, starts, set(ends), sure, lengths_of(sure))
    return {(start, end): sure[text[start:end]] for start, end in found}


def usual_places(
    doc: Doc, languages: Guess, label_of: Callable[[str], str | None]
) -> dict[tuple[int, int], str]:
    """Return every place of the short forms that notes of some languages use without saying them.

    They are matched in the case in which they are listed, in full width too; a value may stand
    close behind what is measured ("BP130/80"). In a text that is all in capitals stop words are
    none: its "ALS" is German for "as".

    doc (Doc): The document.
    languages (Guess): That it is in.
    label_of (Callable): Returns the label of a long form; None if that is not to be marked.
    """
    text = half_width(doc.text)
    stops = stop_words(tuple(languages.languages)) if text.isupper() else ()
    starts, ends = map(set, _units(doc))
    values = {value.start() for value in _VALUE.finditer(text)}
    longs: dict[tuple[int, int], str] = {}
    for language in languages.of_short_forms:
        forms = usual_short_forms(language)
        places = _occurrences(text, starts, ends | values, forms, usual_lengths(language))
        longs |= {(start, end): forms[text[start:end]] for start, end in places}
    labels = {long: label_of(long) for long in set(longs.values())}
    return {
        (start, end): label
        for (start, end), long in longs.items()
        if (label := labels[long])
        and text[start:end].lower() not in stops
        and (end in ends or label in _MEASURES)
    }


def _units(doc: Doc) -> tuple[list[int], list[int]]:
    """Return where the units of a document start and end."""
    units = units_of(read := reading(doc))
    starts, ends = read.places(units.starts, units.ends)
    return starts.tolist(), ends.tolist()


def _labels(text: str, places: Labels) -> dict[str, str]:
    """Return the labels of the short forms whose long forms are mentions."""
    defined = definitions(text)
    ending: dict[int, list[tuple[int, str]]] = {of.end: [] for of in defined.values()}
    for (start, end), label in places.items():
        if end in ending:
            ending[end].append((start, label))
    labels = {}
    for short, first, end in defined.values():
        if ending[end]:
            start, label = min(ending[end], key=lambda mention: abs(mention[0] - first))
            if 2 * (end - start) >= end - first:
                labels[short] = label
    return labels


def _occurrences(
    text: str,
    starts: Iterable[int],
    ends: Collection[int],
    short_forms: Collection[str],
    lengths: Mapping[str, Collection[int]],
) -> Iterator[tuple[int, int]]:
    """Yield where short forms stand; for each unit there are as many looks as they have lengths."""
    for start in starts:
        for length in lengths.get(text[start], ()):
            if start + length in ends and text[start : start + length] in short_forms:
                yield start, start + length
