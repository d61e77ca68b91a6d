"""Texts go to the one server that was named, keys stay in the environment, errors say neither."""

import logging
import pickle
import socket
import traceback
import warnings

import pytest

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.linking.llm.reranker import make_llm
from tests.spacy_bergamot.linking.llm.conftest import Reply, found, mention, said

KEY = "sk-Geheim-0815"
NOTE = "Jane Doe has a cold."


def ask(reranker, kb) -> list:
    return reranker([mention(NOTE)], [found("C04", "C05")], kb)


@pytest.mark.parametrize(
    "url",
    ["http://example.org/v1", "https://api.openai.com/v1", "http://10.0.0.1:8080/v1",
     "http://0.0.0.0:8080", "http://localhost.example.org", "http://127.0.0.1.example.org",
     "http://[2001:db8::1]/v1"],
)  # fmt: skip
def test_another_machine_is_refused_unless_it_is_allowed(url: str):
    with pytest.raises(BergamotError, match=r"B182.*allow_remote"):
        make_llm(url=url, model="m")
    make_llm(url=url, model="m", allow_remote=True)


def test_this_machine_has_several_names():
    for url in ("http://localhost:1/v1", "http://127.8.0.1", "https://[::1]:8080/v1/"):
        make_llm(url=url, model="m")


def test_a_name_that_leads_to_another_machine_is_refused_before_anything_is_sent(
    llm, server, kb, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(socket.socket, "getpeername", lambda socket: ("192.0.2.1", 80))
    with pytest.raises(BergamotError, match="B182"):
        ask(llm(url=f"http://localhost:{server.port}/v1"), kb)
    assert server.bodies == []


@pytest.mark.parametrize(
    "url",
    [f"http://user:{KEY}@127.0.0.1/v1", f"http://{KEY}@127.0.0.1/v1", f"http://127.0.0.1?key={KEY}",
     f"ftp://127.0.0.1/{KEY}", f"127.0.0.1/{KEY}", f"http://[{KEY}", f"http://127.0.0.1:{KEY}",
     f"http://127.0.0.1/{KEY} HTTP/1.1", f"http://127.0.0.1/é{KEY}", "http://", ""],
)  # fmt: skip
def test_a_url_that_cannot_be_is_refused_and_not_shown(url: str):
    with pytest.raises(BergamotError, match="B181") as caught:
        make_llm(url=url, model="m", allow_remote=True)
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_no_proxy_is_asked(llm, server, kb, monkeypatch: pytest.MonkeyPatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    assert ask(llm(on_error="raise"), kb)
    assert len(server.bodies) == 1


def test_the_key_goes_to_the_server_and_nowhere_else(
    llm, server, kb, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("LLM_KEY", f" {KEY}\n")
    said_of = []
    for reply in (
        said("A"),
        said(KEY),
        Reply(f"bad key {KEY}, Jane Doe", status=401),
        Reply("", status=503),
        Reply(f"{KEY} Jane Doe"),
        Reply({"error": f"Jane Doe {KEY}"}, cut=True),
        Reply("", status=302, headers={"Location": f"http://127.0.0.1:{server.port}/{KEY}"}),
    ):
        server.reply = lambda body, reply=reply: reply
        reranker = llm(key_env="LLM_KEY", retries=1)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ask(reranker, kb)
        said_of += [str(one.message) for one in caught]
        try:
            ask(llm(key_env="LLM_KEY", on_error="raise"), kb)
        except BergamotError as error:
            said_of += traceback.format_exception(error)
        said_of += [repr(reranker), repr(vars(reranker)), repr(pickle.dumps(reranker))]
    assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    assert set(server.paths) == {"/v1/chat/completions"}  # no redirect was followed
    everything = "\n".join([*said_of, caplog.text])
    assert "W180" in everything
    assert "B184" in everything
    for secret in (KEY, "Jane", "Doe"):
        assert secret not in everything


@pytest.mark.parametrize("key", [None, "", "  ", f"{KEY}\nX-Other: 1", f"{KEY}\x00", f"é{KEY}"])
def test_a_key_that_cannot_be_is_an_error_that_does_not_show_it(
    llm, server, kb, monkeypatch: pytest.MonkeyPatch, key
):
    monkeypatch.delenv("LLM_KEY", raising=False)
    if key is not None and "\x00" not in key:
        monkeypatch.setenv("LLM_KEY", key)
    with pytest.raises(BergamotError, match="B183") as caught:
        ask(llm(key_env="LLM_KEY"), kb)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert server.bodies == []


def test_a_key_in_the_place_of_its_variable_is_not_shown(llm):
    with pytest.raises(BergamotError, match=r"B037.*environment variable") as caught:
        llm(key_env=KEY)
    assert KEY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("setting", "value"),
    [("mode", "listwise"), ("order", "random"), ("constraint", "guided"), ("on_error", "ignore"),
     ("k", 1), ("k", 20), ("context", -1), ("aliases", -1), ("parents", -1), ("passes", 0),
     ("timeout", 0), ("timeout", float("inf")), ("timeout", float("nan")), ("retries", -1),
     ("concurrency", 0), ("cache_size", -1), ("max_tokens", 0), ("model", " "),
     ("extra", {"messages": []})],
)  # fmt: skip
def test_settings_that_cannot_be_are_named(llm, setting: str, value: object):
    with pytest.raises(BergamotError, match=rf"B037.*{setting} of the language model reranker"):
        llm(**{setting: value})


def test_the_repr_says_what_scores_depend_on_and_no_more(llm):
    usual = repr(llm())
    for setting, value in (
        ("url", "http://127.0.0.1:1"), ("timeout", 9.0), ("retries", 9), ("concurrency", 1),
        ("cache_size", 1), ("cache_path", "/x"), ("on_error", "raise"), ("allow_remote", True),
        ("key_env", "KEY"),
    ):  # fmt: skip
        assert repr(llm(**{setting: value})) == usual
    for setting, value in (
        ("model", "n"), ("mode", "pairwise"), ("k", 3), ("context", 1), ("aliases", 0),
        ("definitions", False), ("parents", 0), ("nil", False), ("order", "shuffled"),
        ("passes", 2), ("constraint", "none"), ("logprobs", False), ("max_tokens", 9),
        ("extra", {"seed": 1}),
    ):  # fmt: skip
        assert repr(llm(**{setting: value})) != usual
    assert "prompt=1" in usual
    assert " at 0x" not in usual
