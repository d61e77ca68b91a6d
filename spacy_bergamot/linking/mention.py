"""A mention of a document, and what is looked up for it."""

from typing import NamedTuple

from spacy_bergamot.languages import lat
from spacy_bergamot.text import normalize


class Query(NamedTuple):
    """What candidates are sought for.

    name (str): In normal form (`spacy_bergamot.text.normalize`).
    label (str): Of the entity; it may decide which concepts are allowed.
    languages (tuple[str, ...]): That the text is in, as in MRCONSO.RRF; none where unknown.
    """

    name: str
    label: str = ""
    languages: tuple[str, ...] = ()


class Mention(NamedTuple):
    """A mention in its context.

    text (str): What is looked up, in normal form: the mention, or its long form.
    label (str): Of the entity.
    context (str): The whole text.
    start, end (int): Its characters in the context.
    long_form (str): What the text, or the settings, give as its long form; empty if none.
    language (str): Of the document, as in MRCONSO.RRF: what it says, else what it surely reads
        like; empty if unknown.
    languages (tuple[str, ...]): That the document may be in: that one, or what it reads like.
    """

    text: str
    label: str
    context: str
    start: int
    end: int
    long_form: str = ""
    language: str = ""
    languages: tuple[str, ...] = ()

    @classmethod
    def alone(cls, text: str, language: str = "") -> "Mention":
        """Return a mention that is its whole text.

        text (str): As it is written.
        language (str): Of the text; empty if unknown.
        """
        languages = (lat(language),) if language else ()
        return cls(normalize(text), "", text, 0, len(text), language=language, languages=languages)

    @property
    def surface(self) -> str:
        """The mention as it is written."""
        return self.context[self.start : self.end]
