"""Linked documents as JSON, BRAT, BigBIO, FHIR, HTML, displaCy; kb ids kept, unlike `to_json`."""

import re
from html import escape
from itertools import count
from typing import Any

from spacy.tokens import Doc

from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.linking.spans import is_linked, spans_of
from spacy_bergamot.output.assertions import attributes_of
from spacy_bergamot.output.fhir import to_fhir as to_fhir
from spacy_bergamot.output.html_page import to_html as to_html
from spacy_bergamot.output.vocabularies import reference

_NO_NAME = "KB"  # of a knowledge base that nothing names


def to_dict(
    doc: Doc,
    *,
    spans_key: str | None = None,
    candidates: bool = False,
    kb: KnowledgeBase | None = None,
) -> dict[str, Any]:
    """Return text, entities with offsets in characters, label, concept and score; provenance.

    An entity of which the text says something has it as "attributes": see
    `spacy_bergamot.output.assertions`.

    spans_key (str | None): Entities are `doc.spans[spans_key]`; None for `doc.ents`.
    candidates (bool): With every entity's candidates.
    kb (KnowledgeBase | None): Adds name and semantic types of every linked concept that it has.
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
        known = kb.name_and_types(span.kb_id_) if kb is not None and is_linked(span) else None
        if known is not None:
            entry |= dict(zip(("name", "types"), known, strict=True))
        if attributes := attributes_of(span):
            entry["attributes"] = attributes
        if span.has_extension("kb_ents"):
            entry["kb_ents"] = [list(pair) for pair in span._.kb_ents or []]
        if candidates and span.has_extension("candidates"):
            entry["candidates"] = span._.candidates or []
        entities.append(entry)
    found: dict[str, Any] = {"text": doc.text, "ents": entities}
    if doc.has_extension("bergamot") and doc._.bergamot:
        found["bergamot"] = doc._.bergamot
    return found


def to_brat(doc: Doc, *, spans_key: str | None = None, knowledge_base: str | None = None) -> str:
    """Return an .ann file: text-bound annotations, their attributes, normalisations of links.

    An entity over several lines is written as fragments, as BRAT wants it.

    spans_key (str | None): Entities are `doc.spans[spans_key]`; None for `doc.ents`.
    knowledge_base (str | None): Name of the knowledge base, for ids that do not say theirs; KB
        where not given.
    """
    lines: list[str] = []
    attributes = count(1)
    for number, span in enumerate(spans_of(doc, spans_key), 1):
        parts = list(re.finditer(r"[^\r\n]+", span.text))
        if not parts:
            continue
        start = span.start_char
        offsets = ";".join(f"{start + part.start()} {start + part.end()}" for part in parts)
        text = " ".join(part[0] for part in parts).replace("\t", " ")
        label = re.sub(r"[^\w-]", "_", span.label_ or "Entity")
        lines.append(f"T{number}\t{label} {offsets}\t{text}")
        for name in attributes_of(span):
            lines.append(f"A{next(attributes)}\t{name.capitalize()} T{number}")
        if is_linked(span):
            name, code = reference(span.kb_id_, knowledge_base=knowledge_base)
            target = f"{name or _NO_NAME}:{code}".replace(" ", "_")
            lines.append(f"N{number}\tReference T{number} {target}\t{text}")
    return "".join(line + "\n" for line in lines)


def to_bigbio(
    doc: Doc,
    document_id: str,
    *,
    spans_key: str | None = None,
    knowledge_base: str | None = None,
    kb: KnowledgeBase | None = None,
    unique_id: str | None = None,
) -> dict[str, Any]:
    """Return a record of BigBIO's knowledge base schema.

    document_id (str): Id of the document.
    spans_key (str | None): Entities are `doc.spans[spans_key]`; None for `doc.ents`.
    knowledge_base (str | None): `db_name` of ids that do not say theirs.
    kb (KnowledgeBase | None): Says its name where `knowledge_base` does not.
    unique_id (str | None): Id of the record, which BigBIO wants to be unique in a data set;
        `document_id` where not given.
    """
    record = unique_id if unique_id is not None else document_id
    entities = []
    for number, span in enumerate(spans_of(doc, spans_key), 1):
        normalized = []
        if is_linked(span):
            name, code = reference(span.kb_id_, kb, knowledge_base=knowledge_base)
            normalized.append({"db_name": name or _NO_NAME, "db_id": code})
        entities.append(
            {
                "id": f"{record}_T{number}",
                "type": span.label_,
                "text": [span.text],
                "offsets": [[span.start_char, span.end_char]],
                "normalized": normalized,
            }
        )
    whole = {"type": "text", "text": [doc.text], "offsets": [[0, len(doc.text)]]}
    return {
        "id": record,
        "document_id": document_id,
        "passages": [{"id": f"{record}_text", **whole}],
        "entities": entities,
        "events": [],
        "coreferences": [],
        "relations": [],
    }


def to_displacy(doc: Doc, *, spans_key: str | None = None, kb_url: str = "") -> dict[str, Any]:
    """Return what `displacy.render(…, manual=True)` draws: style "ent", or "span" of a group.

    displaCy escapes the text alone, so labels and ids are escaped here.

    doc (Doc): The document.
    spans_key (str | None): Mentions are `doc.spans[spans_key]`; None for `doc.ents`.
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
