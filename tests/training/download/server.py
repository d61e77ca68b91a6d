"""A server that breaks and refuses as those of releases and of Wikidata do."""

import io
import json
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

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
