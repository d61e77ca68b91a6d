"""Whatever a server does, no document is lost, and no time beyond what was allowed."""

import time
import warnings

import pytest

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.linking.candidates import NIL
from spacy_bergamot.linking.llm import client
from tests.spacy_bergamot.linking.llm.conftest import (
    IDS,
    Reply,
    found,
    kept,
    mention,
    order,
    said,
)


@pytest.mark.parametrize(
    ("reply", "reason", "requests"),
    [
        (Reply({"error": {"message": "unknown model m"}}, status=404), "status 404", 1),
        (Reply("no", status=401), "status 401", 1),
        (Reply("", status=302, headers={"Location": "http://127.0.0.1:1/v1"}), "status 302", 1),
        (Reply("busy", status=500), "status 500", 3),
        (Reply("later", status=429), "status 429", 3),
        (Reply('{"choices": [', status=200), "an answer that is no JSON", 3),
        (Reply("[" * 100_000), "an answer that is no JSON", 3),
        (Reply(said("B"), cut=True), "an answer that is no JSON", 3),
        (Reply({"error": "m"}), "no letter of the question", 2),
        (Reply({"choices": []}), "no letter of the question", 2),
        (Reply([]), "no letter of the question", 2),
        (Reply({"choices": [{"message": "B"}]}), "no letter of the question", 2),
    ],
)
def test_a_failing_server_costs_no_document(llm, server, kb, reply, reason, requests):
    server.reply = lambda body: reply
    assert reason in kept(llm(retries=2), kb)
    assert len(server.bodies) == requests


@pytest.mark.parametrize(
    "reply", [Reply("busy", status=500), Reply("later", status=429, headers={"Retry-After": "1"})]
)
def test_a_server_that_recovers_is_asked_again(llm, server, kb, reply):
    replies = iter([reply, said("B")])
    server.reply = lambda body: next(replies)
    start = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert order(llm(retries=1), kb)[0] == "C05"
    assert (time.monotonic() - start >= 1) == bool(reply.headers)
    assert server.bodies[0] == server.bodies[1]


def test_a_server_that_hangs_is_left_after_the_timeout(llm, server, kb):
    server.reply = lambda body: time.sleep(3)
    start = time.monotonic()
    assert "TimeoutError (1)" in kept(llm(timeout=0.2), kb)
    assert time.monotonic() - start < 2


def test_a_server_that_drips_is_left_after_the_timeout(llm, server, kb):
    server.reply = lambda body: Reply(said("B"), drip=0.05)
    start = time.monotonic()
    assert "TimeoutError (1)" in kept(llm(timeout=0.5), kb)
    assert time.monotonic() - start < 3  # whole, it would take six


def test_an_answer_without_end_is_not_read(llm, server, kb, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(client, "_LARGEST", 1000)
    server.reply = lambda body: said("B" + " " * 2000)
    assert "an answer that is too long (1)" in kept(llm(), kb)


def test_after_some_failures_in_a_row_the_batch_asks_no_more(llm, server, kb):
    server.reply = lambda body: Reply("", status=503)
    reranker, texts = llm(concurrency=1), [f"Note {n}: a cold." for n in range(20)]
    documents = [[mention(text)] for text in texts]
    with pytest.warns(UserWarning, match=r"20 of 20 questions.*row \(17\)"):
        changed = reranker.rerank_documents(documents, [[found(*IDS)]] * 20, kb)
    assert changed == [[found(*IDS)]] * 20
    assert len(server.bodies) == 3
    server.reply = lambda body: said("B")
    changed = reranker.rerank_documents(documents, [[found(*IDS)]] * 20, kb)  # a new batch tries
    assert all(of[0][0].concept_id == "C05" for of in changed)


def test_a_server_that_is_not_there_is_said_once(llm, server, kb):
    server.close()
    reranker = llm()
    assert "ConnectionRefusedError (1)" in kept(reranker, kb)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert order(reranker, kb, text="Once more a cold.") == [*IDS]
    assert reranker.counts["failed"] == 2


def test_a_server_without_tls_is_sent_nothing_where_the_url_says_https(llm, server, kb):
    assert "SSLError (1)" in kept(llm(url=server.url.replace("http:", "https:")), kb)
    assert server.bodies == []


def test_failures_are_errors_where_that_is_asked_for(llm, server, kb):
    server.reply = lambda body: Reply("", status=404)
    with pytest.raises(BergamotError, match=rf"B184.*127.0.0.1:{server.port}.*status 404 \(1\)"):
        order(llm(on_error="raise"), kb)


def test_results_do_not_depend_on_concurrency(llm, server, kb):
    def answer(body):
        text = body["messages"][1]["content"]
        number = int(text.partition("Note ")[2].partition(":")[0])
        time.sleep(0.05 * (number % 3 == 0))  # those asked first answer last
        return said("the cold" if number % 5 == 4 else "ABCD"[number % 4])

    server.reply = answer
    documents = [[mention(f"Note {n}: a cold.")] * 2 for n in range(15)]
    results = []
    for concurrency in (1, 8):
        with pytest.warns(UserWarning, match="3 of 15 questions"):
            results.append(
                llm(concurrency=concurrency).rerank_documents(
                    documents, [[found(*IDS)] * 2] * 15, kb
                )
            )
    assert results[0] == results[1]
    firsts = [of[0][0].concept_id for of in results[0]]
    assert firsts[:4] == ["C04", "C05", "C10", NIL]
    assert all(one == two for one, two in results[0])
