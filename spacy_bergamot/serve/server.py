"""The service behind a socket, until it is told to end."""

import logging
import socket
from pathlib import Path

import uvicorn

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.serve.gate import Gate

_BACKLOG = 512
_LAST_SECONDS = 30
"""Until requests that are under way are broken off at the end."""


def read_keys(path: Path | None) -> list[str]:
    """Return the keys in a file, one per line.

    path (Path | None): The file; None for no keys.
    RAISES (BergamotError): B161 if there is none.
    """
    if path is None:
        return []
    try:
        lines = path.read_text(encoding="utf8").splitlines()
    except (OSError, UnicodeDecodeError) as reason:
        raise BergamotError(Errors.B161, path=path, reason=reason) from None
    keys = [line.strip() for line in lines if line.strip()]
    if not keys:
        raise BergamotError(Errors.B161, path=path, reason="it has no line")
    return keys


def listen(host: str, port: int) -> socket.socket:
    """Return a socket at an address.

    host (str), port (int): The address; port 0 for any that is free.
    RAISES (BergamotError): B162 if it cannot be had.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        return socket.create_server(address, family=family, backlog=_BACKLOG)
    except (OSError, OverflowError) as reason:
        raise BergamotError(Errors.B162, host=host, port=port, reason=reason) from None


def make_server(app: Gate) -> uvicorn.Server:
    """Return a server for `run`, whose logs have no text of a request and no query.

    app (Gate): The application.
    """
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_LAST_SECONDS,
        lifespan="on",
    )
    logging.getLogger("uvicorn.access").setLevel(logging.WARNING)  # it would say queries
    return uvicorn.Server(config)


def serve(app: Gate, listening: socket.socket) -> None:
    """Answer requests until the process gets SIGINT or SIGTERM, then finish those under way.

    app (Gate): The application. listening (socket.socket): Of `listen`.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    make_server(app).run(sockets=[listening])
