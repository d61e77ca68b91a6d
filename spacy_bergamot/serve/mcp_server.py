"""A linker for agents, by the Model Context Protocol: on stdin and stdout, or on HTTP at /mcp."""

import json
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from inspect import getdoc
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as McpTool
from pydantic import ValidationError

from spacy_bergamot import __version__
from spacy_bergamot.languages import NO_LANGUAGE, iso
from spacy_bergamot.serve.front import Front
from spacy_bergamot.serve.gate import Gate
from spacy_bergamot.serve.refusals import Refused, wrong_fields
from spacy_bergamot.serve.service import place
from spacy_bergamot.serve.tools import TOOLS, Tool

_SHOWN = 40
_RULES = """Links clinical mentions in any language to concepts of the knowledge base of \
{pipeline}, {concepts} concepts, without a network.
Take concept ids and codes from these tools alone, never from memory. Where `nil` says that no \
concept fits, tell it so. A probability says how likely a link is right; a score orders candidates.
Languages of names: {languages}. Semantic groups: {groups}. Vocabularies of codes: {codes}."""

logger = logging.getLogger("spacy_bergamot.serve")


def make_server(front: Front) -> Server[Any]:
    """Return the server of a pipeline's tools, for `run` and `make_app`.

    front (Front): The pipeline.
    """

    @asynccontextmanager
    async def lifespan(_server: Server[Any]) -> AsyncIterator[Front]:
        front.start()
        try:
            yield front
        finally:
            front.close()

    async def list_tools(_context: Any, _params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[_described(name, tool) for name, tool in TOOLS.items()])

    async def call_tool(_context: Any, params: CallToolRequestParams) -> CallToolResult:
        return await _called(params.name, params.arguments or {}, front)

    return Server(
        "spacy_bergamot",
        version=__version__,
        instructions=_instructions(front),
        lifespan=lifespan,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def run(server: Server[Any]) -> None:
    """Answer on stdin and stdout until stdin ends."""
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def make_app(
    server: Server[Any], front: Front, *, keys: Sequence[str] = (), hosts: Sequence[str] = ()
) -> Gate:
    """Return the server as an ASGI application at /mcp.

    server (Server): Of `make_server`. front (Front): The pipeline.
    keys, hosts: See `Gate`.
    """
    app = server.streamable_http_app(
        json_response=True,
        stateless_http=True,
        max_request_body_size=front.limits.body,
        # The gate has looked at the host's name, and takes JSON alone, which no page of another
        # site may send.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Gate(app, limits=front.limits, metrics=front.metrics, keys=keys, hosts=hosts)


def quiet() -> None:
    """Let no log of the protocol's library say what a client sent."""
    logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)


def _instructions(front: Front) -> str:
    """Return what an agent must know before it calls a tool."""
    info = front.info()
    groups = ", ".join(f"{one['id']} ({one['name']})" for one in info["semantic_groups"])
    languages = {iso(one["code"]) for one in info["languages"] if one["code"] not in NO_LANGUAGE}
    return _RULES.format(
        pipeline=info["pipeline"],
        concepts=len(front.vocabulary.kb),
        languages=", ".join(sorted(languages)),
        groups=groups or "none",
        codes=", ".join(front.vocabulary.code_sources[:_SHOWN]) or "none",
    )


def _described(name: str, tool: Tool) -> McpTool:
    """Return a tool as clients are told of it."""
    return McpTool(
        name=name,
        title=tool.title,
        description=getdoc(tool.takes),
        input_schema=tool.takes.model_json_schema(),
        output_schema=tool.gives.model_json_schema(),
        annotations=ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


async def _called(name: str, arguments: dict[str, Any], front: Front) -> CallToolResult:
    """Return a tool's answer, or what is wrong with the call; log no word of either."""
    started, status = time.perf_counter(), "refused"
    try:
        if name not in TOOLS:
            raise Refused(404, f"There is no such tool; there are {', '.join(TOOLS)}.")
        tool = TOOLS[name]
        answer = await tool.answer(tool.takes.model_validate(arguments), front)
        status = "answered"
        said = answer.model_dump(mode="json", exclude_none=True)
        return CallToolResult(content=[_text(said)], structured_content=said)
    except ValidationError as error:
        return _error(Refused.of(*wrong_fields(error.errors())).message)
    except Refused as refused:
        return _error(refused.message)
    except Exception as error:
        status = "failed"
        logger.error("%s: %s", type(error).__name__, place(error))
        return _error(f"An error of the service, {type(error).__name__}; its log says where.")
    finally:
        shown = name if name in TOOLS else "other"
        logger.info("%s %s %d ms", shown, status, 1000 * (time.perf_counter() - started))


def _text(said: dict[str, Any]) -> TextContent:
    return TextContent(text=json.dumps(said, ensure_ascii=False, separators=(",", ":")))


def _error(message: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=message)], is_error=True)
