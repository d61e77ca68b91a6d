"""Linked documents as JSON, BRAT, BigBIO, FHIR, HTML, displaCy; kb ids kept, unlike `to_json`."""

from html import escape
from typing import Any

from spacy.tokens import Doc

from spacy_bergamot.html_page import to_html as to_html
from spacy_bergamot.kb import KnowledgeBase
from spacy_bergamot.spans import is_linked, spans_of

UMLS_SYSTEM = "http://www.nlm.nih.gov/research/umls"


def to_dict(doc: Doc, *, spans_key: str | None = None, candidates: bool = False) -> dict[str, Any]:
    """Return text, entities with offsets in characters, label, concept and score; provenance.

    candidates (bool): With every entity's candidates.
    """
    entities = []
    for span in spans_of(doc, spans_key):
        entry: dict[str, Any] = {
            "start": span.start_char,
            "end": span.end_char,
            "text": span.text,
            "label": span.label_,
            "kb_id": span.kb_id_,
        }
        if span.has_extension("kb_ents"):
            entry["kb_ents"] = [list(pair) for pair in span._.kb_ents or []]
        if candidates and span.has_extension("candidates"):
            entry["candidates"] = span._.candidates or []
        entities.append(entry)
    found: dict[str, Any] = {"text": doc.text, "ents": entities}
    if doc.has_extension("bergamot") and doc._.bergamot:
        found["bergamot"] = doc._.bergamot
    return found


def to_brat(doc: Doc, *, spans_key: str | None = None, knowledge_base: str = "KB") -> str:
    """Return an .ann file: text-bound annotations and normalisations of what is linked.

    An entity over several lines is written as fragments, as BRAT wants it.
    """
    lines = []
    for number, span in enumerate(spans_of(doc, spans_key), 1):
        offsets, position = [], span.start_char
        for part in span.text.split("\n"):
            if part:
                offsets.append(f"{position} {position + len(part)}")
            position += len(part) + 1
        text = " ".join(part for part in span.text.split("\n") if part)
        label = (span.label_ or "Entity").replace(" ", "_")
        lines.append(f"T{number}\t{label} {';'.join(offsets)}\t{text}")
        if is_linked(span):
            lines.append(f"N{number}\tReference T{number} {knowledge_base}:{span.kb_id_}\t{text}")
    return "".join(line + "\n" for line in lines)


def to_bigbio(
    doc: Doc, document_id: str, *, spans_key: str | None = None, knowledge_base: str = "UMLS"
) -> dict[str, Any]:
    """Return a record of BigBIO's knowledge base schema."""
    whole = {"type": "text", "text": [doc.text], "offsets": [[0, len(doc.text)]]}
    entities = [
        {
            "id": f"{document_id}_T{number}",
            "type": span.label_,
            "text": [span.text],
            "offsets": [[span.start_char, span.end_char]],
            "normalized": [{"db_name": knowledge_base, "db_id": span.kb_id_}]
            if is_linked(span)
            else [],
        }
        for number, span in enumerate(spans_of(doc, spans_key), 1)
    ]
    return {
        "id": document_id,
        "document_id": document_id,
        "passages": [{"id": f"{document_id}_text", **whole}],
        "entities": entities,
        "events": [],
        "coreferences": [],
        "relations": [],
    }


def to_displacy(doc: Doc, *, spans_key: str | None = None, kb_url: str = "") -> dict[str, Any]:
    """Return what `displacy.render(…, manual=True)` draws: style "ent", or "span" of a group.

    displaCy escapes the text alone, so labels and ids are escaped here.
    kb_url (str): Address of a concept, in which {} is its id; without it nothing is a link.
    """
    marks = []
    for span in spans_of(doc, spans_key):
        concept = escape(span.kb_id_) if is_linked(span) else ""
        mark: dict[str, Any] = {
            "start": span.start_char,
            "end": span.end_char,
            "label": escape(span.label_),
            "kb_id": concept,
            "kb_url": escape(kb_url.format(span.kb_id_)) if kb_url and concept else "#",
        }
        if spans_key is not None:
            mark |= {"start_token": span.start, "end_token": span.end}
        marks.append(mark)
    if spans_key is None:
        return {"text": doc.text, "ents": marks, "title": None}
    tokens = [token.text for token in doc]
    return {"text": doc.text, "spans": marks, "tokens": tokens, "title": None}


def to_fhir(
    doc: Doc,
    kb: KnowledgeBase,
    *,
    spans_key: str | None = None,
    systems: dict[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Return a FHIR CodeableConcept for every linked entity.

    systems (dict[str, str]): Source vocabulary → system URI; its codes are added to the CUI.
    """
    concepts = []
    for span in spans_of(doc, spans_key):
        if not is_linked(span):
            continue
        entity = kb.cui_to_entity[span.kb_id_]
        codings = [
            {"system": UMLS_SYSTEM, "code": entity.concept_id, "display": entity.canonical_name}
        ]
        for source, system in (systems or {}).items():
            codings += [
                {"system": system, "code": code} for code in kb.codes(entity.concept_id, source)
            ]
        concepts.append({"coding": codings, "text": span.text})
    return concepts
