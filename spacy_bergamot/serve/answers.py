"""Answers of the pipeline to what is asked, whatever protocol it came by."""

from collections.abc import AsyncIterator, Sequence
from itertools import groupby
from typing import Any

from spacy_bergamot.languages import lat
from spacy_bergamot.serve import bodies
from spacy_bergamot.serve.front import Front
from spacy_bergamot.serve.refusals import Refused, Wrong
from spacy_bergamot.serve.service import Asked, Failed, Kind, Question, Verb


async def link(body: bodies.LinkRequest, front: Front) -> dict[str, Any]:
    """Return the documents of a request, linked; `error` at the place of one that failed.

    RAISES (Refused): For the whole request, if one of its documents cannot be linked at all.
    """
    documents = body.asked()
    _count(documents, front, "documents")
    wrong = front.vocabulary.wrong_language(body.language, "language")
    for number, one in enumerate(documents):
        field = f"documents.{number}." if body.documents is not None else ""
        wrong += wrong_document(one, front, field)
    if wrong:
        raise Refused.of(*wrong)
    found = []
    async for document_id, answer in linked(documents, body, front):
        if isinstance(answer, Refused):
            raise answer
        found.append(with_id(document_id, answer))
    return {"documents": found}


async def mentions(body: bodies.MentionsRequest, front: Front) -> dict[str, Any]:
    """Return the mentions of a request, linked, with their candidates.

    RAISES (Refused): If one of them cannot be linked.
    """
    _count(body.mentions, front, "mentions")
    asked, wrong = [], front.vocabulary.wrong_language(body.language, "language")
    for number, one in enumerate(body.mentions):
        field = f"mentions.{number}"
        if isinstance(one, str):
            one = bodies.Mention.model_construct(text=one)
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
    return {"mentions": found}


async def explain(body: bodies.ExplainRequest, front: Front) -> dict[str, Any]:
    """Return how a mention is linked. RAISES (Refused): If it cannot be."""
    wrong = front.vocabulary.wrong_language(body.language, "language")
    wrong += front.wrong_text(body.mention, "mention") + front.wrong_text(body.context, "context")
    if wrong:
        raise Refused.of(*wrong)
    front.admit()
    question = Question(body.mention, body.label, body.context, body.language or "")
    return await front.explain(front.wish(body), question)


def linked(
    documents: Sequence[bodies.Document | Refused], options: bodies.LinkOptions, front: Front
) -> AsyncIterator[tuple[str | int | None, Any]]:
    """Return ids and answers of documents, in order; what is refused already is its own answer.

    documents (Sequence): What is asked. options: What is wanted of all.
    front (Front): The pipeline.
    RAISES (Refused): 422 for options that cannot be, 503 if nothing may wait any more.
    """
    kinds = {
        given: Kind(Verb.LINK, front.wish(options, given=given), options.candidates)
        for given in (False, True)
    }
    front.admit()

    async def answered() -> AsyncIterator[tuple[str | int | None, Any]]:
        for given, together in groupby(documents, _has_mentions):
            run: list[Any] = list(together)
            if given is None:
                for refused in run:
                    yield None, refused
                continue
            asked, ids = [_asked(one, options) for one in run], iter(run)
            async for answers in front.link(kinds[given], asked):
                for answer in answers:
                    yield next(ids).id, answer

    return answered()


def with_id(document_id: str | int | None, answer: Any) -> dict[str, Any]:
    """Return a document's answer as plain values, or the error that stands at its place.

    document_id (str | int | None): What the client calls it. answer: Of `linked`.
    """
    said = {} if document_id is None else {"id": document_id}
    if isinstance(answer, Refused):
        return said | answer.body()
    if isinstance(answer, Failed):
        return said | {"error": f"It could not be linked: {answer.kind}"}
    return said | answer


def wrong_document(document: bodies.Document, front: Front, field: str) -> list[Wrong]:
    """Return what is wrong with a document, by the beginning of its fields' names.

    document: What is asked. front (Front): The pipeline. field (str): Before its fields' names.
    """
    wrong = front.wrong_text(document.text, f"{field}text")
    wrong += front.vocabulary.wrong_language(document.language, f"{field}language")
    if len(document.mentions or ()) > front.limits.documents:
        wrong.append(Wrong(f"{field}mentions", f"{front.limits.documents} are the most"))
    for number, place in enumerate(document.mentions or ()):
        if place.end > len(document.text):
            what = f"the text has {len(document.text)} characters"
            wrong.append(Wrong(f"{field}mentions.{number}.end", what))
    return wrong


def _has_mentions(document: Any) -> bool | None:
    """Tell whether a document's mentions are given; None of one that is refused."""
    return None if isinstance(document, Refused) else document.mentions is not None


def _asked(document: bodies.Document, options: bodies.LinkOptions) -> Asked:
    places = tuple((one.start, one.end, one.label) for one in document.mentions or ())
    return Asked(document.text, _code(document.language or options.language), places)


def _code(language: str | None) -> str | None:
    return lat(language) if language else None


def _count(given: Sequence[Any], front: Front, field: str) -> None:
    if len(given) > front.limits.documents:
        message = f"{len(given)} are given; {front.limits.documents} are the most"
        raise Refused.of(Wrong(field, message))
