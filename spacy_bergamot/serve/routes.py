"""The routes of /v1, and those that machines ask whether the service lives."""

import json
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse, PlainTextResponse, StreamingResponse
from pydantic import ValidationError

from spacy_bergamot.serve import answers, bodies, concepts
from spacy_bergamot.serve.front import Front
from spacy_bergamot.serve.limits import MOST_FOUND
from spacy_bergamot.serve.refusals import Refused, wrong_fields


async def _front(request: Request) -> Front:
    return request.app.state.front


Served = Annotated[Front, Depends(_front)]
_TOLD = {
    401: "No key, or a wrong one",
    413: "The body is too large",
    415: "The body is no JSON",
    422: "Something is wrong with the request; `fields` says where",
    503: "Too many requests wait; Retry-After says for how long",
    504: "It takes too long",
}
v1 = APIRouter(
    prefix="/v1",
    responses={
        status: {"model": bodies.Failure, "description": what} for status, what in _TOLD.items()
    },
)
health = APIRouter()


@v1.post("/link", summary="Link texts", response_model=bodies.LinkAnswer)
async def link(body: bodies.LinkRequest, front: Served) -> JSONResponse:
    """Mark the mentions of one text, or of several documents, and link them to concepts.

    A document that fails has `error`, at its place. Offsets count Unicode code points.
    """
    return JSONResponse(await answers.link(body, front))


@v1.post(
    "/link/ndjson",
    summary="Link a file of texts",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/x-ndjson": {}}, "description": "A line each"}},
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/x-ndjson": {
                    "schema": {"$ref": "#/components/schemas/Document"},
                    "example": '{"id": 1, "text": "Fieber"}\n{"id": 2, "text": "fever"}\n',
                }
            },
        }
    },
)
async def link_lines(
    request: Request, front: Served, options: Annotated[bodies.LinkOptions, Query()]
) -> StreamingResponse:
    """One document a line in, one line out, in order, as soon as it is linked.

    A line that cannot be linked has `error`, at its place.
    """
    if wrong := front.vocabulary.wrong_language(options.language, "language"):
        raise Refused.of(*wrong)
    lines = (line for line in (await request.body()).splitlines() if line.strip())
    found = answers.linked([_of_line(line, front) for line in lines], options, front)

    async def written() -> AsyncIterator[str]:
        async for document_id, answer in found:
            yield json.dumps(answers.with_id(document_id, answer), ensure_ascii=False) + "\n"

    return StreamingResponse(written(), media_type="application/x-ndjson")


@v1.post("/mentions", summary="Link mentions", response_model=bodies.MentionsAnswer)
async def mentions(body: bodies.MentionsRequest, front: Served) -> JSONResponse:
    """Link mentions that stand by themselves, or in a context, with their candidates."""
    return JSONResponse(await answers.mentions(body, front))


@v1.post("/explain", summary="Explain a link", response_model=bodies.Explanation)
async def explain(body: bodies.ExplainRequest, front: Served) -> JSONResponse:
    """Say how a mention is linked.

    What was looked up and found, what filters dropped, and why it is NIL if it is.
    """
    return JSONResponse(await answers.explain(body, front))


@v1.get("/concepts/{concept_id:path}", summary="Show a concept", response_model=bodies.Concept)
def concept(concept_id: str, front: Served) -> JSONResponse:
    """Names by language, codes by vocabulary, parents, children, types, definition."""
    return JSONResponse(concepts.concept(front.vocabulary, concept_id))


@v1.get("/search", summary="Search concepts", response_model=bodies.SearchAnswer)
def search(
    front: Served,
    q: Annotated[str, Query(max_length=1000, description="An id, a name, or its beginning")],
    limit: Annotated[int, Query(ge=1, le=MOST_FOUND)] = 10,
    similar: Annotated[bool, Query(description="By shared 3-grams, not by beginnings")] = False,
) -> JSONResponse:
    """Find concepts for somebody who is typing: by id, by name, by its beginning, or nearly so."""
    if wrong := front.wrong_text(q, "q"):
        raise Refused.of(*wrong)
    return JSONResponse(concepts.search(front.vocabulary, q, limit=limit, similar=similar))


@v1.get("/codes", summary="Find a code's concepts", response_model=bodies.CodedAnswer)
def coded(
    front: Served,
    source: Annotated[str, Query(max_length=100, description="A vocabulary, such as ICD10CM")],
    code: Annotated[str, Query(max_length=1000)],
) -> JSONResponse:
    """Find the concepts that have a code in a vocabulary."""
    return JSONResponse(concepts.coded(front.vocabulary, source, code))


@v1.get("/info", summary="Show what is served", response_model=bodies.Info)
def info(front: Served) -> JSONResponse:
    """Pipeline, knowledge base, languages, groups, types, sources, settings, limits."""
    return JSONResponse(front.info())


@health.get("/livez", summary="Whether the service lives", response_model=bodies.State)
async def livez() -> JSONResponse:
    """Answer as long as the process answers anything."""
    return JSONResponse({"status": "alive"})


@health.get("/readyz", summary="Whether the service is ready", response_model=bodies.State)
async def readyz(front: Served) -> JSONResponse:
    """Answer 200 once a first text was linked, else 503."""
    status = "ready" if front.ready else "starting or stopping"
    return JSONResponse({"status": status}, 200 if front.ready else 503)


@health.get("/metrics", summary="Counts for Prometheus", response_class=PlainTextResponse)
async def metrics(front: Served) -> PlainTextResponse:
    """Requests, seconds, documents, mentions, NIL, errors, memory."""
    return PlainTextResponse(front.metrics.text(), media_type="text/plain; version=0.0.4")


def _of_line(line: bytes, front: Front) -> bodies.Document | Refused:
    """Return a line's document, or what is wrong with it."""
    try:
        document = bodies.Document.model_validate_json(line)
    except ValidationError as error:
        wrong = wrong_fields(error.errors(include_input=False, include_url=False))
    else:
        wrong = answers.wrong_document(document, front, "")
        if not wrong:
            return document
    return Refused.of(*wrong)
