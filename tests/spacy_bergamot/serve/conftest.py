"""A service on a port of this machine, in a thread of the tests' own."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests
from spacy.language import Language

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")

from spacy_bergamot.serve.app import create_app
from spacy_bergamot.serve.gate import LOOPBACK, Gate
from spacy_bergamot.serve.limits import Limits
from spacy_bergamot.serve.server import listen, make_server


class Client:
    """Asks a service. port (int): Where it listens."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.base = f"http://127.0.0.1:{port}"

    def get(self, path: str, **how: Any) -> requests.Response:
        return requests.get(self.base + path, timeout=60, **how)

    def post(self, path: str, body: Any = None, **how: Any) -> requests.Response:
        if body is not None:
            how["json"] = body
        return requests.post(self.base + path, timeout=60, **how)

    def link(self, text: str, **options: Any) -> list[dict[str, Any]]:
        """Return the mentions of a text."""
        answer = self.post("/v1/link", {"text": text, **options})
        assert answer.status_code == 200, answer.text
        return answer.json()["documents"][0]["ents"]

    def refused(self, path: str, body: Any, **how: Any) -> dict[str, str]:
        """Return what is wrong with every field of a request."""
        answer = self.post(path, body, **how)
        assert answer.status_code == 422, answer.text
        return {one["field"]: one["message"] for one in answer.json()["fields"]}


@pytest.fixture(scope="package")
def serve_app() -> Iterator[Callable[[Gate], Client]]:
    """Serve an application, until the tests end."""
    started = []

    def serve_app(app: Gate) -> Client:
        listening = listen("127.0.0.1", 0)
        server = make_server(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        started.append((server, thread, listening))
        return Client(listening.getsockname()[1])

    yield serve_app
    for server, _, _ in started:
        server.should_exit = True
    for _, thread, listening in started:
        thread.join(30)
        listening.close()
        assert not thread.is_alive()


@pytest.fixture(scope="package")
def start(serve_app: Callable[[Gate], Client]) -> Callable[..., Client]:
    """Serve a pipeline, until the tests end."""

    def start(
        nlp: Language, keys: tuple[str, ...] = (), *, ready: bool = True, **limits: float
    ) -> Client:
        client = serve_app(create_app(nlp, limits=Limits(**limits), keys=keys, hosts=LOOPBACK))
        deadline = time.monotonic() + 60
        while ready and client.get("/readyz").status_code != 200:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return client

    return start


@pytest.fixture(scope="package")
def served(make_nlp: Callable[..., Language]) -> Language:
    """A pipeline that the service uses, and a test while no request is under way."""
    return make_nlp(k=5)


@pytest.fixture(scope="package")
def service(start: Callable[..., Client], served: Language) -> Client:
    return start(served)
