"""Linked documents as one HTML page that fetches nothing and runs nothing."""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import pairwise

from spacy.tokens import Doc, Span

from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.linking.spans import is_linked, spans_of
from spacy_bergamot.output.assertions import attributes_of

_HUES = (210, 25, 150, 300, 50, 180, 265, 345)
_STYLE = """
:root { color-scheme: light dark; --text: #1b1b1b; --ground: #fff; --quiet: #555;
        --mark: 88%; --deep: 76%; --edge: 32%; }
@media screen and (prefers-color-scheme: dark) {
  :root { --text: #e4e4e4; --ground: #161616; --quiet: #aaa; --mark: 20%; --deep: 26%;
          --edge: 72%; }
}
body { font: 16px/2 "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif;
       max-width: 60em; margin: 2em auto; padding: 0 1em; color: var(--text);
       background: var(--ground); overflow-wrap: anywhere; }
h1, h2 { line-height: 1.2; }
h2 { font-size: 1em; color: var(--quiet); margin: 2.5em 0 .5em; break-after: avoid; }
p { margin: 0; white-space: pre-wrap; unicode-bidi: plaintext; }
mark, .tag { color: inherit; border-radius: .2em; }
mark { background: hsl(var(--hue) 55% var(--mark)); padding: .1em 0;
       border-bottom: 2px solid hsl(var(--hue) 60% var(--edge)); }
mark.deep { background: hsl(var(--hue) 55% var(--deep)); }
mark.unlinked { border-bottom-style: dashed; }
.tag { font-size: .75em; margin: 0 .15em 0 .3em; padding: .1em .35em; white-space: normal;
       border: 1px solid hsl(var(--hue) 60% var(--edge)); }
.tag a { color: inherit; }
""" + "\n".join(f".c{number} {{ --hue: {hue}; }}" for number, hue in enumerate(_HUES))


def to_html(
    docs: Iterable[Doc],
    *,
    spans_key: str | None = None,
    kb_url: str = "",
    kb: KnowledgeBase | None = None,
) -> str:
    """Return a page of texts with their mentions marked; behind each its label, concept and score,
    and what the text says of it, such as negated.

    Where spans of a group overlap, what is said of a span repeats its text. The direction of
    writing follows the text. A mention that is not linked is underlined with dashes.
    kb_url (str): Address of a concept, in which {} is its id; without it nothing is a link.
    kb (KnowledgeBase | None): Adds the names of its concepts.
    """
    labels: dict[str, int] = {}

    def kind(span: Span) -> str:
        return f"c{labels.setdefault(span.label_, len(labels)) % len(_HUES)}"

    def tag(span: Span, *, quoted: bool) -> str:
        parts = [f"<bdi>“{escape(span.text)}”</bdi>"] * quoted + [escape(span.label_)]
        parts += _concept(span, kb_url, kb) if is_linked(span) else []
        parts += attributes_of(span)
        said = " · ".join(part for part in parts if part)
        return f'<span class="tag {kind(span)}" dir="ltr">{said}</span>' if said else ""

    articles = []
    for number, doc in enumerate(docs, 1):
        spans = spans_of(doc, spans_key)
        title = str(doc.user_data.get("title") or f"Document {number}")
        linked = sum(map(is_linked, spans))
        lang = f' lang="{escape(doc.lang_)}"' if doc.lang_ not in ("", "xx") else ""
        articles.append(
            f'<article id="doc-{number}">\n'
            f"<h2><bdi>{escape(title)}</bdi> (mentions: {len(spans)}, linked: {linked})</h2>\n"
            f'<p class="entities" dir="auto"{lang}>{_marked(doc.text, spans, kind, tag)}</p>\n'
            "</article>\n"
        )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>Linked documents</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>Linked documents</h1>\n<main>\n{''.join(articles)}</main>\n</body>\n</html>\n"
    )


def _marked(
    text: str, spans: Sequence[Span], kind: Callable[[Span], str], tag: Callable[..., str]
) -> str:
    """Return the text, cut wherever a span begins or ends, and behind each span its tag."""
    beginning: dict[int, list[Span]] = {}
    for span in spans:
        beginning.setdefault(span.start_char, []).append(span)
    cuts = sorted({0, len(text), *beginning, *(span.end_char for span in spans)})
    parts: list[str] = []
    over: list[Span] = []
    for start, end in pairwise(cuts):
        over = [span for span in over if span.end_char > start] + beginning.get(start, [])
        piece = escape(text[start:end])
        if over:
            shortest = min(over, key=lambda span: span.end_char - span.start_char)
            classes = ["entity", kind(shortest)]
            classes += ["deep"] * (len(over) > 1) + ["unlinked"] * (not is_linked(shortest))
            piece = f'<mark class="{" ".join(classes)}">{piece}</mark>'
        parts.append(piece)
        for span in over:
            if span.end_char == end:
                parts.append(tag(span, quoted=len(over) > 1 or span.start_char < start))
    return "".join(parts)


def _concept(span: Span, kb_url: str, kb: KnowledgeBase | None) -> list[str]:
    """Return id, name and score of the concept that a span is linked to, as HTML."""
    concept_id = span.kb_id_
    shown = escape(concept_id)
    if kb_url:
        shown = f'<a href="{escape(kb_url.format(concept_id))}">{shown}</a>'
    concept = kb.cui_to_entity.get(concept_id) if kb is not None else None
    name = f"<bdi>{escape(concept.canonical_name)}</bdi>" if concept is not None else ""
    scores = dict(span._.kb_ents or []) if span.has_extension("kb_ents") else {}
    score = f"{scores[concept_id]:.2f}" if concept_id in scores else ""
    return [shown, name, score]
