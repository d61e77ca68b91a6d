"""W3C's Reconciliation Service API 0.2: OpenRefine fills columns of concepts from free text.

A query is linked as a mention by itself, in the language that its property `language` says or that
it seems to be in. Types are semantic groups and types; properties are a concept's codes in a
vocabulary, its parents, types, definition.
"""

import html
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from spacy_bergamot.languages import lat
from spacy_bergamot.serve import concepts
from spacy_bergamot.serve import reconciliation_offers as offers
from spacy_bergamot.serve.front import Front
from spacy_bergamot.serve.limits import MOST_CANDIDATES, MOST_FOUND, MOST_MENTION
from spacy_bergamot.serve.options import Options
from spacy_bergamot.serve.refusals import Refused, Wrong, wrong_fields
from spacy_bergamot.serve.routes import Served
from spacy_bergamot.serve.service import Asked, Kind, Verb, is_nil

router = APIRouter(prefix="/reconcile", include_in_schema=False)


class _Condition(BaseModel):
    pid: str
    v: Any = None


class _Query(BaseModel):
    """One query of a batch. Of the conditions on properties the language's alone is read."""

    query: str = Field(max_length=MOST_MENTION)
    type: str | list[str] | None = None
    limit: int | None = Field(default=None, ge=1)
    properties: list[_Condition] = []


class _Settings(BaseModel):
    limit: int = Field(default=0, ge=0)


class _Property(BaseModel):
    id: str
    settings: _Settings = _Settings()


class _Extension(BaseModel):
    """Concepts, and the properties of them that are wanted."""

    ids: list[str] = Field(max_length=10_000)
    properties: list[_Property]


@router.get("")
async def ask(
    request: Request, front: Served, queries: str | None = None, extend: str | None = None
) -> JSONResponse:
    """Return the manifest, or the answers to what is asked."""
    return await _answer(request, front, {"queries": queries, "extend": extend})


@router.post("")
async def ask_by_form(request: Request, front: Served) -> JSONResponse:
    """Do the same with a form's fields."""
    form = parse_qs((await request.body()).decode("utf8", "replace"))
    return await _answer(request, front, {name: values[0] for name, values in form.items()})


@router.get("/suggest/entity")
def suggest_entity(
    front: Served,
    prefix: Annotated[str, Query(max_length=1000)],
    cursor: Annotated[int, Query(ge=0, le=MOST_FOUND)] = 0,
) -> JSONResponse:
    """Suggest concepts for somebody who is typing."""
    found = concepts.search(front.vocabulary, prefix, limit=cursor + 10, similar=False)
    named = [
        {"id": one["id"], "name": one["name"], "description": one["alias"]}
        for one in found["concepts"][cursor:]
    ]
    return JSONResponse({"result": named})


@router.get("/suggest/type")
def suggest_type(front: Served, prefix: str) -> JSONResponse:
    """Suggest semantic groups and types."""
    return _suggested(offers.types(front), prefix)


@router.get("/suggest/property")
def suggest_property(front: Served, prefix: str) -> JSONResponse:
    """Suggest what a column can be filled with."""
    return _suggested(
        {offers.LANGUAGE["id"]: offers.LANGUAGE["name"], **offers.properties(front)}, prefix
    )


@router.get("/properties")
def propose_properties(front: Served, type: str = "", limit: int = 100) -> JSONResponse:
    """Propose properties for concepts of any type."""
    known = [{"id": key, "name": name} for key, name in offers.properties(front).items()]
    return JSONResponse({"type": type, "properties": known[:limit]})


@router.get("/preview")
def preview(front: Served, id: str) -> HTMLResponse:
    """Show a concept in a few lines: its name, types, definition and names by language."""
    found = concepts.concept(front.vocabulary, id)
    names = (
        f"<li><b>{html.escape(language)}</b> {html.escape(of[0]['name'])}</li>"
        for language, of in found["names"].items()
    )
    types = ", ".join(one["name"] for one in found["types"])
    return HTMLResponse(
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Concept</title>'
        f"<h1>{html.escape(found['name'])}</h1><p>{html.escape(found['id'])} "
        f"{html.escape(types)}</p><p>{html.escape(found['definition'] or '')}</p>"
        f"<ul>{''.join(names)}</ul></html>"
    )


async def _answer(request: Request, front: Front, asked: Mapping[str, str | None]) -> JSONResponse:
    if given := asked.get("queries"):
        return JSONResponse(await _reconciled(front, _read(given, dict[str, _Query], "queries")))
    if given := asked.get("extend"):
        return JSONResponse(_extended(front, _read(given, _Extension, "extend")))
    return JSONResponse(offers.manifest(front, str(request.base_url).rstrip("/"), router.prefix))


def _read(given: str, kind: Any, field: str) -> Any:
    """Return JSON as what is wanted. RAISES (Refused): 422 if it is something else."""
    try:
        return TypeAdapter(kind).validate_python(json.loads(given))
    except ValidationError as error:
        raise Refused.of(*wrong_fields(error.errors())) from None
    except (ValueError, RecursionError):
        raise Refused.of(Wrong(field, "invalid JSON")) from None


