"""A language model server on this machine whose answers a test decides."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.llm import client
from spacy_bergamot.linking.llm.reranker import LlmReranker, make_llm
from spacy_bergamot.linking.mention import Mention


@dataclass
class Reply:
    """What is sent back: text as it is, anything else as JSON.

    cut (bool): Break off in the middle. drip (float): Seconds between one byte and the next.
    """

    content: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    drip: float = 0


def said(content: str | None, logprobs: list | None = None) -> dict[str, Any]:
    """Return a chat completion."""
    choice = {"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    if logprobs is not None:
        choice["logprobs"] = {"content": logprobs}
    return {"object": "chat.completion", "model": "any", "choices": [choice]}


def options(body: dict) -> list[str]:
    """Return the options of a question, without their letters."""
    lines = body["messages"][1]["content"].splitlines()
    return [line[3:] for line in lines if line[1:3] == ") "]


def letter_of(body: dict, word: str) -> str:
    """Return the letter of the first option that has a word."""
    number = next(n for n, option in enumerate(options(body)) if word in option)
    return "ABCDEFGHIJKLMNOPQRST"[number]


class Server:
    """reply (Callable): From the parsed body to a `Reply`, or to what is sent as JSON."""

    def __init__(self) -> None:
        self.reply: Callable[[dict], Any] = lambda body: said("A")
        self.bodies: list[dict] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.bodies.append(body)
                server.paths.append(self.path)
                server.headers.append(dict(self.headers))
                reply = server.reply(body)
                reply = reply if isinstance(reply, Reply) else Reply(reply)
                is_text = isinstance(reply.content, str)
                data = (reply.content if is_text else json.dumps(reply.content)).encode()
                try:
                    self.send_response(reply.status)
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    step = 1 if reply.drip else 64
                    for start in range(0, len(data) // 2 if reply.cut else len(data), step):
                        self.wfile.write(data[start : start + step])
                        time.sleep(reply.drip)
                except OSError:  # who asked has gone
                    pass

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.port = self._http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        serve = self._http.serve_forever
        threading.Thread(target=serve, args=(0.01,), daemon=True).start()  # seconds to its end

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(client, "_PAUSE", 0.01)
    made = Server()
    yield made
    made.close()


@pytest.fixture
def llm(server: Server) -> Callable[..., LlmReranker]:
    """Make a reranker that asks the server, impatient and without retries unless told."""

    def make(**settings: Any) -> LlmReranker:
        usual = {"url": server.url, "model": "m", "retries": 0, "timeout": 5.0, "aliases": 2}
        return make_llm(**{**usual, **settings})

    return make


@pytest.fixture(scope="session")
def kb(concepts: Path) -> KnowledgeBase:
    """Return the knowledge base; describing concepts takes no index and no language model."""
    return KnowledgeBase(SimpleNamespace(table=ConceptTable.open(concepts)))


IDS = ("C04", "C05", "C10")
NAMES = {"C04": "common cold", "C05": "cold temperature", "C10": "Fieber", "C06": "heart"}


def found(*ids: str, first: float = 0.9) -> list[Candidate]:
    """Return candidates of falling scores."""
    return [
        Candidate(
            one, round(first - 0.1 * n, 2), NAMES.get(one, one), "ENG", "X", "dense", {"dense": 0.5}
        )
        for n, one in enumerate(ids)
    ]


def mention(text: str = "She has a cold.", surface: str = "cold", **values: Any) -> Mention:
    start = text.rindex(surface)
    return Mention(surface.lower(), "DISO", text, start, start + len(surface), **values)


def order(reranker, kb, candidates=None, **values) -> list[str]:
    """Return the ids of the candidates of one mention, reranked."""
    (changed,) = reranker([mention(**values)], [candidates or found(*IDS)], kb)
    return [one.concept_id for one in changed]


def kept(reranker, kb) -> str:
    """Return the warning with which the candidates stay as they were."""
    with pytest.warns(UserWarning, match="W180") as caught:
        (changed,) = reranker([mention()], [found(*IDS)], kb)
    assert changed == found(*IDS)
    assert reranker.counts["failed"] == 1
    return str(caught[0].message)
