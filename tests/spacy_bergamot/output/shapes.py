"""Linked documents, and what is written of them, read back: FHIR's resources (R4), the page."""

from html.parser import HTMLParser
from typing import Any, Literal

import spacy
from pydantic import BaseModel, ConfigDict, Field
from spacy.tokens import Doc, Span


class Strict(BaseModel):
    """Part of a FHIR resource, R4: nothing but these elements."""

    model_config = ConfigDict(extra="forbid", strict=True)


STRING = Field(min_length=1)


class Coding(Strict):
    system: str | None = Field(None, pattern=r"^\S+:\S+$")
    code: str = Field(pattern=r"^\S+( \S+)*$")
    display: str | None = Field(None, min_length=1)


class CodeableConcept(Strict):
    coding: list[Coding] = Field(min_length=1)
    text: str | None = Field(None, min_length=1)


class Extension(Strict):
    url: str = STRING
    extension: "list[Extension] | None" = Field(None, min_length=1)
    valueString: str | None = Field(None, min_length=1)
    valueUnsignedInt: int | None = Field(None, ge=0)
    valueDecimal: float | None = None
    valueCode: str | None = Field(None, pattern=r"^\S+( \S+)*$")
    valueCodeableConcept: CodeableConcept | None = None

    def model_post_init(self, _: Any) -> None:
        values = self.model_dump(exclude_none=True).keys() - {"url"}
        assert len(values) == 1, "an extension has one value, or extensions"


class Attachment(Strict):
    contentType: str = STRING
    data: str | None = Field(None, pattern=r"^[A-Za-z0-9+/]+=*$")


class Content(Strict):
    attachment: Attachment


class Identifier(Strict):
    system: str = Field(pattern=r"^\S+:\S+$")
    value: str = STRING


class DocumentReference(Strict):
    resourceType: Literal["DocumentReference"]
    extension: list[Extension] | None = Field(None, min_length=1)
    identifier: list[Identifier] | None = Field(None, min_length=1)
    status: Literal["current", "superseded", "entered-in-error"]
    content: list[Content] = Field(min_length=1)


def facts_of(mention: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a mention's extensions by their names."""
    return {part["url"]: next(v for k, v in part.items() if k != "url")
            for part in mention["extension"]}  # fmt: skip


class Page(HTMLParser):
    """Keeps elements, the text of paragraphs without tags, and each tag's text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[tuple[str, str | None]] = []
        self.text = ""
        self.tags: list[str] = []
        self.marks: list[tuple[str, str]] = []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        kind = str(attributes.get("class", ""))
        if tag != "meta":
            self.open.append((tag, kind))
        if kind.startswith("tag"):
            self.tags.append("")
        if tag == "mark":
            self.marks.append(("", kind))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        kinds = [str(kind) for _, kind in self.open]
        if any(kind.startswith("tag") for kind in kinds):
            self.tags[-1] += data
        elif "entities" in kinds:
            self.text += data
            if self.open[-1][0] == "mark":
                self.marks[-1] = (self.marks[-1][0] + data, self.marks[-1][1])


def linked_to(*concept_ids: str) -> Doc:
    """Return a document whose words are linked to concepts."""
    doc = spacy.blank("xx")("word " * len(concept_ids))
    doc.set_ents([Span(doc, n, n + 1, label="DISO", kb_id=of) for n, of in enumerate(concept_ids)])
    return doc
