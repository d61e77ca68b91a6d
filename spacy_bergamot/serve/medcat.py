"""The routes of MedCATservice, so that what calls it can call this service instead: `--medcat`.

Fields are those of its version on FastAPI (CogStack's medcat-service, 2025): the annotations of a
document are a list of one object, whose keys number the mentions. Mentions without a concept have
none here, as in MedCAT.
"""

import time
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict

from spacy_bergamot import __version__
from spacy_bergamot.serve import answers, bodies, concepts
from spacy_bergamot.serve.front import Front
from spacy_bergamot.serve.routes import Served
from spacy_bergamot.serve.service import is_nil

_ICD10 = ("ICD10", "ICD10CM")
_SNOMED = ("SNOMEDCT_US", "SNOMEDCT")

router = APIRouter(prefix="/api", include_in_schema=False)


class _Content(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str
    footer: str | dict[str, Any] | None = None


class _Process(BaseModel):
    """A document. Filters by meta-annotations are refused, as there are no such annotations."""

    content: _Content
    meta_anns_filters: None = None


class _Bulk(BaseModel):
    content: list[_Content]


@router.get("/info")
def info(front: Served) -> JSONResponse:
    """Show what is served."""
    return JSONResponse(_info(front))


@router.post("/process")
async def process(body: _Process, front: Served) -> JSONResponse:
    """Link a text."""
    (result,) = await _results([body.content], front)
    return JSONResponse({"result": result, "medcat_info": _info(front)})


@router.post("/process_bulk")
async def process_bulk(body: _Bulk, front: Served) -> JSONResponse:
    """Link texts."""
    results = await _results(body.content, front)
    return JSONResponse({"result": results, "medcat_info": _info(front)})


@router.get("/health/live")
async def live() -> JSONResponse:
    """Answer as long as the process answers anything."""
    return _health(up=True)


@router.get("/health/ready")
async def ready(front: Served) -> JSONResponse:
    """Answer 200 once a first text was linked, else 503."""
    return _health(up=front.ready)


def _health(*, up: bool) -> JSONResponse:
    status = "UP" if up else "DOWN"
    checks = [{"name": "MedCAT", "status": status}]
    return JSONResponse({"status": status, "checks": checks}, 200 if up else 503)


def _info(front: Front) -> dict[str, Any]:
    meta = front.nlp.meta
    card = {
        "ontologies": front.vocabulary.kb.sources,
        "meta_cat_model_names": [],
        "rel_cat_model_names": [],
        "model_last_modified_on": None,
    }
    return {
        "service_app_name": "spacy_bergamot",
        "service_language": front.nlp.lang,
        "service_version": __version__,
        "service_model": f"{front.nlp.lang}_{meta['name']} {meta['version']}",
        "model_card_info": card,
    }


async def _results(contents: list[_Content], front: Front) -> list[dict[str, Any]]:
    """Return the documents in order; one that fails has `success` false."""
    started = time.perf_counter()
    documents = [bodies.Document(text=one.text) for one in contents]
    request = bodies.LinkRequest(documents=documents, candidates=True)
    found = (await answers.link(request, front))["documents"] if documents else []
    seconds = time.perf_counter() - started
    now = datetime.now(tz=timezone.utc).isoformat(timespec="milliseconds")
    results = []
    for content, document in zip(contents, found, strict=True):
        if "error" in document:
            results.append({"success": False, "errors": [document["error"]], "timestamp": now})
            continue
        linked = [entity for entity in document["ents"] if not is_nil(entity)]
        mentions = {str(n): _mention(n, entity, front) for n, entity in enumerate(linked)}
        results.append(
            {
                "text": content.text,
                "annotations": [mentions],
                "success": True,
                "timestamp": now,
                "elapsed_time": seconds,
                "footer": content.footer,
            }
        )
    return results


def _mention(number: int, entity: Mapping[str, Any], front: Front) -> dict[str, Any]:
    """Return a linked mention; `acc` is the probability, or the score if there is none."""
    best = next(one for one in entity["candidates"] if one["concept_id"] == entity["kb_id"])
    sure = best.get("probability", best["score"])
    codes = concepts.concept(front.vocabulary, entity["kb_id"])["codes"]
    return {
        "pretty_name": best["name"],
        "cui": entity["kb_id"],
        "type_ids": best["types"],
        "types": list(map(front.vocabulary.type_name, best["types"])),
        "source_value": entity["text"],
        "detected_name": "~".join(best["alias"].lower().split()),
        "acc": sure,
        "context_similarity": sure,
        "start": entity["start"],
        "end": entity["end"],
        "icd10": [code for source in _ICD10 for code in codes.get(source, [])],
        "ontologies": [],
        "snomed": [code for source in _SNOMED for code in codes.get(source, [])],
        "id": number,
        "meta_anns": {
            name: {"name": name, "value": "True", "confidence": 1.0}
            for name in entity.get("attributes", [])
        },
    }
