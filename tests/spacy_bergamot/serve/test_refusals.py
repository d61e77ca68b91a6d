"""Bad requests, bad times and bad clients: each is told what is wrong, and nobody else notices."""

import json
import logging
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from spacy.language import Language

from tests.spacy_bergamot.serve.conftest import Client


@Language.factory("sleeper")
def make_sleeper(nlp: Language, name: str):
    """Hold up documents that say so, and fail for those that say so."""

    def sleeper(doc):
        if "sleep" in doc.text:
            time.sleep(1)
        if "explode" in doc.text:
            raise ValueError(f"Secret: {doc.text}")
        return doc

    return sleeper


@pytest.fixture(scope="module")
def slow(start, make_nlp) -> Client:
    nlp = make_nlp()
    nlp.add_pipe("sleeper")
    return start(nlp, waiting=2, seconds=2.5, body=100_000, characters=1000, documents=50)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "body"),
        ({"text": "a", "documents": []}, "body"),
        ({"text": None}, "body"),
        ({"text": 3}, "text"),
        ({"text": "a", "language": "klingon"}, "language"),
        ({"text": "a", "langauge": "de"}, "langauge"),
        ({"text": "a", "k": 0}, "k"),
        ({"text": "a", "k": 1000}, "k"),
        ({"text": "a", "k": "many"}, "k"),
        ({"text": "a", "threshold": 2}, "threshold"),
        ({"text": "a", "min_probability": 0.5}, "min_probability"),
        ({"text": "a", "semantic_groups": ["DISO", "NONE"]}, "semantic_groups.1"),
        ({"text": "a", "semantic_types": ["T999"]}, "semantic_types.0"),
        ({"text": "a", "languages": ["xyz"]}, "languages.0"),
        ({"text": "a", "sources": [None]}, "sources.0"),
        ({"text": "a", "descendants_of": ["C99"]}, "descendants_of.0"),
        ({"text": "x" * 1001}, "text"),
        ({"text": "\ud800"}, "text"),
        ({"documents": [{"text": "a"}] * 51}, "documents"),
        ({"documents": [{"text": "a"}, {"text": None}]}, "documents.1.text"),
        ({"documents": [{"text": "a"}, {"text": "x" * 1001}]}, "documents.1.text"),
        ({"documents": [{"text": "a", "language": "x"}]}, "documents.0.language"),
        ({"documents": [None]}, "documents.0"),
        ({"documents": [{"text": "a", "mentions": [{"start": 1, "end": 1}]}]},
         "documents.0.mentions.0"),
        ({"documents": [{"text": "a", "mentions": [{"start": 0, "end": 2}]}]},
         "documents.0.mentions.0.end"),
        ({"documents": [{"text": "a", "mentions": [{"start": -1, "end": 1}]}]},
         "documents.0.mentions.0.start"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_field(slow, body, field):
    said = slow.refused("/v1/link", None, data=json.dumps(body), headers=_JSON)
    assert list(said) == [field]
    assert "x" * 100 not in str(said)


_JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"mentions": [""]}, "mentions.0"),
        ({"mentions": [" \n"]}, "mentions.0"),
        ({"mentions": [{"text": "MI", "context": "none"}]}, "mentions.0"),
        ({"mentions": ["a"] * 51}, "mentions"),
        ({"mentions": ["a", "\udfff"]}, "mentions.1"),
        ({"mentions": ["a" * 1001]}, "mentions.0"),
        ({"mentions": [{"text": "a", "language": "x"}]}, "mentions.0.language"),
        ({"mentions": [{"text": 5}]}, "mentions.0.text"),
        ({"mentions": [5]}, "mentions.0"),
    ],
)
def test_what_is_wrong_with_mentions(slow, body, field):
    said = slow.refused("/v1/mentions", None, data=json.dumps(body), headers=_JSON)
    assert set(said) == {field}


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 90_000, b"\xff\xfe", b"null", b'"x"', b"NaN"])
def test_what_is_no_json_object(slow, body):
    for path in ("/v1/link", "/v1/mentions", "/v1/explain"):
        answer = slow.post(path, data=body, headers=_JSON)
        assert answer.status_code in (400, 422)
        assert set(answer.json()) == {"error", "fields"}


