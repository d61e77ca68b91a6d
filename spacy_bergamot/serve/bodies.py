"""What requests and answers hold."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from spacy_bergamot.serve.limits import MOST_MENTION
from spacy_bergamot.serve.options import Body, Language, Options


class Place(Body):
    """A mention in a text: its first character and the one behind its last, in code points."""

    start: int = Field(ge=0)
    end: int = Field(ge=1)
    label: str = Field(default="", max_length=100, description="Of the entity, for types_by_label")

    @model_validator(mode="after")
    def _has_characters(self) -> "Place":
        if self.end <= self.start:
            raise ValueError("end must be greater than start")
        return self


class Document(Body):
    """A text. With mentions, these are linked; without, those that the pipeline finds."""

    text: str
    id: str | int | None = Field(default=None, description="Comes back with the answer")
    language: Language = None
    mentions: list[Place] | None = None


class LinkOptions(Options):
    """Options of documents."""

    language: Language = None
    candidates: bool = Field(default=False, description="Return every mention's candidates too")


class LinkRequest(LinkOptions):
    """One text, or documents."""

    text: str | None = None
    documents: list[Document] | None = None

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"text": "Der Patient hat Bluthochdruck und Fieber."}]},
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> "LinkRequest":
        if (self.text is None) == (self.documents is None):
            raise ValueError("give either text or documents")
        return self

    def asked(self) -> list[Document]:
        """Return the documents."""
        return self.documents if self.documents is not None else [Document(text=self.text or "")]


class Mention(Body):
    """A mention by itself, or in a context in which it stands."""

    text: str = Field(min_length=1, max_length=MOST_MENTION)
    context: str | None = Field(default=None, description="Text whose abbreviations are resolved")
    label: str = Field(default="", max_length=100)
    language: Language = None

    @model_validator(mode="after")
    def _is_in_its_context(self) -> "Mention":
        if self.context is not None and self.text not in self.context:
            raise ValueError("context does not contain text")
        return self


class MentionsRequest(Options):
    """Mentions, as strings or with what is known of them."""

    mentions: list[str | Mention] = Field(examples=[["HTA", "heart attack"]])
    language: Language = None


class ExplainRequest(Options):
    """A mention whose link is to be explained."""

    mention: str = Field(min_length=1, max_length=MOST_MENTION)
    context: str = Field(default="", description="Text that may define abbreviations")
    label: str = Field(default="", max_length=100)
    language: Language = None


class Problem(BaseModel):
    """What is wrong with one field of a request."""

    field: str
    message: str


class Failure(BaseModel):
    """Why a request was refused."""

    error: str
    fields: list[Problem] = []


class Candidate(BaseModel):
    """A concept proposed for a mention; `probability` where the linker is calibrated."""

    concept_id: str
    name: str
    types: list[str]
    score: float
    alias: str
    language: str
    source: str
    generator: str
    scores: dict[str, float]
    probability: float | None = None


class Entity(BaseModel):
    """A mention; `kb_id` is NIL where nothing fits, and `name` and `types` are missing then."""

    start: int
    end: int
    text: str
    label: str
    kb_id: str
    name: str | None = None
    types: list[str] | None = None
    attributes: list[str] | None = None
    kb_ents: list[tuple[str, float]]
    candidates: list[Candidate] | None = None


class Linked(BaseModel):
    """A document as `python -m spacy bergamot link` writes it, or why it could not be linked."""

    id: str | int | None = None
    text: str | None = None
    ents: list[Entity] = []
    bergamot: dict[str, Any] = Field(default={}, description="Where the links come from")
    error: str | None = None


class LinkAnswer(BaseModel):
    """The documents, in the order of the request."""

    documents: list[Linked]


class MentionsAnswer(BaseModel):
    """The mentions, in the order of the request."""

    mentions: list[Entity]


class Dropped(BaseModel):
    """A concept that was found and that a filter dropped."""

    concept_id: str
    name: str
    alias: str
    generator: str
    score: float
    reason: str


class Explanation(BaseModel):
    """How a mention is linked; `reason` says why it is NIL."""

    mention: str
    looked_up: str
    candidates: list[Candidate]
    dropped: list[Dropped]
    threshold: float | None
    min_probability: float | None
    decision: str
    reason: str


class Named(BaseModel):
    """Something with an id and a name."""

    id: str
    name: str


class Name(BaseModel):
    """A name of a concept, and the vocabularies that have it."""

    name: str
    sources: list[str]


class Concept(BaseModel):
    """All that is known of a concept. Of many children the first are given; `children_in_all`."""

    id: str
    name: str
    definition: str | None
    types: list[Named]
    groups: list[Named]
    names: dict[str, list[Name]] = Field(description="By language, as in MRCONSO.RRF")
    codes: dict[str, list[str]] = Field(description="By vocabulary")
    parents: list[Named]
    children: list[Named]
    children_in_all: int


class Found(BaseModel):
    """A concept that was searched for, by a name of it (`alias`) in a language."""

    id: str
    name: str
    types: list[str]
    alias: str
    language: str
    score: float


class SearchAnswer(BaseModel):
    """Concepts, best first."""

    concepts: list[Found]


class CodedAnswer(BaseModel):
    """Concepts that have a code."""

    concepts: list[Named]


class LanguageInfo(BaseModel):
    """A language, by MRCONSO.RRF's code and ISO 639-1's, and the names that are in it."""

    code: str
    iso: str
    name: str
    names: int


class Counted(BaseModel):
    """A semantic group or type, and the concepts of it; of a source, the names."""

    id: str
    name: str
    count: int


class Info(BaseModel):
    """What is served: pipeline, knowledge base, settings, and what a request may ask for."""

    pipeline: str
    version: str
    licence: str
    provenance: dict[str, Any]
    calibrated: bool
    settings: dict[str, float | int | None]
    languages: list[LanguageInfo]
    semantic_groups: list[Counted]
    semantic_types: list[Counted]
    sources: list[Counted]
    limits: dict[str, float | int]


class State(BaseModel):
    """Whether the service lives, or is ready."""

    status: str
