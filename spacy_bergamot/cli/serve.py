"""`serve`: a linker on HTTP, and a page for people."""

from typing import TYPE_CHECKING, Annotated

import typer

from spacy_bergamot.cli import listening
from spacy_bergamot.cli.app import Device, Pipeline, bergamot, explained
from spacy_bergamot.errors import importing

if TYPE_CHECKING:
    from spacy_bergamot.serve.gate import Gate


@bergamot.command("serve")
def serve_cli(
    pipeline: Pipeline,
    host: listening.Host = "127.0.0.1",
    port: listening.Port = 8080,
    key_file: listening.KeyFile = None,
    allow_host: listening.AllowHost = None,
    device: Device = None,
    threads: listening.Threads = 0,
    max_body: Annotated[int, typer.Option(min=1, help="Bytes of a request: 413")] = 16_000_000,
    max_characters: Annotated[int, typer.Option(min=1, help="Of a document: 422")] = 200_000,
    max_documents: Annotated[int, typer.Option(min=1, help="Of a JSON request: 422")] = 1000,
    max_waiting: Annotated[
        int, typer.Option(min=1, help="Requests at once before the pipeline: 503, Retry-After")
    ] = 64,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds for a body to arrive, 408, or to be linked, 504")
    ] = 60.0,
    medcat: Annotated[
        bool, typer.Option("--medcat", help="Answer /api/process as MedCATservice does, too")
    ] = False,
) -> None:
    """Serve a pipeline on HTTP: a page at /, JSON at /v1, counts at /metrics.

    Open http://127.0.0.1:8080 in a browser, or:

    curl --json '{"text": "Der Patient hat Fieber."}' http://127.0.0.1:8080/v1/link

    Nothing of a text is logged or kept. Ctrl-C, or SIGTERM, lets requests under way finish. Needs
    the extra `serve`: pip install "spacy_bergamot[serve]"
    """
    with explained():
        with importing("The service", packages='"spacy_bergamot[serve]"'):
            from spacy_bergamot.serve.app import create_app
            from spacy_bergamot.serve.limits import Limits
        limits = Limits(max_body, max_characters, max_documents, max_waiting, timeout)

        def make(keys: list[str], hosts: list[str]) -> "Gate":
            nlp = listening.loaded(pipeline, device, threads)
            return create_app(nlp, limits=limits, keys=keys, hosts=hosts, medcat=medcat)

        listening.listen_and_serve(make, pipeline, host, port, key_file, allow_host)
