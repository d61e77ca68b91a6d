"""Linked documents as one HTML page that fetches nothing and runs nothing."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from markupsafe import Markup
from spacy.tokens import Doc, Span

from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.linking.spans import is_linked, spans_of
from spacy_bergamot.output.assertions import attributes_of
from spacy_bergamot.output.pages import templates

_HUES = (210, 25, 150, 300, 50, 180, 265, 345)
"""Of the labels, in the order in which they first appear."""


def to_html(
    docs: Iterable[Doc],
    *,
    spans_key: str | None = None,
    kb_url: str = "",
    kb: KnowledgeBase | None = None,
) -> str:
    """Return a page of texts with their mentions marked.

    Behind each stand its label, concept and score, and what the text says of it, such as negated.

    Where spans of a group overlap, what is said of a span repeats its text. The direction of
    writing follows the text. A mention that is not linked is underlined with dashes.

    docs (Iterable[Doc]): Documents.
    spans_key (str | None): Mentions are `doc.spans[spans_key]`; None for `doc.ents`.
    kb_url (str): Address of a concept, in which {} is its id; without it nothing is a link.
    kb (KnowledgeBase | None): Adds the names of its concepts.
    """
    labels: dict[str, int] = {}

    def colour(span: Span) -> str:
        return f"c{labels.setdefault(span.label_, len(labels)) % len(_HUES)}"

    def tag(span: Span, *, quoted: bool) -> dict[str, Any]:
        parts = [Markup("<bdi>“{}”</bdi>").format(span.text)] * quoted + [span.label_]
        parts += _concept(span, kb_url, kb) if is_linked(span) else []
        parts += attributes_of(span)
        return {"colour": colour(span), "parts": [part for part in parts if part]}

    shown = []
    for number, doc in enumerate(docs, 1):
        spans = spans_of(doc, spans_key)
        shown.append(
            {
                "title": str(doc.user_data.get("title") or f"Document {number}"),
                "mentions": len(spans),
                "linked": sum(map(is_linked, spans)),
                "lang": "" if doc.lang_ == "xx" else doc.lang_,
                "pieces": list(_pieces(doc.text, spans, colour, tag)),
            }
        )
    page = templates().get_template("linked.html")
    return page.render(title="Linked documents", docs=shown, hues=_HUES)


def _pieces(
    text: str,
    spans: Sequence[Span],
    colour: Callable[[Span], str],
    tag: Callable[..., dict[str, Any]],
) -> Iterator[dict[str, Any]]:
    """Yield the text, cut wherever a span begins or ends.

    Each piece has its text, the classes of its mark if it is in a span, and tags of the spans that
    end with it.
    """
    beginning: dict[int, list[Span]] = {}
    for span in spans:
        beginning.setdefault(span.start_char, []).append(span)
    cuts = sorted({0, len(text), *beginning, *(span.end_char for span in spans)})
    over: list[Span] = []
    for start, end in pairwise(cuts):
        over = [span for span in over if span.end_char > start] + beginning.get(start, [])
        classes = []
        if over:
            shortest = min(over, key=lambda span: span.end_char - span.start_char)
            classes = ["entity", colour(shortest)]
            classes += ["deep"] * (len(over) > 1) + ["unlinked"] * (not is_linked(shortest))
        tags = [
            tag(span, quoted=len(over) > 1 or span.start_char < start)
            for span in over
            if span.end_char == end
        ]
        yield {
            "text": text[start:end],
            "classes": " ".join(classes),
            "tags": [made for made in tags if made["parts"]],
        }


def _concept(span: Span, kb_url: str, kb: KnowledgeBase | None) -> list[str]:
    """Return id, name and score of the concept that a span is linked to."""
    concept_id = span.kb_id_
    shown = concept_id
    if kb_url:
        shown = Markup('<a href="{}">{}</a>').format(kb_url.format(concept_id), concept_id)
    concept = kb.cui_to_entity.get(concept_id) if kb is not None else None
    name = Markup("<bdi>{}</bdi>").format(concept.canonical_name) if concept is not None else ""
    scores = dict(span._.kb_ents or []) if span.has_extension("kb_ents") else {}
    score = f"{scores[concept_id]:.2f}" if concept_id in scores else ""
    return [shown, name, score]
