"""Downloads from a server on loopback that breaks off, refuses, and answers nonsense."""

import logging
from pathlib import Path

import pytest

from tests.training.download.server import KEY, Server
from training.download import client
from training.download.umls import fetch_release
from training.errors import BergamotError


def fetch(server: Server, folder: Path) -> Path:
    return fetch_release("2025AB", folder, server=server.url, pause=0.0)


def test_a_release_arrives_whole_and_is_not_fetched_twice(server: Server, tmp_path: Path):
    path = fetch(server, tmp_path)
    assert path.read_bytes() == server.body
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    assert fetch(server, tmp_path) == path
    assert len(server.ranges) == 1


def test_a_broken_connection_goes_on_where_it_was(server: Server, tmp_path: Path):
    server.breaks, server.failures = 2, 1
    assert fetch(server, tmp_path).read_bytes() == server.body
    starts = [r and int(r.removeprefix("bytes=").rstrip("-")) for r in server.ranges]
    assert starts[:2] == [None, None]
    assert 0 < starts[2] < starts[3]


def test_a_new_version_of_the_file_is_fetched_from_its_start(server: Server, tmp_path: Path):
    part = tmp_path / "umls-2025AB-metathesaurus-full.zip.part"
    part.write_bytes(b"old bytes")
    part.with_name(part.name + ".version").write_text('"\\"zero\\""')
    assert fetch(server, tmp_path).read_bytes() == server.body


def test_a_server_that_always_breaks_is_given_up_and_nothing_is_lost(server, tmp_path):
    server.failures = 100
    with pytest.raises(BergamotError, match="T402"):
        fetch(server, tmp_path)


@pytest.mark.parametrize(
    ("attribute", "value", "text"),
    [
        ("status", 404, "no release 2025AB"),
        ("kind", "text/html", "web page"),
        ("status", 418, "418"),
    ],
)
def test_a_refusal_is_explained(server, tmp_path, attribute, value, text):
    setattr(server, attribute, value)
    with pytest.raises(BergamotError, match="T401") as error:
        fetch(server, tmp_path)
    assert text in str(error.value)
    assert not (tmp_path / "umls-2025AB-metathesaurus-full.zip").exists()


def test_the_key_is_never_shown(server, tmp_path, monkeypatch, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("UMLS_API_KEY", "wrong-secret")
    with pytest.raises(BergamotError, match=r"T401.*UMLS_API_KEY") as error:
        fetch(server, tmp_path)
    server.shutdown()
    server.server_close()
    with pytest.raises(BergamotError, match="T402") as gone:
        fetch(server, tmp_path)
    shown = caplog.text + str(error.value) + str(gone.value) + "".join(capfd.readouterr())
    assert "wrong-secret" not in shown
    assert "TimeoutError" in shown or "ConnectionError" in shown


def test_the_key_is_not_shown_by_a_warning_of_a_broken_header(server, tmp_path, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    server.broken = b"no header at all\r\n"
    assert fetch(server, tmp_path).is_file()
    shown = caplog.text + "".join(capfd.readouterr())
    assert KEY not in shown
    assert "apiKey" not in shown


@pytest.mark.parametrize("length", ["abc", "-5", "1e3", "9" * 5000])
def test_a_length_that_makes_no_sense_is_an_error(server, tmp_path, length):
    server.length = length
    with pytest.raises(BergamotError, match=r"T401.*Content-Length"):
        fetch(server, tmp_path)


@pytest.mark.parametrize("place", ["http://[", "http://", "ftp://host/x", "http://a b:x/"])
def test_a_redirection_to_no_address_is_an_error(server, tmp_path, place):
    server.location = place
    with pytest.raises(BergamotError, match=r"T401.*Location") as error:
        fetch(server, tmp_path)
    assert KEY not in str(error.value)
    assert error.value.__cause__ is None


def test_without_a_key_or_with_a_wrong_name_nothing_is_asked(server, tmp_path, monkeypatch):
    with pytest.raises(BergamotError, match="T406"):
        fetch_release("latest", tmp_path, server=server.url)
    monkeypatch.delenv("UMLS_API_KEY")
    with pytest.raises(BergamotError, match="T405"):
        fetch(server, tmp_path)
    assert not server.ranges


def test_a_file_that_fails_its_checksums_is_removed(server, tmp_path):
    body = bytearray(server.body)
    body[60] ^= 255
    server.body = bytes(body)
    with pytest.raises(BergamotError, match="T401"):
        fetch(server, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_disk_that_is_too_small_is_said(server, tmp_path, monkeypatch):
    usage = client.shutil.disk_usage(tmp_path)._replace(free=10)
    monkeypatch.setattr(client.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(BergamotError, match="B007"):
        fetch(server, tmp_path)
