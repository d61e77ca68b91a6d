"""INCEpTION's external recommender: a document comes as a CAS, and goes back with suggestions.

What is sent is in INCEpTION's developer guide, "External recommender". Needs the extra `inception`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from spacy_bergamot.languages import iso
from spacy_bergamot.serve import answers, bodies
from spacy_bergamot.serve.refusals import Refused, Wrong
from spacy_bergamot.serve.routes import Served

if TYPE_CHECKING:
    from cassis import Cas

_PREDICTED = "inception_internal_predicted"

router = APIRouter(prefix="/inception", include_in_schema=False)


class _Metadata(BaseModel):
    """Which annotations are wanted: those of a layer, the concept's id in a feature of it."""

    layer: str
    feature: str


class _Sent(BaseModel):
    xmi: str


class _Request(BaseModel):
    """What INCEpTION sends; what else it says of project, user and range changes nothing."""

    metadata: _Metadata
    document: _Sent
    type_system: str = Field(alias="typeSystem")


@router.post("/predict")
async def predict(body: _Request, front: Served) -> JSONResponse:
    """Return the document with a suggestion for every concept that a mention is linked to."""
    cas = await asyncio.to_thread(_read, body)
    language = cas.document_language
    if front.vocabulary.wrong_language(language, ""):
        language = None  # as x-unspecified, INCEpTION's own
    document = bodies.Document(text=cas.sofa_string or "", language=language)
    request = bodies.LinkRequest(documents=[document], candidates=True)
    (found,) = (await answers.link(request, front))["documents"]
    if "error" in found:
        raise Refused(500, found["error"])
    xmi = await asyncio.to_thread(_with_suggestions, cas, body.metadata, found["ents"])
    return JSONResponse({"document": xmi})


@router.post("/train")
async def train() -> Response:
    """Answer that all went well: nothing is learned from annotations."""
    return Response(status_code=204)


def _read(body: _Request) -> "Cas":
    """Return the document. RAISES (Refused): 422 for one that cannot be, 501 without cassis."""
    try:
        from cassis import load_cas_from_xmi, load_typesystem
    except ImportError:
        remedy = 'pip install "spacy_bergamot[inception]"'
        raise Refused(501, f"This service cannot read a CAS. Try: {remedy}") from None
    texts = {"typeSystem": body.type_system, "document.xmi": body.document.xmi}
    # Entities of a DTD could name files and grow without end; no CAS has one.
    if wrong := [
        Wrong(name, "it has a DOCTYPE") for name, text in texts.items() if "<!DOCTYPE" in text
    ]:
        raise Refused.of(*wrong)
    field = "typeSystem"
    try:
        types = load_typesystem(body.type_system)
        field = "document.xmi"
        cas = load_cas_from_xmi(body.document.xmi, types)
    except Exception as reason:  # cassis has no exception of its own; what it says may be a text
        raise Refused.of(Wrong(field, f"it cannot be read ({type(reason).__name__})")) from None
    wanted = body.metadata
    if not types.contains_type(wanted.layer):
        raise Refused.of(Wrong("metadata.layer", "the type system does not have it"))
    features = {one.name for one in types.get_type(wanted.layer).all_features}
    if missing := {wanted.feature, _PREDICTED} - features:
        raise Refused.of(Wrong("metadata.feature", f"the layer has no {', '.join(missing)}"))
    return cas


def _with_suggestions(cas: "Cas", wanted: _Metadata, ents: Sequence[Mapping[str, Any]]) -> str:
    """Return a document as XMI, with the concepts of its mentions as suggestions."""
    layer = cas.typesystem.get_type(wanted.layer)
    known = {feature.name for feature in layer.all_features}
    for entity in ents:
        linked = {concept_id for concept_id, _ in entity["kb_ents"]}
        for one in entity["candidates"]:
            if one["concept_id"] not in linked:
                continue
            said = {
                wanted.feature: one["concept_id"],
                f"{wanted.feature}_score": one.get("probability", one["score"]),
                f"{wanted.feature}_score_explanation": _explained(one),
                _PREDICTED: True,
            }
            place = {"begin": entity["start"], "end": entity["end"]}
            cas.add(layer(**place, **{name: of for name, of in said.items() if name in known}))
    return str(cas.to_xmi())


def _explained(one: Mapping[str, Any]) -> str:
    """Return what an annotator wants to see of a candidate, whose id says little."""
    return f"{one['name']}: {one['alias']} ({iso(one['language'])})"
