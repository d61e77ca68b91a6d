"""The routes of /v1, and those that machines ask whether the service lives."""

import json
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse, PlainTextResponse, StreamingResponse
from pydantic import ValidationError

from spacy_bergamot.languages import lat
from spacy_bergamot.serve import bodies, concepts
from spacy_bergamot.serve.front import Front
from spacy_bergamot.serve.limits import MOST_FOUND
from spacy_bergamot.serve.refusals import Refused, Wrong, wrong_fields
from spacy_bergamot.serve.service import Asked, Failed, Kind, Question, Verb


async def _front(request: Request) -> Front:
    front: Front = request.app.state.front
    return front


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
    documents = body.asked()
    _count(documents, front, "documents")
    wrong = front.vocabulary.wrong_language(body.language, "language")
    for number, one in enumerate(documents):
        wrong += _wrong(one, front, f"documents.{number}." if body.documents is not None else "")
    if wrong:
        raise Refused.of(*wrong)
    found = []
    async for document_id, answer in _linked(documents, body, front):
        if isinstance(answer, Refused):
            raise answer
        found.append(_with_id(document_id, answer))
    return JSONResponse({"documents": found})


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
    documents = [_of_line(line, front) for line in lines]
    answers = _linked(documents, options, front)

    async def written() -> AsyncIterator[str]:
        async for document_id, answer in answers:
            yield json.dumps(_with_id(document_id, answer), ensure_ascii=False) + "\n"

    return StreamingResponse(written(), media_type="application/x-ndjson")


@v1.post("/mentions", summary="Link mentions", response_model=bodies.MentionsAnswer)
async def mentions(body: bodies.MentionsRequest, front: Served) -> JSONResponse:
    """Link mentions that stand by themselves, or in a context, with their candidates."""
    _count(body.mentions, front, "mentions")
    asked, wrong = [], front.vocabulary.wrong_language(body.language, "language")
    for number, one in enumerate(body.mentions):
        field = f"mentions.{number}"
        if isinstance(one, str):
            one, field = bodies.Mention.model_construct(text=one), field.removesuffix(".text")
        text = one.context if one.context is not None else one.text
        if not one.text.strip():
            wrong.append(Wrong(field, "it is empty"))
        wrong += front.wrong_text(text, field)
        wrong += front.vocabulary.wrong_language(one.language, f"{field}.language")
        start = text.find(one.text)
        place = start, start + len(one.text), one.label
        asked.append(Asked(text, _code(one.language or body.language), (place,)))
    if wrong:
        raise Refused.of(*wrong)
    kind = Kind(Verb.LINK, front.wish(body, given=True), candidates=True)
    front.admit()
    found = []
    async for answers in front.link(kind, asked):
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
            found.append(answer["ents"][0])
    return JSONResponse({"mentions": found})


@v1.post("/explain", summary="Explain a link", response_model=bodies.Explanation)
async def explain(body: bodies.ExplainRequest, front: Served) -> JSONResponse:
    """Say how a mention is linked.

    What was looked up and found, what filters dropped, and why it is NIL if it is.
    """
    wrong = front.vocabulary.wrong_language(body.language, "language")
    wrong += front.wrong_text(body.mention, "mention") + front.wrong_text(body.context, "context")
    if wrong:
        raise Refused.of(*wrong)
    front.admit()
    question = Question(body.mention, body.label, body.context, body.language or "")
    return JSONResponse(await front.explain(front.wish(body), question))


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


def _linked(
    documents: Sequence[bodies.Document | Refused], options: bodies.LinkOptions, front: Front
) -> AsyncIterator[tuple[str | int | None, Any]]:
    """Return ids and answers of documents, in order; what is refused already is its own answer.

    RAISES (Refused): 422 for options that cannot be, 503 if nothing may wait any more.
    """
    kinds = {
        given: Kind(Verb.LINK, front.wish(options, given=given), options.candidates)
        for given in (False, True)
    }
    front.admit()

    async def answered() -> AsyncIterator[tuple[str | int | None, Any]]:
        for given, run in _runs(documents):
            if given is None:
                for refused in run:
                    yield None, refused
                continue
            asked, ids = [_asked(one, options) for one in run], iter(run)
            async for answers in front.link(kinds[given], asked):
                for answer in answers:
                    yield next(ids).id, answer

    return answered()


def _runs(documents: Sequence[Any]) -> list[tuple[bool | None, list[Any]]]:
    """Cut documents into runs with given mentions (True), without (False), and refused (None)."""
    runs: list[tuple[bool | None, list[Any]]] = []
    for one in documents:
        given = None if isinstance(one, Refused) else one.mentions is not None
        if not runs or runs[-1][0] is not given:
            runs.append((given, []))
        runs[-1][1].append(one)
    return runs


def _asked(document: bodies.Document, options: bodies.LinkOptions) -> Asked:
    places = tuple((one.start, one.end, one.label) for one in document.mentions or ())
    return Asked(document.text, _code(document.language or options.language), places)


def _code(language: str | None) -> str | None:
    return lat(language) if language else None


def _with_id(document_id: str | int | None, answer: Any) -> dict[str, Any]:
    said = {} if document_id is None else {"id": document_id}
    if isinstance(answer, Refused):
        return said | answer.body()
    if isinstance(answer, Failed):
        return said | {"error": f"It could not be linked: {answer.kind}"}
    return said | answer


def _of_line(line: bytes, front: Front) -> bodies.Document | Refused:
    """Return a line's document, or what is wrong with it."""
    try:
        document = bodies.Document.model_validate_json(line)
    except ValidationError as error:
        wrong = wrong_fields(error.errors(include_input=False, include_url=False))
    else:
        wrong = _wrong(document, front, "")
        if not wrong:
            return document
    return Refused.of(*wrong)


def _wrong(document: bodies.Document, front: Front, field: str) -> list[Wrong]:
    """Return what is wrong with a document, by the beginning of its fields' names."""
    wrong = front.wrong_text(document.text, f"{field}text")
    wrong += front.vocabulary.wrong_language(document.language, f"{field}language")
    if len(document.mentions or ()) > front.limits.documents:
        wrong.append(Wrong(f"{field}mentions", f"{front.limits.documents} are the most"))
    for number, place in enumerate(document.mentions or ()):
        if place.end > len(document.text):
            what = f"the text has {len(document.text)} characters"
            wrong.append(Wrong(f"{field}mentions.{number}.end", what))
    return wrong


def _count(given: Sequence[Any], front: Front, field: str) -> None:
    if len(given) > front.limits.documents:
        message = f"{len(given)} are given; {front.limits.documents} are the most"
        raise Refused.of(Wrong(field, message))
