"""Linked documents: from spaCy DocBins, from corpora, and by a pipeline's own hand."""

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from spacy_bergamot.languages import lat
from training.corpora.schema import Corpus
from training.corpora.spacy_files import kb_id_of
from training.errors import BergamotError, Errors
from training.evaluate.spans import Link

if TYPE_CHECKING:
    from spacy.tokens import Doc


class Linked(NamedTuple):
    """A document: its text, its links, the label of each, and its language; empty if not said."""

    text: str
    links: list[Link]
    labels: list[str]
    language: str


def read_documents(path: Path, *, spans_key: str | None = None) -> list[Linked]:
    """Read a corpus folder or a `.spacy` file.

    A mention of several concepts that are right together is a link each; a discontinuous one
    reaches from its first character to its last; one without a concept is NIL.

    spans_key (str | None): Links of `doc.spans[spans_key]`, else of `doc.ents`. Mentions without a
        kb id are left out: nobody tried to link them.
    RAISES (BergamotError): B001 for a missing file, B002 for one that is no DocBin, T296 for one
        without documents.
    """
    whole = (path / "mentions.arrow").is_file()
    documents = _read_corpus(path) if whole else _read_docbin(path, spans_key)
    if not documents:
        what, remedy = "document with a text to find mentions in", "Give another corpus."
        raise BergamotError(Errors.T296, path=path, what=what, remedy=remedy)
    return documents


def _read_docbin(path: Path, spans_key: str | None) -> list[Linked]:
    from spacy.vocab import Vocab

    from spacy_bergamot.annotate.sources import docs_of

    return [linked(doc, spans_key) for doc in docs_of(path, Vocab())]


def link_documents(
    pipeline: str, texts: Sequence[str], *, spans_key: str | None = None
) -> list[Linked]:
    """Run a spaCy pipeline, a folder or a package, over texts.

    RAISES (BergamotError): B046 if there is none of that name.
    """
    from spacy_bergamot.pipeline.pipelines import load_pipeline

    return [linked(doc, spans_key) for doc in load_pipeline(pipeline).pipe(texts)]


def of_labels(
    documents: Sequence[Linked], labels: Collection[str]
) -> tuple[list[Linked], Counter[str]]:
    """Return the documents with the links of some labels, and how many of others were left out.

    A label may be several types, joined by commas; one of them is enough.
    """
    kept, left_out = [], Counter[str]()
    for document in documents:
        pairs = list(zip(document.links, document.labels, strict=True))
        chosen = [(link, of) for link, of in pairs if not set(of.split(",")).isdisjoint(labels)]
        left_out += Counter(document.labels) - Counter(of for _, of in chosen)
        links, names = [link for link, _ in chosen], [of for _, of in chosen]
        kept.append(document._replace(links=links, labels=names))
    return kept, left_out


def linked(doc: "Doc", spans_key: str | None = None) -> Linked:
    """Return a spaCy document's links, of `doc.spans[spans_key]` or else of `doc.ents`."""
    spans = doc.spans.get(spans_key, []) if spans_key else doc.ents
    found = [
        (Link(span.start_char, span.end_char, concept), span.label_)
        for span in spans
        if span.kb_id_
        for concept in span.kb_id_.split("+")
    ]
    language = doc.user_data.get("language") or ""
    known = lat(language) if isinstance(language, str) else ""
    return Linked(doc.text, [link for link, _ in found], [label for _, label in found], known)


def _read_corpus(path: Path) -> list[Linked]:
    corpus = Corpus.open(path)
    documents = {
        row["document"]: Linked(row["text"], [], [], row["language"])
        for row in corpus.documents.to_pylist()
    }
    for row in corpus.mentions.to_pylist():
        document = documents.get(row["document"])
        if document is None or not row["starts"]:  # a mention without a text
            continue
        start, end = min(row["starts"]), max(row["ends"])
        for concept in kb_id_of(row).split("+"):
            document.links.append(Link(start, end, concept))
            document.labels.append(row["type"])
    return list(documents.values())