async def _reconciled(front: Front, queries: Mapping[str, _Query]) -> dict[str, Any]:
    """Return candidates by the keys of the queries; those with the same settings go together."""
    if len(queries) > front.limits.documents:
        raise Refused.of(Wrong("queries", f"{front.limits.documents} are the most"))
    kinds: dict[Kind, list[str]] = {}
    answers: dict[str, Any] = {key: {"result": []} for key in queries}
    for key, query in queries.items():
        if wrong := front.wrong_text(query.query, f"{key}.query"):
            raise Refused.of(*wrong)
        if query.query.strip():
            kinds.setdefault(_kind(front, query, key), []).append(key)
    front.admit()
    for kind, keys in kinds.items():
        texts = [queries[key].query for key in keys]
        languages = [_language(front, queries[key]) for key in keys]
        asked = [
            Asked(text, language, ((0, len(text), ""),))
            for text, language in zip(texts, languages, strict=True)
        ]
        left = iter(keys)
        async for part in front.link(kind, asked):
            for found in part:
                if isinstance(found, Exception):
                    raise found
                answers[next(left)]["result"] = _candidates(front, found["ents"][0])
    return answers


def _kind(front: Front, query: _Query, key: str) -> Kind:
    """Return what is wanted of a query: concepts of its types, so many."""
    wanted = [query.type] if isinstance(query.type, str) else query.type or []
    groups = [one for one in wanted if one in front.vocabulary.groups]
    types = [one for one in wanted if one in front.vocabulary.types]
    if unknown := [one for one in wanted if one not in {*groups, *types}]:
        raise Refused.of(Wrong(f"{key}.type", f"unknown: {', '.join(unknown)[:100]}"))
    k = min(query.limit, MOST_CANDIDATES) if query.limit else None
    options = Options(semantic_groups=groups, semantic_types=types, k=k)
    return Kind(Verb.LINK, front.wish(options, given=True), candidates=True)


def _language(front: Front, query: _Query) -> str | None:
    """Return the language that a query says, if it is one that is known: columns have gaps."""
    said = [one.v for one in query.properties if one.pid == offers.LANGUAGE["id"]]
    code = said[0] if said and isinstance(said[0], str) else ""
    return lat(code) if code and not front.vocabulary.wrong_language(code, "") else None


def _candidates(front: Front, entity: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the candidates of a mention; the concept that it is linked to, if any, matches."""
    linked = None if is_nil(entity) else entity["kb_id"]
    return [
        {
            "id": one["concept_id"],
            "name": one["name"],
            "description": f"{one['alias']} ({one['language']})",
            "type": [{"id": tui, "name": front.vocabulary.type_name(tui)} for tui in one["types"]],
            "score": round(100 * one.get("probability", max(one["score"], 0)), 2),
            "match": one["concept_id"] == linked,
            "features": [{"id": key, "value": value} for key, value in one["scores"].items()],
        }
        for one in entity["candidates"]
    ]


def _extended(front: Front, asked: _Extension) -> dict[str, Any]:
    """Return the wanted properties of concepts, and what they are called."""
    names = offers.properties(front)
    wanted = [one.id for one in asked.properties]
    if unknown := [one for one in wanted if one not in names]:
        raise Refused.of(Wrong("extend.properties", f"unknown: {', '.join(unknown)[:100]}"))
    most = {one.id: one.settings.limit or None for one in asked.properties}
    rows = {
        key: {one: values[: most[one]] for one, values in _values(front, key, wanted).items()}
        for key in dict.fromkeys(asked.ids)
    }
    return {"meta": [{"id": key, "name": names[key]} for key in wanted], "rows": rows}


def _values(front: Front, concept_id: str, wanted: Sequence[str]) -> dict[str, list[Any]]:
    """Return a concept's values by property; none of a concept that is not there."""
    if concept_id not in front.vocabulary.kb:
        return {key: [] for key in wanted}
    found = concepts.concept(front.vocabulary, concept_id)
    values: dict[str, list[Any]] = {
        "parents": found["parents"],
        "types": [{"str": one["name"]} for one in found["types"]],
        "groups": [{"str": one["name"]} for one in found["groups"]],
        "definition": [{"str": found["definition"]}] if found["definition"] else [],
    }
    for source, codes in found["codes"].items():
        values[offers.CODES + source] = [{"str": code} for code in codes]
    return {key: values.get(key, []) for key in wanted}


def _suggested(known: Mapping[str, str], prefix: str) -> JSONResponse:
    """Return what has the text in its id or its name."""
    text = prefix.strip().lower()
    found = [
        {"id": key, "name": name}
        for key, name in known.items()
        if text in name.lower() or text in key.lower()
    ]
    return JSONResponse({"result": found})
