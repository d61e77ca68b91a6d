"""The service as an ASGI application."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from spacy.language import Language
from starlette.exceptions import HTTPException

from spacy_bergamot import __version__
from spacy_bergamot.serve import inception, recommender, reconciliation
from spacy_bergamot.serve.front import Front
from spacy_bergamot.serve.gate import Gate, response_to
from spacy_bergamot.serve.limits import Limits
from spacy_bergamot.serve.medcat import router as medcat_routes
from spacy_bergamot.serve.refusals import Refused, wrong_fields
from spacy_bergamot.serve.routes import health, v1

PAGE = Path(__file__).with_name("page")


def create_app(
    nlp: Language,
    *,
    limits: Limits | None = None,
    keys: Sequence[str] = (),
    hosts: Sequence[str] = (),
    medcat: bool = False,
) -> Gate:
    """Return the service of a pipeline, which nobody else may use from now on.

    nlp (Language): The pipeline.
    limits (Limits | None): How much one request may ask for.
    keys, hosts: See `Gate`.
    medcat (bool): Add the routes of MedCATservice.
    RAISES (BergamotError): B047 if the pipeline has no linker.
    """
    front = Front(nlp, limits or Limits())
    app = make_routes()
    if medcat:
        app.include_router(medcat_routes)
    app.state.front = front
    return Gate(app, limits=front.limits, metrics=front.metrics, keys=keys, hosts=hosts)


def make_routes() -> FastAPI:
    """Return the routes, without a pipeline: enough for their description in OpenAPI."""
    app = FastAPI(
        title="spacy_bergamot",
        version=__version__,
        description="Links clinical mentions in any language to concepts of a knowledge base.",
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.include_router(v1)
    app.include_router(health)
    app.include_router(reconciliation.router)
    app.include_router(inception.router)
    app.include_router(recommender.router)
    app.mount("/page", StaticFiles(directory=PAGE))
    app.add_api_route("/", _page, include_in_schema=False)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _failed)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    app.state.front.start()
    yield
    app.state.front.close()


async def _page() -> FileResponse:
    return FileResponse(PAGE / "index.html")


async def _invalid(request: Request, error: Any) -> JSONResponse:
    """Answer 422 with the fields, without what was given in them."""
    fields = wrong_fields([{**one, "loc": one["loc"][1:]} for one in error.errors()])
    return response_to(Refused.of(*fields))


async def _http_error(request: Request, error: Any) -> JSONResponse:
    return response_to(Refused(error.status_code, str(error.detail)))


async def _refused(request: Request, error: Any) -> JSONResponse:
    return response_to(error)


async def _failed(request: Request, error: Any) -> JSONResponse:
    """Answer 500; the gate says in the log where it was."""
    kind = type(error).__name__
    return response_to(Refused(500, f"An error of the service, {kind}; its log says where."))
