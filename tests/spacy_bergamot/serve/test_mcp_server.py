"""The tools for agents, asked by the SDK's own client: in memory, on stdin and stdout, on HTTP."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from spacy.language import Language
from typer.testing import CliRunner

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from spacy_bergamot.cli import bergamot
from spacy_bergamot.serve.front import Front
from spacy_bergamot.serve.limits import Limits
from spacy_bergamot.serve.mcp_server import make_server

ROOT = Path(__file__).parents[3]
TOOLS = {"link_text", "link_mentions", "search_concepts", "get_concept", "map_codes"}
NIL = "No concept of the knowledge base fits."


@pytest.fixture(scope="module")
def front(make_nlp) -> Front:
    return Front(make_nlp(k=5), Limits(characters=1000))


def with_client(server: Any, do: Callable[[Client], Awaitable[Any]], **how: Any) -> Any:
    async def asked() -> Any:
        async with Client(server, **how) as client:
            return await do(client)

    return asyncio.run(asked())


@pytest.fixture(scope="module")
def call(front: Front) -> Callable[..., Any]:
    """Call a tool: its structured answer, or the message of an error."""

    def call(tool: str, **arguments: Any) -> Any:
        result = with_client(make_server(front), lambda client: client.call_tool(tool, arguments))
        (block,) = result.content
        if result.is_error:
            return block.text
        assert json.loads(block.text) == result.structured_content
        return result.structured_content

    return call


def test_tools_say_what_they_do_and_that_they_only_read(front):
    async def described(client: Client) -> Any:
        return (await client.list_tools()).tools, client.instructions

    tools, instructions = with_client(make_server(front), described)
    assert {tool.name for tool in tools} == TOOLS
    for tool in tools:
        assert tool.description
        assert tool.annotations.read_only_hint is True
        assert tool.annotations.open_world_hint is False
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema["type"] == "object"
    for word in ("10 concepts", "never from memory", "nil", "DISO (Disorders)", "ICD10CM", "ja"):
        assert word in instructions


def test_a_text_is_linked(call, front):
    text = "Der Patient hat 😀 Bluthochdruck und 糖尿病."
    first, second = call("link_text", text=text)["mentions"]
    assert first["concept"] == {
        "id": "C01", "name": "Hypertension", "types": ["Disease or Syndrome"],
    }  # fmt: skip
    assert text[first["start"] : first["end"]] == first["text"] == "Bluthochdruck"
    assert second["concept"]["id"] == "C02"
    assert "candidates" not in first
    only = call("link_text", text="heart attack, aspirin", semantic_groups=["CHEM"])["mentions"]
    assert [one["concept"]["id"] for one in only] == ["C07"]
    assert call("link_text", text="nothing")["mentions"] == []


def test_mentions_are_linked_and_nil_is_said(make_nlp):
    front = Front(make_nlp(k=5, threshold=0.999), Limits())
    server = make_server(front)
    given = {"mentions": ["Herzinfarkt", "qwrtz"], "k": 2}
    result = with_client(server, lambda client: client.call_tool("link_mentions", given))
    known, unknown = result.structured_content["mentions"]
    assert known["concept"]["id"] == known["candidates"][0]["id"] == "C03"
    assert (known["score"], known["candidates"][0]["language"]) == (1, "de")
    assert "nil" not in known
    assert (unknown["nil"], unknown.get("concept")) == (NIL, None)
    assert 0 < len(unknown["candidates"]) <= 2
    kb = front.vocabulary.kb
    assert all(one["id"] in kb for one in [*known["candidates"], *unknown["candidates"]])


def test_concepts_are_searched_and_shown(call):
    (found,) = call("search_concepts", query="fev", limit=1)["concepts"]
    assert (found["id"], found["alias"], found["language"]) == ("C10", "fever", "en")
    assert call("search_concepts", query="zzzzzz") == {"concepts": [], "nil": NIL}
    shown = call("get_concept", concept_id="C01")
    assert shown["names"]["en"] == ["Hypertension"]
    assert shown["names"]["ja"] == ["高血圧"]
    assert shown["codes"]["ICD10CM"] == ["I10"]
    assert shown["types"] == ["Disease or Syndrome"]
    names = call("get_concept", concept_id="C01", languages=["en", "de"])["names"]
    assert names == {"de": ["Bluthochdruck"], "en": ["Hypertension", "high blood pressure"]}
    assert call("get_concept", concept_id="C06")["children"][0]["id"] == "C03"
    assert "no concept of that id" in call("get_concept", concept_id="C0000000")


def test_concepts_and_codes_are_mapped_both_ways(call):
    found = call("map_codes", vocabulary="ICD10CM", concept_ids=["C01", "C02", "C99"])
    assert found["concepts"][0] == {"concept_id": "C01", "name": "Hypertension", "codes": ["I10"]}
    assert [one.get("nil") for one in found["concepts"]] == [
        None,
        "The concept has no code in this vocabulary.",
        "No concept of the knowledge base has this id.",
    ]
    found = call("map_codes", vocabulary="ICD10CM", codes=["I10", "E11"])
    assert found["codes"][0]["concepts"] == [{"id": "C01", "name": "Hypertension"}]
    assert found["codes"][1]["nil"] == "No concept of the knowledge base has this code."
    assert "known are ICD10CM" in call("map_codes", vocabulary="ICD11", codes=["I10"])


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("link_text", {}, "text: Field required"),
        ("link_text", {"text": "x" * 1001}, "1000 are the most"),
        ("link_text", {"text": "x", "langauge": "de"}, "langauge: Extra inputs"),
        ("link_text", {"text": "x", "language": "xx9"}, "language: unknown language; known are"),
        ("link_text", {"text": "x", "semantic_groups": ["NO"]}, "it has ANAT, CHEM, DISO"),
        ("link_text", {"text": "\ud800"}, "text: Input should be a valid string"),
        ("link_mentions", {"mentions": []}, "mentions: List should have at least 1"),
        ("link_mentions", {"mentions": ["x"] * 101}, "at most 100"),
        ("link_mentions", {"mentions": ["a", "b"], "context": "a"}, "contain mentions.1"),
        ("link_mentions", {"mentions": [" "]}, "mentions.0: it is empty"),
        ("search_concepts", {"query": ""}, "query: String should have at least 1"),
        ("map_codes", {"vocabulary": "ICD10CM"}, "give concept_ids, or codes"),
        ("delete_all", {}, "There is no such tool; there are link_text"),
    ],
)
def test_what_cannot_be_done_is_said_without_what_was_sent(call, tool, arguments, message):
    said = call(tool, **arguments)
    assert isinstance(said, str)
    assert message in said
    assert "Traceback" not in said


def test_lists_may_come_as_strings_of_json(call):
    found = call("link_mentions", mentions='["Fieber", "insulin"]')["mentions"]
    assert [one["concept"]["id"] for one in found] == ["C10", "C08"]


def test_an_error_is_said_by_its_kind_alone(make_nlp, caplog):
    nlp = make_nlp()

    @Language.component("broken_for_agents")
    def broken(doc: Any) -> Any:
        raise KeyError(doc.text)

    nlp.add_pipe("broken_for_agents")
    server = make_server(Front(nlp, Limits()))
    given = {"text": "secret fever"}
    result = with_client(server, lambda client: client.call_tool("link_text", given))
    assert result.is_error
    assert result.content[0].text == "It could not be linked: KeyError"
    assert "KeyError at" in caplog.text
    assert "secret" not in caplog.text


def test_older_clients_are_answered_as_well(front):
    async def linked(client: Client) -> Any:
        return client.protocol_version, await client.call_tool("link_text", {"text": "Fieber"})

    version, result = with_client(make_server(front), linked, mode="legacy")
    assert version < "2026"
    assert result.structured_content["mentions"][0]["concept"]["id"] == "C10"


def test_a_client_starts_it_and_speaks_on_its_stdin_and_stdout(saved: Path, tmp_path: Path):
    log = tmp_path / "log"
    # Before the client's messages comes a line that is none: it ends nothing and is not logged.
    shell = f"""{{ echo '{{"geheim": '; cat; }} | "$0" "$@" 2>{log}"""
    arguments = [sys.executable, "-m", "spacy", "bergamot", "mcp", str(saved), "--threads", "1"]
    server = StdioServerParameters(command="bash", args=["-c", shell, *arguments], cwd=ROOT)

    async def linked(client: Client) -> Any:
        await client.call_tool("link_text", {"txt": "geheim"})
        return await client.call_tool("link_text", {"text": "geheimes Fieber"})

    found = with_client(server, linked).structured_content
    assert found["mentions"][0]["concept"]["id"] == "C10"
    assert "link_text refused" in log.read_text()
    assert "link_text answered" in log.read_text()
    assert "geheim" not in log.read_text()


def test_it_listens_on_http_with_keys_and_at_local_names_alone(serve_app, front):
    from spacy_bergamot.serve.gate import LOOPBACK
    from spacy_bergamot.serve.mcp_server import make_app

    client = serve_app(make_app(make_server(front), front, keys=["k1"], hosts=LOOPBACK))
    url = f"{client.base}/mcp"

    async def linked(one: Client) -> Any:
        return await one.call_tool("link_text", {"text": "Fieber"})

    async def asked() -> Any:
        async with (
            httpx2.AsyncClient(headers={"authorization": "Bearer k1"}) as http,
            Client(streamable_http_client(url, http_client=http)) as one,
        ):
            return await linked(one)

    found = asyncio.run(asked()).structured_content
    assert found["mentions"][0]["concept"]["id"] == "C10"
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert client.post("/mcp", message).status_code == 401
    key = {"authorization": "Bearer k1"}
    other = {**key, "host": "evil.example"}
    assert client.post("/mcp", message, headers=other).status_code == 421
    form = {**key, "content-type": "text/plain"}
    assert client.post("/mcp", data="{}", headers=form).status_code == 415


def test_what_cannot_be_served_is_said_in_one_line(saved: Path, tmp_path: Path, monkeypatch):
    def refused(*options: str) -> str:
        result = CliRunner().invoke(bergamot, ["mcp", *options])
        assert result.exit_code == 1
        (line,) = result.output.strip().splitlines()
        return line

    assert "B046" in refused(str(tmp_path / "no_pipeline"))
    assert "B161" in refused(str(saved), "--http", "--key-file", str(tmp_path / "nowhere"))
    assert "B162" in refused(str(saved), "--http", "--host", "256.0.0.1", "--port", "0")
    monkeypatch.setitem(sys.modules, "spacy_bergamot.serve.mcp_server", None)
    assert "spacy_bergamot[mcp]" in refused(str(saved))
