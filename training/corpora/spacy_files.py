"""A corpus as spaCy's binary training data."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy_bergamot.hashing import string_keys
from spacy_bergamot.storage.files import atomic_file
from training.corpora.schema import Corpus
from training.errors import BergamotError, Errors
from training.preprocess.hashing import uniform

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

    from spacy_bergamot.kb.concept_table import ConceptTable

LABEL = "MENTION"  # of mentions without a type
GOLD = "gold"


def write_docbin(
    corpus: Corpus,
    path: Path,
    *,
    dev: Path | None = None,
    share: float = 0.0,
    label: str | None = None,
    concepts: "ConceptTable | None" = None,
) -> str:
    """Write the documents as a DocBin; return a line that says what is in it.

    `doc.spans["gold"]` has every mention that has offsets, `doc.ents` the longest that neither
    overlap nor have gaps. A mention's kb_id is its concept; several are joined by | where any of
    them is right, by + where they are right together; NIL where there is none. In scripts without
    spaces tokens are split where mentions end; elsewhere mentions are widened to whole tokens.

    dev (Path | None), share (float): Another DocBin for this share of the documents, drawn by a
        hash of their ids.
    label (str | None): One for all mentions instead of their types.
    concepts (ConceptTable | None): Gives a mention without a type the group of its concept.
    RAISES (BergamotError): T126 if there is no document, or none for one of the files.
    """
    import spacy
    from spacy.tokens import DocBin

    counts: Counter[str] = Counter()
    nlp = spacy.blank("xx")
    mentions: dict[str, list[dict[str, Any]]] = {}
    for row in corpus.mentions.to_pylist():
        mentions.setdefault(row["document"], []).append(row)
    ids = corpus.documents["document"].combine_chunks()
    held = uniform(string_keys(ids.to_pylist())) < (share if dev else 0.0)
    bins = {target: DocBin(store_user_data=True) for target in (path, dev) if target}
    for row, is_dev in zip(corpus.documents.to_pylist(), held, strict=True):
        doc = nlp.make_doc(row["text"])
        doc.user_data["document"], doc.user_data["language"] = row["document"], row["language"]
        rows = mentions.pop(row["document"], [])
        labels = [label or of["type"] or _group(of, concepts) or LABEL for of in rows]
        doc = _annotated(doc, rows, labels, counts)
        bins[dev if is_dev and dev else path].add(doc)
    for target, docs in bins.items():
        if not len(docs):
            raise BergamotError(Errors.T126, path=target, name=corpus.name)
        with atomic_file(target) as temporary:
            temporary.write_bytes(docs.to_bytes())
        counts[f"documents in {target.name}"] = len(docs)
    counts["without offsets, left out"] = sum(map(len, mentions.values()))
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count)


def _annotated(
    doc: "Doc", mentions: Sequence[dict[str, Any]], labels: Sequence[str], counts: Counter[str]
) -> "Doc":
    from spacy.util import filter_spans

    from spacy_bergamot.mentions import Place, exact_spans

    group: list[Span] = []
    whole: list[Span] = []
    rows = [row for row in mentions if row["starts"]]
    counts["without offsets, left out"] += len(mentions) - len(rows)
    places = [
        Place(min(row["starts"]), max(row["ends"]), label, kb_id_of(row))
        for row, label in zip(mentions, labels, strict=True)
        if row["starts"]
    ]
    doc, spans = exact_spans(doc, places)
    for row, place, span in zip(rows, places, spans, strict=True):
        if span is None:
            counts["in no token, left out"] += 1
            continue
        counts["widened to whole tokens"] += (span.start_char, span.end_char) != place[:2]
        group.append(span)
        if len(row["starts"]) == 1:
            whole.append(span)
    doc.spans[GOLD] = group
    ents = filter_spans(whole)
    doc.set_ents(ents, default="outside")
    counts["mentions"] += len(group)
    counts["entities"] += len(ents)
    counts["discontinuous, no entities"] += len(group) - len(whole)
    counts["overlapping, no entities"] += len(whole) - len(ents)
    return doc


def _group(row: dict[str, Any], concepts: "ConceptTable | None") -> str:
    """Return the semantic group of a mention's first concept; nothing where it has none."""
    if concepts is None or not row["concepts"]:
        return ""
    found = concepts.find(row["concepts"][0])
    return concepts.group(found) if found is not None else ""


def kb_id_of(row: dict[str, Any]) -> str:
    """Return the gold concepts of a mention as one string."""
    return ("+" if row["all_of"] else "|").join(row["concepts"]) or "NIL"
