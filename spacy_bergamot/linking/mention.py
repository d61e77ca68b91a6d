"""Mention: a mention of a document, and what is looked up for it."""

from typing import NamedTuple

from spacy_bergamot.text import normalize


class Mention(NamedTuple):
    """A mention in its context.

    text (str): What is looked up, in normal form: the mention, or its long form.
    label (str): Of the entity.
    context (str): The whole text.
    start, end (int): Its characters in the context.
    long_form (str): What the text, or the settings, give as its long form; empty if none.
    language (str): Of the document, as in MRCONSO.RRF: what it says, else what it surely reads
        like; empty if unknown.
    """

    text: str
    label: str
    context: str
    start: int
    end: int
    long_form: str = ""
    language: str = ""

    @classmethod
    def alone(cls, text: str, language: str = "") -> "Mention":
        """Return a mention that is its whole text.

        text (str): As it is written.
        language (str): Of the text; empty if unknown.
        """
        return cls(normalize(text), "", text, 0, len(text), language=language)

    @property
    def surface(self) -> str:
        """The mention as it is written."""
        return self.context[self.start : self.end]
