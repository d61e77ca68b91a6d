"""Linked documents: from spaCy DocBins, from corpora, and by a pipeline's own hand."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from training.corpora.schema import Corpus
from training.errors import BergamotError, Errors
from training.evaluate.spans import NIL, Link

if TYPE_CHECKING:
    from spacy.tokens import Doc

Linked = tuple[str, list[Link]]
"""A document's text and its links."""


def read_documents(path: Path, *, spans_key: str | None = None) -> list[Linked]:
    """Read a corpus folder or a `.spacy` file.

    A mention of several concepts is a link each; a discontinuous one reaches from its first
    character to its last; one without a concept is NIL.

    spans_key (str | None): Links of `doc.spans[spans_key]`, else of `doc.ents`. Mentions without a
        kb id are left out: nobody tried to link them.
    RAISES (BergamotError): T301 for a missing file, T145 for one that is no DocBin.
    """
    if (path / "mentions.arrow").is_file():
        return _read_corpus(path)
    import spacy
    from spacy.tokens import DocBin

    if path.is_dir():
        raise BergamotError(Errors.T256.format(path=path))
    if not path.is_file():
        raise BergamotError(Errors.T301.format(path=path))
    try:
        docs = list(DocBin().from_disk(path).get_docs(spacy.blank("xx").vocab))
    except Exception as reason:  # zlib, msgpack and spaCy each raise their own
        raise BergamotError(Errors.T145.format(path=path, reason=reason)) from None
    return [(doc.text, _links(doc, spans_key)) for doc in docs]


def link_documents(
    pipeline: str, texts: Sequence[str], *, spans_key: str | None = None
) -> list[Linked]:
    """Run a spaCy pipeline, a folder or a package, over texts.

    RAISES (BergamotError): B046 if there is none of that name.
    """
    from spacy_bergamot.pipelines import load_pipeline

    return [(doc.text, _links(doc, spans_key)) for doc in load_pipeline(pipeline).pipe(texts)]


def _links(doc: "Doc", spans_key: str | None) -> list[Link]:
    spans = doc.spans.get(spans_key, []) if spans_key else doc.ents
    return [Link(span.start_char, span.end_char, span.kb_id_) for span in spans if span.kb_id_]


def _read_corpus(path: Path) -> list[Linked]:
    corpus = Corpus.open(path)
    links: dict[str, list[Link]] = {}
    for row in corpus.mentions.to_pylist():
        start, end = min(row["starts"]), max(row["ends"])
        found = [Link(start, end, concept) for concept in row["concepts"] or [NIL]]
        links.setdefault(row["document"], []).extend(found)
    return [(row["text"], links.get(row["document"], [])) for row in corpus.documents.to_pylist()]
