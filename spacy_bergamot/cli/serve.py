"""`serve`: a linker on HTTP, and a page for people."""

from pathlib import Path
from typing import Annotated

import typer

from spacy_bergamot.cli.app import Pipeline, bergamot, explained
from spacy_bergamot.pipeline.pipelines import load_pipeline
from spacy_bergamot.serve.errors import BergamotError, Errors


@bergamot.command("serve")
def serve_cli(
    pipeline: Pipeline,
    host: Annotated[
        str, typer.Option(help="Address to listen at; 0.0.0.0 for every machine that reaches this")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any that is free")] = 8080,
    key_file: Annotated[
        Path | None,
        typer.Option(help="Keys, one per line; requests then need Authorization: Bearer KEY"),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Name by which a proxy calls the service at a local address; or more"),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="For the language model: cpu, auto, cuda:0")
    ] = None,
    threads: Annotated[
        int, typer.Option(min=0, help="Of the language model; 0 for what torch takes")
    ] = 0,
    max_body: Annotated[int, typer.Option(min=1, help="Bytes of a request: 413")] = 16_000_000,
    max_characters: Annotated[int, typer.Option(min=1, help="Of a document: 422")] = 200_000,
    max_documents: Annotated[int, typer.Option(min=1, help="Of a JSON request: 422")] = 1000,
    max_waiting: Annotated[
        int, typer.Option(min=1, help="Requests at once before the pipeline: 503, Retry-After")
    ] = 64,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds for a body to arrive, 408, or to be linked, 504")
    ] = 60.0,
) -> None:
    """Serve a pipeline on HTTP: a page at /, JSON at /v1, counts at /metrics.

    Open http://127.0.0.1:8080 in a browser, or:

    curl --json '{"text": "Der Patient hat Fieber."}' http://127.0.0.1:8080/v1/link

    Nothing of a text is logged or kept. Ctrl-C, or SIGTERM, lets requests under way finish. Needs
    the extra `serve`: pip install "spacy_bergamot[serve]"
    """
    with explained():
        try:
            from spacy_bergamot.serve import server
            from spacy_bergamot.serve.app import create_app
            from spacy_bergamot.serve.gate import LOOPBACK
            from spacy_bergamot.serve.limits import Limits
        except ImportError as reason:
            raise BergamotError(Errors.B160, reason=reason) from None
        keys = server.read_keys(key_file)
        limits = Limits(max_body, max_characters, max_documents, max_waiting, timeout)
        local = host in LOOPBACK
        hosts = [*LOOPBACK, *(allow_host or ())] if local else (allow_host or ())
        with server.listen(host, port) as listening:
            nlp = load_pipeline(pipeline, device=device)
            if threads:
                import torch

                torch.set_num_threads(threads)
            app = create_app(nlp, limits=limits, keys=keys, hosts=hosts)
            shown, found = f"[{host}]" if ":" in host else host, listening.getsockname()[1]
            typer.echo(f"Serving {pipeline} at http://{shown}:{found}", err=True)
            if not local and not keys:
                typer.echo("Anybody who reaches this address may use it: see --key-file", err=True)
            server.serve(app, listening)
