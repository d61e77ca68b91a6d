"""Sentences of documents, with the mentions in them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import spacy

from spacy_bergamot.languages import iso
from training.translate.marks import Span


class Sentence(NamedTuple):
    """A sentence without white space at its ends, what stands before it, and its mentions' spans.

    rows (list[int]): Of each span, the number of its mention in the document.
    """

    before: str
    text: str
    spans: list[Span]
    rows: list[int]


class Splitter:
    """Splits documents by spaCy's rules of their languages; a mention is never cut."""

    def __init__(self) -> None:
        self._pipelines: dict[str, Any] = {}

    def __call__(self, text: str, spans: Sequence[Span], language: str) -> list[Sentence]:
        """Return the sentences of a document.

        spans (list[Span]): Of its mentions. language (str): As in MRCONSO.RRF, such as ENG.
        """
        made = []
        place = 0
        for start, end in self._bounds(text, spans, language):
            inside = text[start:end]
            if not inside.strip():
                continue
            start, end = end - len(inside.lstrip()), start + len(inside.rstrip())
            rows = [row for row, (a, z) in enumerate(spans) if start <= a and z <= end]
            moved = [(spans[row][0] - start, spans[row][1] - start) for row in rows]
            made.append(Sentence(text[place:start], text[start:end], moved, rows))
            place = end
        return made

    def _bounds(self, text: str, spans: Sequence[Span], language: str) -> list[Span]:
        sentences = self._pipeline(language)(text).sents
        bounds: list[Span] = []
        for sentence in sentences:
            start, end = sentence.start_char, sentence.end_char
            if bounds and any(a < start < z for a, z in spans):
                start = bounds.pop()[0]
            bounds.append((start, end))
        return bounds

    def _pipeline(self, language: str) -> Any:
        if language not in self._pipelines:
            try:
                nlp = spacy.blank(iso(language) or "xx")
            except ImportError:  # its tokenizer needs a package that is not there
                nlp = spacy.blank("xx")
            nlp.max_length = 1 << 31
            nlp.add_pipe("sentencizer")
            self._pipelines[language] = nlp
        return self._pipelines[language]