def test_numbers_that_are_none(slow):
    for value in ("NaN", "Infinity", "-Infinity"):
        data = f'{{"text": "a", "threshold": {value}}}'
        assert slow.post("/v1/link", data=data, headers=_JSON).status_code == 422


def test_other_content_and_other_routes(slow):
    assert slow.post("/v1/link", data="text=a").status_code == 415
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert slow.post("/v1/link", data='{"text": "a"}', headers=form).status_code == 415
    assert slow.get("/v1/link").status_code == 405
    assert slow.get("/v2/link").status_code == 404
    assert slow.get("/page/../app.py").status_code == 404
    assert slow.get("/page/%2e%2e/app.py").status_code == 404
    assert slow.get("/v1/search", params={"q": "a", "limit": 0}).status_code == 422
    assert slow.get("/docs").status_code == 404
    assert slow.get("/livez", headers={"host": "evil.example"}).status_code == 421
    assert slow.get("/livez", headers={"host": f"localhost:{slow.port}"}).status_code == 200


def test_a_body_of_100_megabytes_is_refused_and_not_kept(slow):
    def chunks():
        for _ in range(1600):
            yield b" " * 65536

    before = _memory(slow)
    for data in (b" " * 100_000_000, chunks()):
        answer = slow.post("/v1/link", data=data, headers=_JSON)
        assert answer.status_code == 413
        assert "100000 bytes" in answer.json()["error"]
    assert _memory(slow) - before < 150e6  # the test's own 100 MB is in the same process
    with socket.create_connection(("127.0.0.1", slow.port)) as client:  # it waits for leave to send
        client.sendall(_head(10**9, "Expect: 100-continue\r\n"))
        assert b" 413 " in client.recv(1000).splitlines()[0]


def _memory(client: Client) -> float:
    lines = client.get("/metrics").text.splitlines()
    (value,) = (line for line in lines if line.startswith("process_resident_memory_bytes "))
    return float(value.split()[1])


def _head(length: int, more: str = "") -> bytes:
    head = "POST /v1/link HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {length}\r\n{more}\r\n".encode()


def test_slow_clients_hold_up_nobody(slow):
    clients = [socket.create_connection(("127.0.0.1", slow.port)) for _ in range(40)]
    for number, client in enumerate(clients):
        client.sendall(_head(1000)[: 60 if number % 2 else None])
    started = time.monotonic()
    assert slow.link("Fieber")[0]["kb_id"] == "C10"
    assert time.monotonic() - started < 2
    assert b" 408 " in clients[0].recv(1000).splitlines()[0]  # the others' heads are incomplete
    for client in clients:
        client.close()
    assert slow.link("Fieber")[0]["kb_id"] == "C10"


def test_a_full_queue_says_when_to_come_back(slow):
    with ThreadPoolExecutor(12) as pool:
        asked = [pool.submit(slow.post, "/v1/link", {"text": f"sleep {n}"}) for n in range(12)]
        time.sleep(0.3)
        assert slow.get("/livez").status_code == 200  # what needs no pipeline is answered
        assert slow.get("/v1/search", params={"q": "fever"}).status_code == 200
        answers = [one.result() for one in asked]
    refused = [one for one in answers if one.status_code == 503]
    assert len(refused) == 10
    assert all(1 <= int(one.headers["retry-after"]) <= 60 for one in refused)
    assert all(one.json()["error"] for one in refused)
    assert {one.status_code for one in answers} == {200, 503}
    assert slow.link("Fieber")[0]["kb_id"] == "C10"


def test_what_takes_too_long_is_given_up_and_does_not_hold_the_rest(slow):
    documents = [{"text": f"sleep {n}"} for n in range(5)]
    assert slow.post("/v1/link", {"documents": documents}).status_code == 504
    _until_idle(slow)
    lines = "\n".join(json.dumps({"id": n, "text": f"sleep {n}"}) for n in range(5))
    headers = {"content-type": "application/x-ndjson"}
    answer = slow.post("/v1/link/ndjson", data=lines.encode(), headers=headers)
    found = [json.loads(line) for line in answer.text.splitlines()]
    assert [(one["id"], one["error"]) for one in found] == [
        (n, "It took longer than 2.5 seconds.") for n in range(5)
    ]
    _until_idle(slow)


