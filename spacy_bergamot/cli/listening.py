"""What `serve` and `mcp` share: where to listen, who may ask, what the language model runs on."""

from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from sys import stderr
from typing import TYPE_CHECKING, Annotated

import typer
from spacy.language import Language

from spacy_bergamot.pipeline.pipelines import load_pipeline

if TYPE_CHECKING:  # they need the extra `serve`
    from spacy_bergamot.serve.gate import Gate

Host = Annotated[
    str, typer.Option(help="Address to listen at; 0.0.0.0 for every machine that reaches this")
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="0 for any that is free")]
KeyFile = Annotated[
    Path | None,
    typer.Option(help="Keys, one per line; requests then need Authorization: Bearer KEY"),
]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(help="Name by which a proxy calls the service at a local address; or more"),
]
Threads = Annotated[int, typer.Option(min=0, help="Of the language model; 0 for what torch takes")]


def loaded(pipeline: str, device: str | None, threads: int) -> Language:
    """Return a pipeline that is to be served.

    pipeline, device (str): See `load_pipeline`.
    threads (int): Of torch; 0 for as many as it takes by itself.
    """
    with redirect_stdout(stderr):  # a client of `mcp` reads the answers there
        nlp = load_pipeline(pipeline, device=device)
    if threads:
        import torch

        torch.set_num_threads(threads)
    return nlp


def listen_and_serve(
    make: Callable[[list[str], list[str]], "Gate"],
    what: str,
    host: str,
    port: int,
    key_file: Path | None,
    allow_host: list[str] | None,
) -> None:
    """Listen, make an application, and serve it until the process is told to end.

    make: Gets keys and the names by which the service may be called; see `Gate`.
    what (str): Shown with its address.
    host, port, key_file, allow_host: The options of these names.
    RAISES (BergamotError): B161 and B162, before anything is made.
    """
    from spacy_bergamot.serve import server
    from spacy_bergamot.serve.gate import LOOPBACK

    keys = server.read_keys(key_file)
    local = host in LOOPBACK
    hosts = [*(LOOPBACK if local else ()), *(allow_host or ())]
    with server.listen(host, port) as listening:
        app = make(keys, hosts)
        shown = f"[{host}]" if ":" in host else host
        typer.echo(f"Serving {what} at http://{shown}:{listening.getsockname()[1]}", err=True)
        if not local and not keys:
            typer.echo("Anybody who reaches this address may use it: see --key-file", err=True)
        server.serve(app, listening)
