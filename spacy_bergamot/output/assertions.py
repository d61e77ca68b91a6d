"""What a text says of a mention: that there is none, that it was, that it is somebody else's.

Components behind the linker say so by attributes of spans (`span._.is_negated`). None of these
packages is needed to read them.
"""

from typing import Any

from spacy.tokens import Span

EXTENSIONS = {
    "negated": ("is_negated", "negex", "negation"),
    "uncertain": ("is_uncertain", "hypothesis"),
    "hypothetical": ("is_hypothetical",),
    "historical": ("is_historical", "history"),
    "family": ("is_family", "family"),
}
"""Attributes of mentions, and the extensions that say them: those of medspaCy's ConText, then of
negspacy, then of EDS-NLP."""


def attributes_of(span: Span) -> list[str]:
    """Return what a text says of a mention; names and their order are those of `EXTENSIONS`.

    span (Span): The mention.
    """
    return [
        name
        for name, extensions in EXTENSIONS.items()
        if any(_value(span, extension) is True for extension in extensions)
    ]


def _value(span: Span, extension: str) -> Any:
    if span.has_extension(extension):
        return span._.get(extension)
    # Read from a file, a document has the attribute though nothing here has registered it.
    values: dict[Any, Any] = span.doc.user_data
    return values.get(("._.", extension, span.start_char, span.end_char))
