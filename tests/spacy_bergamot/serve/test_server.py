"""The command: start, end, be killed, start again; and what it refuses."""

import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

import pytest
import requests
from typer.testing import CliRunner

from spacy_bergamot.cli import bergamot
from tests.processes import Command, free_port
from tests.spacy_bergamot.serve.conftest import Client


def started(pipeline: Path, port: int, errors: Path, *options: str) -> tuple[Command, Client]:
    command = ["spacy", "bergamot", "serve", pipeline, "--port", port, *options]
    process, client = Command(*command, files=(os.devnull, os.devnull, errors)), Client(port)
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        try:
            if client.get("/readyz").status_code == 200:
                return process, client
        except requests.ConnectionError:
            assert process.poll() is None, errors.read_text("utf8")
        time.sleep(0.2)
    raise AssertionError("it does not become ready")


def test_a_service_is_killed_and_starts_again_and_ends_when_it_is_told_to(
    saved: Path, tmp_path: Path
):
    port, errors = free_port(), tmp_path / "errors"
    process, client = started(saved, port, errors)
    idle = socket.create_connection(("127.0.0.1", port))  # a client that is there when it dies
    assert client.link("Fieber")[0]["kb_id"] == "C10"
    process.kill()
    process.wait(30)
    with pytest.raises(requests.ConnectionError):
        client.get("/livez")
    process, client = started(saved, port, errors, "--threads", "1")
    idle.close()
    answers: list[int] = []
    documents = {"documents": [{"text": f"Fieber {n} Bluthochdruk"} for n in range(900)]}

    def ask() -> None:
        answers.append(client.post("/v1/link", documents).status_code)

    asking = threading.Thread(target=ask)
    asking.start()
    deadline = time.monotonic() + 30
    while "bergamot_waiting 1.0" not in client.get("/metrics").text and not answers:
        assert time.monotonic() < deadline
    process.send_signal(signal.SIGTERM)
    asking.join(60)
    assert answers == [200]
    assert process.wait(60) in (0, -signal.SIGTERM)
    log = errors.read_text("utf8")
    assert "POST /v1/link 200" in log
    assert "Fieber" not in log
    assert "Traceback" not in log


def test_what_cannot_be_served_is_said_in_one_line(saved: Path, tmp_path: Path, monkeypatch):
    def refused(*options: str) -> str:
        result = CliRunner().invoke(bergamot, ["serve", *options])
        assert result.exit_code == 1
        (line,) = result.output.strip().splitlines()
        return line

    empty = tmp_path / "keys"
    empty.write_text("\n \n")
    assert "B161" in refused(str(saved), "--key-file", str(empty))
    assert "B161" in refused(str(saved), "--key-file", str(tmp_path / "nowhere"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "B162" in refused(str(saved), "--port", str(taken.getsockname()[1]))
    assert "B162" in refused(str(saved), "--host", "256.0.0.1", "--port", "0")
    assert "B046" in refused(str(tmp_path / "no_pipeline"), "--port", "0")
    monkeypatch.setitem(sys.modules, "spacy_bergamot.serve.app", None)
    assert "spacy_bergamot[serve]" in refused(str(saved))


def test_nothing_of_the_texts_stays_in_the_vocabulary(service, served):
    service.link("Fieber")
    before = len(served.vocab.strings)
    for number in range(50):
        service.link(f"Wort{number} und Fieber{number}, Bluthochdruck, neu{number}")
        service.post("/v1/mentions", {"mentions": [f"wort{number}"]})
    if hasattr(served, "memory_zone"):
        assert len(served.vocab.strings) == before


def test_counts_are_as_what_was_asked(start, make_nlp):
    client = start(make_nlp())

    def counts() -> dict[str, float]:
        lines = client.get("/metrics").text.splitlines()
        pairs = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        return {name: float(value) for name, value in pairs}

    before = counts()
    client.post("/v1/link", {"documents": [{"text": "Fieber, insulin"}, {"text": "nothing"}]})
    nil = {"text": "xyz", "mentions": [{"start": 0, "end": 3}]}
    client.post("/v1/link", {"documents": [nil], "threshold": 1})
    client.refused("/v1/link", {"text": 1})
    client.get("/nowhere")
    after = counts()
    gained = {name: after[name] - before.get(name, 0) for name in after}
    assert gained["bergamot_documents_total"] == 3
    assert gained["bergamot_mentions_total"] == 3
    assert gained["bergamot_nil_total"] == 1
    assert gained['bergamot_requests_total{route="/v1/link",status="200"}'] == 2
    assert gained['bergamot_requests_total{route="/v1/link",status="422"}'] == 1
    assert gained['bergamot_requests_total{route="other",status="404"}'] == 1
    assert gained['bergamot_request_seconds_count{route="/v1/link"}'] == 3
    assert after["bergamot_waiting"] == 0
    assert any(name.startswith('bergamot_pipeline_info{index="') for name in after)
