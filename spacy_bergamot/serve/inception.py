"""INCEpTION's remote lookup: concepts for the text that an annotator has selected, or types."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from spacy_bergamot.languages import iso
from spacy_bergamot.serve import answers, bodies, concepts
from spacy_bergamot.serve.front import Front
from spacy_bergamot.serve.limits import MOST_FOUND, MOST_MENTION
from spacy_bergamot.serve.refusals import Refused, Wrong
from spacy_bergamot.serve.routes import Served

router = APIRouter(prefix="/inception", include_in_schema=False)


@router.get("/lookup")
async def lookup(
    front: Served,
    q: Annotated[str | None, Query(max_length=MOST_MENTION)] = None,
    qc: Annotated[str, Query(max_length=MOST_MENTION)] = "",
    most: Annotated[int, Query(alias="l", ge=1)] = 10,
    concept_id: Annotated[str | None, Query(alias="id", max_length=1000)] = None,
) -> JSONResponse:
    """Return the concept of an id; or those with a name like q, or those that qc may mean.

    What is typed, q, is searched as a name. While nothing is, the selected text, qc, is linked.
    """
    if concept_id is not None:
        return JSONResponse(await asyncio.to_thread(_shown, concept_id, front))
    if q is None:
        raise Refused.of(Wrong("q", "give q, or id"))
    most = min(most, MOST_FOUND)
    if q.strip():
        return JSONResponse(await asyncio.to_thread(_named, q, most, front))
    return JSONResponse(await _linked(qc, most, front) if qc.strip() else [])


def _shown(concept_id: str, front: Front) -> dict[str, str]:
    """Return a concept. RAISES (Refused): 404 if there is none."""
    found = concepts.concept(front.vocabulary, concept_id)
    types = ", ".join(one["name"] for one in found["types"])
    return {"id": found["id"], "l": found["name"], "d": found["definition"] or types}


def _named(text: str, most: int, front: Front) -> list[dict[str, str]]:
    """Return concepts by name. RAISES (Refused): 422 for what is no text."""
    if wrong := front.wrong_text(text, "q"):
        raise Refused.of(*wrong)
    found = concepts.search(front.vocabulary, text, limit=most, similar=False)
    return [_entry(one["id"], one) for one in found["concepts"]]


async def _linked(text: str, most: int, front: Front) -> list[dict[str, str]]:
    """Return the concepts that a text may mean, the most probable first."""
    (found,) = (await answers.mentions(bodies.MentionsRequest(mentions=[text]), front))["mentions"]
    return [_entry(one["concept_id"], one) for one in found["candidates"][:most]]


def _entry(concept_id: str, one: dict[str, Any]) -> dict[str, str]:
    """Return an entry of the list: id, label and description, of which both are shown."""
    sure = f", {one['probability']:.0%}" if "probability" in one else ""
    said = f"{one['alias']} ({iso(one['language'])}){sure}"
    return {"id": concept_id, "l": one["name"], "d": said}
