"""A server of releases and of Wikidata, and the key to it."""

import threading
from collections.abc import Iterator

import pytest

from tests.training.download.server import KEY, Server


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UMLS_API_KEY", KEY)
