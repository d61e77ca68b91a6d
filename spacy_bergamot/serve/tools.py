"""The tools of the MCP server: short answers by the functions that answer on HTTP as well."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel

from spacy_bergamot.languages import iso, lat
from spacy_bergamot.serve import answers, bodies, concepts
from spacy_bergamot.serve import tool_bodies as tb
from spacy_bergamot.serve.front import Front
from spacy_bergamot.serve.refusals import Refused
from spacy_bergamot.serve.service import is_nil

_NAMES, _RELATIVES = 20, 20


class Tool(NamedTuple):
    """A tool: what it takes, what it answers, and the function that does it."""

    title: str
    takes: type[tb.Arguments]
    gives: type[BaseModel]
    answer: Callable[[Any, Front], Awaitable[BaseModel]]


async def link_text(asked: tb.LinkText, front: Front) -> tb.Mentions:
    """Return the mentions of a text. RAISES (Refused): If it cannot be linked."""
    request = bodies.LinkRequest(
        text=asked.text,
        language=asked.language,
        semantic_groups=asked.semantic_groups,
        candidates=True,
    )
    (document,) = (await answers.link(request, front))["documents"]
    if "error" in document:
        raise Refused(500, document["error"])
    return tb.Mentions(mentions=[_mention(one, front, in_text=True) for one in document["ents"]])


async def link_mentions(asked: tb.LinkMentions, front: Front) -> tb.Mentions:
    """Return the given mentions with candidates. RAISES (Refused): If one cannot be linked."""
    given = [{"text": text, "context": asked.context} for text in asked.mentions]
    request = bodies.MentionsRequest(
        mentions=[bodies.Mention.model_validate(one) for one in given],
        language=asked.language,
        semantic_groups=asked.semantic_groups,
        k=asked.k,
    )
    found = (await answers.mentions(request, front))["mentions"]
    return tb.Mentions(mentions=[_mention(one, front, in_text=False) for one in found])


async def search_concepts(asked: tb.SearchConcepts, front: Front) -> tb.FoundConcepts:
    """Return concepts by id or name."""
    found = await asyncio.to_thread(
        concepts.search, front.vocabulary, asked.query, limit=asked.limit, similar=False
    )
    shown = [
        tb.Found(**_named(one, front), alias=one["alias"], language=iso(one["language"]))
        for one in found["concepts"]
    ]
    return tb.FoundConcepts(concepts=shown, nil=None if shown else tb.NIL)


async def get_concept(asked: tb.GetConcept, front: Front) -> tb.FullConcept:
    """Return a concept. RAISES (Refused): If the knowledge base does not have it."""
    found = await asyncio.to_thread(concepts.concept, front.vocabulary, asked.concept_id)
    wanted = {lat(code) for code in asked.languages}
    most = _NAMES if wanted else 1
    names = {
        iso(language): [one["name"] for one in of[:most]]
        for language, of in found["names"].items()
        if not wanted or lat(language) in wanted
    }
    shown = {key: found[key] for key in ("id", "name", "definition", "codes", "children_in_all")}
    return tb.FullConcept(
        **shown,
        types=[one["name"] for one in found["types"]],
        names=names,
        parents=found["parents"][:_RELATIVES],
        children=found["children"][:_RELATIVES],
    )


async def map_codes(asked: tb.MapCodes, front: Front) -> tb.Mapped:
    """Return codes of concepts, and concepts of codes. RAISES (Refused): Unknown vocabulary."""
    if wrong := front.vocabulary.wrong_source(asked.vocabulary, "vocabulary"):
        raise Refused.of(*wrong)
    return await asyncio.to_thread(_mapped, asked, front)


TOOLS = {
    "link_text": Tool("Link a text", tb.LinkText, tb.Mentions, link_text),
    "link_mentions": Tool("Link mentions", tb.LinkMentions, tb.Mentions, link_mentions),
    "search_concepts": Tool(
        "Search concepts", tb.SearchConcepts, tb.FoundConcepts, search_concepts
    ),
    "get_concept": Tool("Show a concept", tb.GetConcept, tb.FullConcept, get_concept),
    "map_codes": Tool("Map concepts and codes", tb.MapCodes, tb.Mapped, map_codes),
}


def _named(one: Mapping[str, Any], front: Front, key: str = "id") -> dict[str, Any]:
    """Return a concept's id, name and the names of its types."""
    types = map(front.vocabulary.type_name, one["types"])
    return {"id": one[key], "name": one["name"], "types": list(types)}


def _mention(entity: Mapping[str, Any], front: Front, *, in_text: bool) -> tb.Mention:
    """Return a linked mention, with its place in the text or else with its candidates."""
    candidates = [
        tb.Candidate(
            **_named(one, front, "concept_id"),
            alias=one["alias"],
            language=iso(one["language"]),
            score=one["score"],
            probability=one.get("probability"),
        )
        for one in entity["candidates"]
    ]
    said: dict[str, Any] = {"text": entity["text"], "attributes": entity.get("attributes")}
    if in_text:
        said |= {"start": entity["start"], "end": entity["end"]}
    else:
        said["candidates"] = candidates
    if is_nil(entity):
        return tb.Mention(**said, nil=tb.NIL)
    best = next(one for one in candidates if one.id == entity["kb_id"])
    concept = tb.Concept(id=best.id, name=best.name, types=best.types)
    return tb.Mention(**said, concept=concept, score=best.score, probability=best.probability)


def _mapped(asked: tb.MapCodes, front: Front) -> tb.Mapped:
    """Return both directions of a mapping; None for the one that was not asked for."""
    of_concepts = [_codes(one, asked.vocabulary, front) for one in asked.concept_ids]
    of_codes = [_coded(one, asked.vocabulary, front) for one in asked.codes]
    return tb.Mapped(
        vocabulary=asked.vocabulary, concepts=of_concepts or None, codes=of_codes or None
    )


def _codes(concept_id: str, source: str, front: Front) -> tb.ConceptCodes:
    if concept_id not in front.vocabulary.kb:
        return tb.ConceptCodes(concept_id=concept_id, codes=[], nil=tb.NO_CONCEPT)
    found = concepts.concept(front.vocabulary, concept_id)
    codes = found["codes"].get(source, [])
    nil = None if codes else tb.NO_CODE
    return tb.ConceptCodes(concept_id=found["id"], name=found["name"], codes=codes, nil=nil)


def _coded(code: str, source: str, front: Front) -> tb.CodeConcepts:
    found = concepts.coded(front.vocabulary, source, code)["concepts"]
    return tb.CodeConcepts(code=code, concepts=found, nil=None if found else tb.NOT_CODED)
