"""Downloads from a server on loopback that breaks off, refuses, and answers nonsense."""

import io
import json
import logging
import sys
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest
from confection import Config
from typer.testing import CliRunner

from training.__main__ import app
from training.download import client
from training.download.umls import fetch_release
from training.download.wikidata import fetch_names
from training.errors import BergamotError
from training.preprocess.training_set import TrainingSet

ROOT = Path(__file__).parents[3]
KEY = "0123-secret-key"


def archive() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as out:
        out.writestr("2025AB/META/MRCONSO.RRF", "C1|ENG|\n" * 200_000)
    return stream.getvalue()


class Server(ThreadingHTTPServer):
    """What it serves, how it misbehaves, and what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.body = archive()
        self.breaks = 0  # answers that break off in the middle
        self.failures = 0  # answers of status 503 first
        self.status = 200
        self.kind = "application/zip"
        self.version = '"one"'
        self.length: str | None = None  # announced instead of the body's
        self.broken = b""  # a line among the headers
        self.location = ""
        self.ranges: list[str | None] = []
        self.queries: list[str] = []
        self.names: dict[str, list[tuple[str, str, str]]] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/download"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        server, asked = self.server, self.headers.get("Range")
        server.ranges.append(asked)
        if server.failures:
            server.failures -= 1
            self.send_error(503)
            return
        if parse_qs(urlparse(self.path).query)["apiKey"] != [KEY]:
            self.send_error(401)
            return
        if server.status != 200:
            self.send_error(server.status)
            return
        if server.location:
            self.send_response(302)
            self.send_header("Location", server.location)
            self.end_headers()
            return
        start = 0
        if asked and self.headers.get("If-Range") == server.version:
            start = int(asked.removeprefix("bytes=").rstrip("-"))
        body = server.body[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", server.length or str(len(body)))
        self.send_header("Content-Type", server.kind)
        self.flush_headers()
        self.wfile.write(server.broken)
        self.send_header("ETag", server.version)
        self.end_headers()
        if server.breaks:
            server.breaks -= 1
            body = body[: len(body) // 2]
            self.close_connection = True
        self.wfile.write(body)

    def do_POST(self) -> None:
        server = self.server
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        query = parse_qs(text)["query"][0]
        server.queries.append(query)
        if server.failures:
            server.failures -= 1
            self.send_response(429)
            self.send_header("Retry-After", "0")
            self.end_headers()
            return
        rows = self._items(query) if "P2892" in query else self._names(query)
        body = json.dumps({"results": {"bindings": rows}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _items(self, query: str) -> list[dict]:
        words = query.split()
        limit, offset = int(words[-3]), int(words[-1])
        entity = "http://www.wikidata.org/entity/"
        pairs = [(item, cui) for item, cui in ITEMS][offset : offset + limit]
        return [{"item": {"value": entity + i}, "cui": {"value": c}} for i, c in pairs]

    def _names(self, query: str) -> list[dict]:
        entity = "http://www.wikidata.org/entity/"
        return [
            {
                "item": {"value": entity + item},
                "kind": {"value": kind},
                "name": {"value": name, "xml:lang": language},
            }
            for item, kind, name, language in NAMES
            if f"wd:{item} " in query and f'"{language}"' in query
        ]


ITEMS = [("Q1", "C0000001"), ("Q2", "C0000002"), ("Q3", "C0000003"), ("Q3", "C0000004"),
         ("Q5", "C0000005"), ("Q6", "C0000005"), ("Q7", "nonsense")]  # fmt: skip
NAMES = [
    ("Q1", "PT", "гипертония", "ru"), ("Q1", "SY", "Гипертония", "ru"), ("Q1", "SY", "а|б", "ru"),
    ("Q2", "PT", "열", "ko"), ("Q2", "SY", "…", "ko"), ("Q3", "PT", "двойной", "ru"),
    ("Q5", "PT", "общий", "ru"),
]  # fmt: skip


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
    with pytest.raises(BergamotError, match=r"T270.*Content-Length"):
        fetch(server, tmp_path)


@pytest.mark.parametrize("place", ["http://[", "http://", "ftp://host/x", "http://a b:x/"])
def test_a_redirection_to_no_address_is_an_error(server, tmp_path, place):
    server.location = place
    with pytest.raises(BergamotError, match=r"T270.*Location") as error:
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
    with pytest.raises(BergamotError, match="T404"):
        fetch(server, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_disk_that_is_too_small_is_said(server, tmp_path, monkeypatch):
    usage = client.shutil.disk_usage(tmp_path)._replace(free=10)
    monkeypatch.setattr(client.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(BergamotError, match="T403"):
        fetch(server, tmp_path)


def wikidata(server: Server, folder: Path, languages: tuple[str, ...] = ("ru", "ko"), **options):
    options = {"page": 2, "batch": 2, "pause": 0.0, "server": server.url, **options}
    return fetch_names(folder, list(languages), **options)


def test_names_come_from_wikidata_page_by_page(server: Server, tmp_path: Path):
    server.failures = 2
    counts = wikidata(server, tmp_path)
    lines = (tmp_path / "MRCONSO.RRF").read_text("utf8").splitlines()
    fields = [line.split("|") for line in lines]
    assert {len(f) for f in fields} == {19}
    found = {(f[0], f[1], f[11], f[12], f[13], f[14]) for f in fields}
    assert found == {
        ("C0000001", "RUS", "WIKIDATA", "PT", "Q1", "гипертония"),
        ("C0000001", "RUS", "WIKIDATA", "SY", "Q1", "а б"),
        ("C0000002", "KOR", "WIKIDATA", "PT", "Q2", "열"),
    }
    assert counts["kept"] == 3
    assert counts["dropped: several CUIs or items"] == 2
    assert counts["dropped: no letters"] == 1
    assert counts["dropped: known already"] == 1


def test_a_second_run_asks_for_nothing_and_a_broken_page_is_asked_again(server, tmp_path):
    wikidata(server, tmp_path)
    before = (tmp_path / "MRCONSO.RRF").read_bytes()
    server.queries.clear()
    wikidata(server, tmp_path)
    assert not server.queries
    page = sorted((tmp_path / "names").iterdir())[0]
    page.write_text("{")
    wikidata(server, tmp_path)
    assert len(server.queries) == 1
    assert (tmp_path / "MRCONSO.RRF").read_bytes() == before


def test_only_new_names_of_the_tables_own_concepts(server, tmp_path):
    meta = tmp_path / "META"
    meta.mkdir()
    row = ["C0000001", "RUS", *[""] * 12, "ГИПЕРТОНИЯ", "", "N", "", ""]
    (meta / "MRCONSO.RRF").write_text("|".join(row) + "\n", encoding="utf8")
    counts = wikidata(server, tmp_path / "w", into=meta)
    assert counts["kept"] == 1
    assert counts["dropped: concept not in the table"] == 1


def test_pairs_are_made_of_the_names_alone(server, tmp_path, monkeypatch):
    """As configs/train/bioelx.cfg says: they are a release, of which `preprocess` makes pairs."""
    more = [("Q1", "PT", "hypertension", "en"), ("Q2", "PT", "fever", "en")]
    monkeypatch.setattr(sys.modules[__name__], "NAMES", [*NAMES, *more])
    wikidata(server, tmp_path / "wikidata", languages=("ru", "ko", "en"))
    command = ["preprocess", tmp_path / "wikidata", tmp_path / "corpus", "--held-out", "0"]
    result = CliRunner().invoke(app, [str(part) for part in command])
    assert result.exit_code == 0, result.output
    train = TrainingSet.open(tmp_path / "corpus/train")
    pairs = {
        frozenset(train.names[n].as_py() for n in pair) for pair in train.pairs[:, 1:].tolist()
    }
    assert pairs == {
        frozenset({"гипертония", "а б"}),
        frozenset({"гипертония", "hypertension"}),
        frozenset({"а б", "hypertension"}),
        frozenset({"열", "fever"}),
    }
    config = Config().from_disk(ROOT / "configs/train/bioelx.cfg")
    assert config["paths"]["training_set"] == "corpus/wikidata/train"


def test_an_unknown_language_is_refused(server, tmp_path):
    with pytest.raises(BergamotError, match="T407"):
        fetch_names(tmp_path, ["xx"], server=server.url)
