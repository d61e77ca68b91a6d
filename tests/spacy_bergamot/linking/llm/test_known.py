"""Answers are remembered, in memory and on disk if that is asked for; no text is kept."""

import multiprocessing
import sqlite3
import stat
from pathlib import Path

import pytest

from spacy_bergamot.errors import BergamotError
from tests.spacy_bergamot.linking.llm.conftest import IDS, Reply, found, letter_of, mention, said


@pytest.fixture(autouse=True)
def temperature(server) -> None:
    server.reply = lambda body: said(letter_of(body, "temperature"))


def best(reranker, kb, text: str = "She has a cold.") -> str:
    return reranker([mention(text)], [found(*IDS)], kb)[0][0].concept_id


def test_a_question_is_asked_once(llm, server, kb):
    reranker = llm()
    documents = [[found(*IDS)] * 2, [found(*IDS)]]
    changed = reranker.rerank_documents([[mention()] * 2, [mention()]], documents, kb)
    assert len({str(one) for of in changed for one in of}) == 1
    assert best(reranker, kb) == "C05"
    assert len(server.bodies) == 1
    assert reranker.counts == {"asked": 1, "remembered": 1}
    best(reranker, kb, "He has a cold.")
    assert len(server.bodies) == 2


@pytest.mark.parametrize(("size", "requests"), [(0, 6), (1, 6), (2, 4), (3, 3)])
def test_so_many_answers_are_remembered(llm, server, kb, size, requests):
    reranker = llm(cache_size=size)
    for number in (0, 1, 2, 2, 1, 0):
        best(reranker, kb, f"Note {number}: a cold.")
    assert len(server.bodies) == requests - (size == 1)


def test_what_failed_is_asked_again(llm, server, kb):
    reply, server.reply = server.reply, lambda body: Reply("", status=404)
    reranker = llm()
    with pytest.warns(UserWarning, match="W180"):
        assert best(reranker, kb) == "C04"
    server.reply = reply
    assert best(reranker, kb) == "C05"


def test_answers_on_disk_last_and_hold_no_text(llm, server, kb, tmp_path: Path):
    path = tmp_path / "answers.sqlite"
    logprobs = [{"token": "B", "logprob": -0.5, "top_logprobs": [{"token": "A", "logprob": -1}]}]
    server.reply = lambda body: said("B", logprobs)
    first = llm(cache_path=str(path))([mention()], [found(*IDS)], kb)
    assert llm(cache_path=str(path), cache_size=0)([mention()], [found(*IDS)], kb) == first
    assert len(server.bodies) == 1
    best(llm(cache_path=str(path), model="another"), kb)
    best(llm(cache_path=str(path), passes=2), kb)
    assert len(server.bodies) == 3  # one pass of two was known
    data = path.read_bytes()
    assert not any(word.encode() in data for word in ("cold", "She", "C05", server.url))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_a_damaged_answer_on_disk_is_asked_again(llm, server, kb, tmp_path: Path):
    path = tmp_path / "answers.sqlite"
    best(llm(cache_path=str(path)), kb)
    for text in ('{"chosen": 9, "scores": null}', "nonsense", '{"chosen": 0, "scores": [2]}'):
        with sqlite3.connect(path) as database:
            assert database.execute("UPDATE answers SET answer = ?", (text,)).rowcount == 1
        database.close()
        assert best(llm(cache_path=str(path)), kb) == "C05"
    assert len(server.bodies) == 4


def test_a_file_that_is_no_cache_is_refused_and_left_alone(llm, server, kb, tmp_path: Path):
    other = tmp_path / "notes.sqlite"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE notes (text TEXT)")
    database.close()
    text = tmp_path / "notes.txt"
    text.write_text("A cold. " * 1000)
    for path, reason in ((other, "another program"), (text, "DatabaseError"), (tmp_path, "IsADir")):
        before = path.read_bytes() if path.is_file() else b""
        with pytest.raises(BergamotError, match=rf"B185.*{path.name}.*{reason}"):
            best(llm(cache_path=str(path)), kb)
        assert before == (path.read_bytes() if path.is_file() else b"")
    with pytest.raises(BergamotError, match=r"B185.*missing.*FileNotFound"):
        best(llm(cache_path=str(tmp_path / "missing/answers.sqlite")), kb)
    assert server.bodies == []


def _ask(reranker, kb, results) -> None:
    results.put(best(reranker, kb))


def test_a_forked_process_remembers_what_its_parent_did(llm, server, kb, tmp_path: Path):
    reranker = llm(cache_path=str(tmp_path / "answers.sqlite"))
    best(reranker, kb)
    reranker._known._recent._lock.acquire()  # a thread was at it when the process forked
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    process = context.Process(target=_ask, args=(reranker, kb, results))
    process.start()
    assert results.get(timeout=60) == "C05"
    process.join(60)
    assert len(server.bodies) == 1
