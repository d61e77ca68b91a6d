"""What the tools of the MCP server take and answer. Answers leave out what is None."""

import json
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from spacy_bergamot.serve.limits import MOST_MENTION

_MOST = 100
NIL = "No concept of the knowledge base fits."
NO_CODE = "The concept has no code in this vocabulary."
NO_CONCEPT = "No concept of the knowledge base has this id."
NOT_CODED = "No concept of the knowledge base has this code."


def _unquoted(value: Any) -> Any:
    """Return a list that a client has sent as a string of JSON, as some do."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


Strings = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=200)]],
    Field(max_length=_MOST),
    BeforeValidator(_unquoted),
]
Given = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=MOST_MENTION)]],
    Field(min_length=1, max_length=_MOST),
    BeforeValidator(_unquoted),
]
Language = Annotated[
    str | None, Field(max_length=20, description="ISO 639-1 code of the text; guessed if left out")
]
Groups = Annotated[
    Strings,
    Field(description="Only concepts of these semantic groups, such as DISO; all if left out"),
]


class Arguments(BaseModel):
    """Of a tool. Anything else is refused, so that no misspelt argument is ignored."""

    model_config = ConfigDict(extra="forbid")


class LinkText(Arguments):
    """Find the mentions of concepts in a clinical text, in any language, and link them.

    Every mention has the concept that it means, or `nil` where no concept of the knowledge base
    fits: then report that, and do not write an id of your own. `attributes` say what the text says
    of a mention, such as negated, if the pipeline marks it; if not, read it in the text.
    """

    text: str = Field(min_length=1, description="The text, as it stands")
    language: Language = None
    semantic_groups: Groups = []


class LinkMentions(Arguments):
    """Link mentions that are given, such as words of a table or of a text, to concepts.

    `candidates` are shown best first, those of a mention with `nil` too: they were not likely
    enough.
    """

    mentions: Given
    context: str | None = Field(
        default=None, description="Text with all the mentions, whose abbreviations are resolved"
    )
    language: Language = None
    semantic_groups: Groups = []
    k: int = Field(default=5, ge=1, le=20, description="Candidates of a mention")

    @model_validator(mode="after")
    def _are_in_their_context(self) -> "LinkMentions":
        for number, mention in enumerate(self.mentions):
            if self.context is not None and mention not in self.context:
                raise ValueError(f"context does not contain mentions.{number}")
        return self


class SearchConcepts(Arguments):
    """Search concepts by id, by name in any language, by its beginning, or by a similar name."""

    query: str = Field(min_length=1, max_length=1000)
    limit: int = Field(default=10, ge=1, le=50)


class GetConcept(Arguments):
    """Show a concept: definition, semantic types, names, codes, parents, children."""

    concept_id: str = Field(min_length=1, max_length=200)
    languages: Strings = Field(
        default=[],
        description="ISO 639-1 codes of the names that are shown; if left out, one name a language",
    )


class MapCodes(Arguments):
    """Map concepts to their codes in a vocabulary, or codes of a vocabulary to their concepts."""

    vocabulary: str = Field(max_length=100, description="Such as ICD10CM")
    concept_ids: Strings = []
    codes: Strings = []

    @model_validator(mode="after")
    def _asks_for_something(self) -> "MapCodes":
        if not self.concept_ids and not self.codes:
            raise ValueError("give concept_ids, or codes")
        return self


class Named(BaseModel):
    """A concept by id and name."""

    id: str
    name: str


class Concept(Named):
    """A concept with its semantic types."""

    types: list[str]


class Candidate(Concept):
    """A concept proposed for a mention, by one of its names."""

    alias: str
    language: str
    score: float
    probability: float | None = None


class Mention(BaseModel):
    """A mention with its concept, or `nil`. Offsets count Unicode code points of the text."""

    text: str
    start: int | None = None
    end: int | None = None
    attributes: list[str] | None = Field(default=None, description="Such as negated")
    concept: Concept | None = None
    score: float | None = None
    probability: float | None = None
    nil: str | None = None
    candidates: list[Candidate] | None = None


class Mentions(BaseModel):
    """Mentions in the order of the text, or of the call."""

    mentions: list[Mention]


class Found(Concept):
    """A concept that was searched for, and the name by which it was found."""

    alias: str
    language: str


class FoundConcepts(BaseModel):
    """Concepts, best first."""

    concepts: list[Found]
    nil: str | None = None


class FullConcept(Concept):
    """What is known of a concept; of many names, parents and children the first are shown."""

    definition: str | None = None
    names: dict[str, list[str]] = Field(description="By language")
    codes: dict[str, list[str]] = Field(description="By vocabulary")
    parents: list[Named]
    children: list[Named]
    children_in_all: int


class ConceptCodes(BaseModel):
    """The codes of a concept, or `nil`."""

    concept_id: str
    name: str | None = None
    codes: list[str]
    nil: str | None = None


class CodeConcepts(BaseModel):
    """The concepts of a code, or `nil`."""

    code: str
    concepts: list[Named]
    nil: str | None = None


class Mapped(BaseModel):
    """What was mapped, in the order of the call."""

    vocabulary: str
    concepts: list[ConceptCodes] | None = None
    codes: list[CodeConcepts] | None = None
