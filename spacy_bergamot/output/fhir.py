"""Linked documents as FHIR resources (R4 and R5)."""

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from spacy.tokens import Doc, Span

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.linking.spans import is_linked, spans_of
from spacy_bergamot.output.assertions import attributes_of
from spacy_bergamot.output.vocabularies import coding, reference

MENTION_URL = "urn:spacy-bergamot:mention"
"""URL of the extension that a mention is; in it are text, start and end (characters), label,
concept (CodeableConcept), score, every attribute (code), and verificationStatus (CodeableConcept)
where the attributes decide that of a Condition."""
ID_SYSTEM = "urn:spacy-bergamot:document"

_STATUS = "http://terminology.hl7.org/CodeSystem/condition-ver-status"
# Of the others none has a code: what is historical may last (clinicalStatus inactive would deny
# it), and what is the family's is no Condition of the patient.
_STATUS_BY_ATTRIBUTE = {"negated": "refuted", "uncertain": "unconfirmed"}


def to_fhir(
    doc: Doc,
    kb: KnowledgeBase,
    *,
    document_id: str | None = None,
    spans_key: str | None = None,
    systems: Mapping[str, str] | None = None,
    knowledge_base: str | None = None,
) -> dict[str, Any]:
    """Return a DocumentReference: the text attached, and every mention as an extension.

    No Condition is made of a mention: the text may deny it, or say it of somebody else. What a
    component has found of that is an attribute of the mention (`output.assertions`), and where a
    Condition would have a code for it, its verificationStatus: negated is refuted, uncertain is
    unconfirmed.

    kb (KnowledgeBase): What the document was linked to; says names and codes of concepts.
    document_id (str | None): Becomes the resource's identifier.
    spans_key (str | None): Mentions are `doc.spans[spans_key]`; None for `doc.ents`.
    systems (Mapping[str, str] | None): System URI by vocabulary, for those that
        `spacy_bergamot.output.vocabularies.SYSTEMS` has not, or has otherwise. Codes of a concept
        in vocabularies with a system become further codings.
    knowledge_base (str | None): Vocabulary of ids that do not say theirs.
    RETURNS (dict): The resource. A coding whose system is not known has none.
    RAISES (BergamotError): B100 for a concept that the knowledge base does not have.
    """
    mentions = [
        {
            "url": MENTION_URL,
            "extension": _facts(span, kb, systems=systems, knowledge_base=knowledge_base),
        }
        for span in spans_of(doc, spans_key)
    ]
    text = doc.text.encode("utf8")
    attachment: dict[str, Any] = {"contentType": "text/plain; charset=utf-8"}
    if text:
        attachment["data"] = b64encode(text).decode("ascii")
    resource: dict[str, Any] = {"resourceType": "DocumentReference"}
    if mentions:
        resource["extension"] = mentions
    if document_id:
        resource["identifier"] = [{"system": ID_SYSTEM, "value": document_id}]
    return {**resource, "status": "current", "content": [{"attachment": attachment}]}


def without_system(resource: dict[str, Any]) -> int:
    """Return the number of a resource's concepts whose vocabulary has no known system.

    resource (dict): What `to_fhir` returned.
    """
    facts = (fact for mention in resource.get("extension", ()) for fact in mention["extension"])
    concepts = (fact["valueCodeableConcept"] for fact in facts if fact["url"] == "concept")
    return sum("system" not in concept["coding"][0] for concept in concepts)


def codeable_concept(
    span: Span,
    kb: KnowledgeBase,
    *,
    systems: Mapping[str, str] | None = None,
    knowledge_base: str | None = None,
) -> dict[str, Any]:
    """Return a linked mention's CodeableConcept: the concept, then its codes elsewhere.

    The arguments are those of `to_fhir`.

    span (Span): The mention.
    kb (KnowledgeBase): What it was linked to.
    systems (Mapping[str, str] | None): System URI by vocabulary, as in `to_fhir`.
    knowledge_base (str | None): Vocabulary of ids that do not say theirs.
    RAISES (BergamotError): B100.
    """
    concept = kb.find(span.kb_id_)
    if concept is None:
        raise BergamotError(Errors.B100, concept_id=span.kb_id_, text=span.text)
    first = coding(
        *reference(concept.concept_id, kb, knowledge_base=knowledge_base), systems=systems
    )
    codings = [{**first, "display": concept.canonical_name}]
    for source, codes in concept.codes.items():
        found = (coding(source, code, systems=systems) for code in codes)
        codings += [other for other in found if "system" in other]
    distinct = {(c.get("system"), c["code"]): c for c in reversed(codings)}
    return {"coding": list(distinct.values())[::-1], "text": span.text}


def _facts(span: Span, kb: KnowledgeBase, **options: Any) -> list[dict[str, Any]]:
    """Return what is known of a mention as extensions."""
    facts: list[dict[str, Any]] = [
        {"url": "text", "valueString": span.text},
        {"url": "start", "valueUnsignedInt": span.start_char},
        {"url": "end", "valueUnsignedInt": span.end_char},
    ]
    if span.label_:
        facts.append({"url": "label", "valueString": span.label_})
    if is_linked(span):
        concept = codeable_concept(span, kb, **options)
        facts.append({"url": "concept", "valueCodeableConcept": concept})
        scores = dict(span._.kb_ents or []) if span.has_extension("kb_ents") else {}
        if span.kb_id_ in scores:
            facts.append({"url": "score", "valueDecimal": round(float(scores[span.kb_id_]), 6)})
    return facts + _said(attributes_of(span))


def _said(attributes: list[str]) -> list[dict[str, Any]]:
    """Return what the text says of a mention as extensions."""
    facts: list[dict[str, Any]] = [{"url": "attribute", "valueCode": name} for name in attributes]
    codes = [code for name, code in _STATUS_BY_ATTRIBUTE.items() if name in attributes]
    if codes:
        concept = {"coding": [{"system": _STATUS, "code": codes[0]}]}
        facts.append({"url": "verificationStatus", "valueCodeableConcept": concept})
    return facts
