"""What a request may set otherwise than the pipeline does."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from spacy_bergamot.serve.limits import MOST_CANDIDATES

Codes = Annotated[list[str], Field(max_length=1000)]
Language = Annotated[
    str | None,
    Field(description="ISO 639-1 or MRCONSO.RRF's code; guessed where not given", max_length=20),
]


class Body(BaseModel):
    """What a request holds; anything else is refused, so that no misspelt setting is ignored."""

    model_config = ConfigDict(extra="forbid")


class Options(Body):
    """What a request may set otherwise than the pipeline does. What is empty or null stays."""

    languages: Codes = Field(default=[], description="Languages of aliases that may be proposed")
    sources: Codes = Field(default=[], description="Vocabularies of aliases that may be proposed")
    semantic_groups: Codes = Field(
        default=[],
        description="Groups of concepts that may be proposed, and of mentions that are marked",
    )
    semantic_types: Codes = Field(
        default=[], description="Types (TUI) of concepts that may be proposed"
    )
    descendants_of: Codes = Field(
        default=[], description="Concept ids; they and what lies below them may be proposed"
    )
    k: int | None = Field(
        default=None, ge=1, le=MOST_CANDIDATES, description="Candidates of a mention"
    )
    threshold: float | None = Field(
        default=None, ge=-1, le=1, description="Smallest score of a link"
    )
    min_probability: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Smallest probability of a link, of a calibrated linker",
    )
