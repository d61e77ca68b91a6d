"""What a linker looks up: the mentions of a document in normal form, abbreviations resolved."""

from spacy.tokens import Doc, Span

from spacy_bergamot.languages import languages_of
from spacy_bergamot.linking.rerank import Mention
from spacy_bergamot.linking.settings import LinkerSettings
from spacy_bergamot.linking.spans import spans_of
from spacy_bergamot.mentions.abbreviations import find_abbreviations, known_forms
from spacy_bergamot.text import normalize


class LookUp:
    """Reads mentions as the settings say."""

    def __init__(self, settings: LinkerSettings) -> None:
        self.settings = settings

    def spans(self, doc: Doc) -> list[Span]:
        """Return the mentions of a document that are to be linked."""
        settings = self.settings
        return [
            span
            for span in spans_of(doc, settings.spans_key)
            if span.label_ not in settings.labels_discard and (settings.overwrite or not span.kb_id)
        ]

    def mentions(self, doc: Doc) -> list[Mention]:
        """Return what is looked up for every mention, in its context."""
        spans = self.spans(doc)
        text = doc.text if spans else ""
        forms = self._short_forms(text, languages_of(doc.user_data.get("language") or doc.lang_))
        return [
            Mention(
                normalize(_expanded(span.text, forms)),
                span.label_,
                text,
                span.start_char,
                span.end_char,
            )
            for span in spans
        ]

    def text(self, mention: str, *, context: str, language: str) -> str:
        """Return what is looked up for a mention by itself.

        context (str): Text whose abbreviations are resolved. language (str): Of it.
        """
        return normalize(_expanded(mention, self._short_forms(context, [language])))

    def label(self, label: str) -> str:
        """Return a label if it decides which concepts are allowed, else nothing."""
        return label if label in self.settings.allowed.types_by_label else ""

    def _short_forms(self, text: str, languages: list[str]) -> dict[str, str]:
        if not self.settings.resolve_abbreviations:
            return {}
        known: dict[str, str] = {}
        for language in languages:
            known |= known_forms(self.settings.abbreviations, language)
        return {**known, **find_abbreviations(text)}


def _expanded(mention: str, forms: dict[str, str]) -> str:
    """Return the long form of a mention that is a short form, or the mention."""
    return forms.get(mention.strip(), mention) if forms else mention