def _until_idle(client: Client) -> None:
    deadline = time.monotonic() + 10
    while client.post("/v1/link", {"text": "Fieber"}).status_code != 200:
        assert time.monotonic() < deadline


def test_a_document_that_fails_takes_no_other_with_it_and_is_in_no_log(slow, caplog):
    caplog.set_level(logging.DEBUG)
    texts = ["Fieber", "Fieber explode", "Bluthochdruck"]
    answer = slow.post("/v1/link", {"documents": [{"id": t, "text": t} for t in texts]}).json()
    first, second, third = answer["documents"]
    assert [one["ents"][0]["kb_id"] for one in (first, third)] == ["C10", "C01"]
    assert second == {"id": "Fieber explode", "error": "It could not be linked: ValueError"}
    slow.get("/v1/search", params={"q": "Fieber"})
    slow.post("/v1/explain", {"mention": "Fieber", "context": "Fieber explode"})
    slow.refused("/v1/link", {"text": "Fieber", "k": 0})
    own = [one for one in caplog.records if one.name.startswith(("spacy_bergamot", "uvicorn"))]
    assert any("/v1/search 200" in one.getMessage() for one in own)
    assert not any("Fieber" in one.getMessage() or one.exc_text for one in own)
    assert 'bergamot_errors_total{kind="ValueError"} 1.0' in slow.get("/metrics").text


def test_an_error_of_the_service_says_where_and_not_what(slow, caplog, monkeypatch):
    from spacy_bergamot.serve import concepts

    def broken(*arguments):
        raise KeyError("a patient's name")

    monkeypatch.setattr(concepts, "concept", broken)
    answer = slow.get("/v1/concepts/C01")
    assert answer.status_code == 500
    assert answer.json()["error"] == "An error of the service, KeyError; its log says where."
    deadline = time.monotonic() + 10
    errors: list[logging.LogRecord] = []
    while not errors and time.monotonic() < deadline:
        errors = [one for one in caplog.records if one.levelname == "ERROR"]
    (record,) = errors
    assert record.getMessage().startswith("KeyError: ")
    assert "test_refusals.py:" in record.getMessage()
    assert "patient" not in caplog.text


def test_a_pipeline_that_links_nothing_is_not_ready_and_says_why(start, make_nlp, caplog):
    nlp = make_nlp()

    @Language.component("broken")
    def broken(doc):
        raise ValueError(doc.text)

    nlp.add_pipe("broken")
    client = start(nlp, ready=False)
    deadline = time.monotonic() + 60
    while "not ready" not in caplog.text:
        assert time.monotonic() < deadline
    assert "ValueError at " in caplog.text
    assert client.get("/readyz").status_code == 503
    assert client.get("/livez").status_code == 200


def test_many_clients_at_once_get_their_own_answers(service):
    words = {"Fieber": "C10", "Bluthochdruck": "C01", "Herzinfarkt": "C03", "糖尿病": "C02"}
    wrong = []

    def ask(number: int) -> None:
        for turn in range(8):
            word = list(words)[(number + turn) % 4]
            options = {"semantic_groups": ["DISO"]} if turn % 2 else {}
            ents = service.link(f"{word}.", **options)
            if [one["kb_id"] for one in ents] != [words[word]]:
                wrong.append((word, ents))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_key_is_wanted_where_there_is_one(start, make_nlp):
    client = start(make_nlp(), keys=("first key", "schlüssel"))
    for path in ("/", "/livez", "/readyz", "/openapi.json", "/page/main.js"):
        assert client.get(path).status_code == 200
    for path in ("/v1/info", "/v1/concepts/C01", "/metrics"):
        for given in (None, "Bearer first", "Bearer ", "first key", "Bearer first keys"):
            headers = {"authorization": given} if given else {}
            answer = client.get(path, headers=headers)
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        for key in ("first key", "schlüssel"):
            headers = {"authorization": f"Bearer {key}".encode()}
            assert client.get(path, headers=headers).status_code == 200
