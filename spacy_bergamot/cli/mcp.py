"""`mcp`: a linker for agents."""

import asyncio
import logging
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_bergamot.cli import listening
from spacy_bergamot.cli.app import Device, Pipeline, bergamot, explained
from spacy_bergamot.errors import importing

if TYPE_CHECKING:
    from spacy_bergamot.serve.gate import Gate


@bergamot.command("mcp")
def mcp_cli(
    pipeline: Pipeline,
    http: Annotated[
        bool, typer.Option("--http", help="At /mcp of an address, not on stdin and stdout")
    ] = False,
    host: listening.Host = "127.0.0.1",
    port: listening.Port = 8081,
    key_file: listening.KeyFile = None,
    allow_host: listening.AllowHost = None,
    device: Device = None,
    threads: listening.Threads = 0,
) -> None:
    """Serve a pipeline to agents by the Model Context Protocol, on stdin and stdout or on HTTP.

    Tools: link_text, link_mentions, search_concepts, get_concept, map_codes. Put into the client's
    configuration: "command": "python", "args": ["-m", "spacy", "bergamot", "mcp", "PIPELINE"]

    Nothing of a text is logged or kept. Needs the extra `mcp`: pip install "spacy_bergamot[mcp]"
    """
    with explained():
        with importing("The MCP server", packages='"spacy_bergamot[mcp]"'):
            from spacy_bergamot.serve.front import Front
            from spacy_bergamot.serve.limits import Limits
            from spacy_bergamot.serve.mcp_server import make_app, make_server, quiet, run
        quiet()
        if not http:
            logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
            front = Front(listening.loaded(pipeline, device, threads), Limits())
            asyncio.run(run(make_server(front)))
            return

        def make(keys: list[str], hosts: list[str]) -> "Gate":
            front = Front(listening.loaded(pipeline, device, threads), Limits())
            return make_app(make_server(front), front, keys=keys, hosts=hosts)

        listening.listen_and_serve(make, f"{pipeline} to agents", host, port, key_file, allow_host)
