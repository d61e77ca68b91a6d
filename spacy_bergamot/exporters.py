"""Linked documents as JSON, BRAT standoff and FHIR codings; kb ids kept, unlike `Doc.to_json`."""

from typing import Any

from spacy.pipeline import EntityLinker
from spacy.tokens import Doc, Span

from spacy_bergamot.kb import KnowledgeBase

UMLS_SYSTEM = "http://www.nlm.nih.gov/research/umls"


def mentions_of(doc: Doc, spans_key: str | None = None) -> list[Span]:
    """Return the entities, or the spans of a group."""
    return list(doc.ents if spans_key is None else doc.spans.get(spans_key, []))


def to_dict(doc: Doc, *, spans_key: str | None = None, candidates: bool = False) -> dict[str, Any]:
    """Return text, entities with offsets in characters, label, concept and score; provenance.

    candidates (bool): With every entity's candidates.
    """
    entities = []
    for span in mentions_of(doc, spans_key):
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
    for number, span in enumerate(mentions_of(doc, spans_key), 1):
        offsets, position = [], span.start_char
        for part in span.text.split("\n"):
            if part:
                offsets.append(f"{position} {position + len(part)}")
            position += len(part) + 1
        text = " ".join(part for part in span.text.split("\n") if part)
        label = (span.label_ or "Entity").replace(" ", "_")
        lines.append(f"T{number}\t{label} {';'.join(offsets)}\t{text}")
        if span.kb_id_ and span.kb_id_ != EntityLinker.NIL:
            lines.append(f"N{number}\tReference T{number} {knowledge_base}:{span.kb_id_}\t{text}")
    return "".join(line + "\n" for line in lines)


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
    for span in mentions_of(doc, spans_key):
        if not span.kb_id_ or span.kb_id_ == EntityLinker.NIL:
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
