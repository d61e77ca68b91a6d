"""Mentions in documents: entities, or the spans of a group, and their concept ids."""

from collections.abc import Mapping

from spacy.pipeline import EntityLinker
from spacy.tokens import Doc, Span

SpanKey = tuple[int, int, int]
"""Start, end and label of a span."""


def spans_of(doc: Doc, spans_key: str | None = None) -> list[Span]:
    """Return the entities, or the spans of a group; none where there is no such group.

    doc (Doc): The document.
    spans_key (str | None): The group; None takes the entities.
    """
    if spans_key is None:
        return list(doc.ents)
    return list(doc.spans[spans_key]) if spans_key in doc.spans else []


def is_linked(span: Span) -> bool:
    """Return whether a span has a concept: a kb id that is not NIL."""
    return bool(span.kb_id_) and span.kb_id_ != EntityLinker.NIL


def span_key(span: Span) -> SpanKey:
    """Return where a span is, and what it is labelled with."""
    return span.start, span.end, span.label


def write_links(doc: Doc, links: Mapping[SpanKey, str], spans_key: str | None = None) -> None:
    """Write concept ids where they last: on tokens for entities, on new spans in a group.

    `ent.kb_id_` of an entity is lost when it is set, and a group's spans are copies.

    doc (Doc): The document.
    links (Mapping[SpanKey, str]): Concept ids of its mentions.
    spans_key (str | None): The group; None takes the entities.
    """
    if spans_key is None:
        for (start, end, _), concept_id in links.items():
            for token in doc[start:end]:
                token.ent_kb_id_ = concept_id
    elif spans_key in doc.spans:
        group = doc.spans[spans_key]
        for position, span in enumerate(group):
            link = links.get(span_key(span))
            if link is not None:
                group[position] = Span(
                    doc, span.start, span.end, label=span.label, kb_id=link, span_id=span.id
                )


def unlinked(doc: Doc, spans_key: str | None = None) -> Doc:
    """Return a copy of a document whose mentions have no concept ids.

    doc (Doc): The document.
    spans_key (str | None): The group; None takes the entities.
    """
    copy = doc.copy()
    plain = [Span(copy, *span_key(span)) for span in spans_of(doc, spans_key)]
    if spans_key is None:
        copy.set_ents(plain)
    else:
        copy.spans[spans_key] = plain
    return copy
