"""What every request passes: key, size and time of its body, headers, counts, and one log line.

Nothing of a request's text, and no query, gets into a log, not even by an exception's message.
"""

import asyncio
import hmac
import logging
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from spacy_bergamot.serve.limits import Limits
from spacy_bergamot.serve.metrics import Metrics
from spacy_bergamot.serve.refusals import Refused
from spacy_bergamot.serve.service import place

_CLOSED = ("/v1/", "/metrics", "/reconcile", "/mcp", "/api/", "/inception/")
"""Beginnings of the paths that need a key, if there is one."""

_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
_JSON = ("application/json", "application/x-ndjson")
_FORM = ("application/x-www-form-urlencoded",)

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Names of a machine that only its own programs can call it by."""

_PAGES = "http://localhost:* http://127.0.0.1:*"
_RECONCILE = "/reconcile"
"""Beginning of the paths that programs of this machine read by their own pages (OpenRefine)."""

logger = logging.getLogger("spacy_bergamot.serve")


class Gate:
    """ASGI middleware around the whole service.

    keys (Sequence[str]): One of them must come with a request; any request will do if there are
        none.
    hosts (Sequence[str]): Names by which the service may be called, so that no page of another
        site reaches it by a name of its own; any if there are none.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        limits: Limits,
        metrics: Metrics,
        keys: Sequence[str] = (),
        hosts: Sequence[str] = (),
    ) -> None:
        self.app = app
        self.limits = limits
        self.metrics = metrics
        self.keys = [key.encode() for key in keys]
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                said = _HEADERS | _for_pages(scope)
                added = [(name.encode(), value.encode()) for name, value in said.items()]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        try:
            try:
                self._check(scope)
                body = await self._body(Headers(scope=scope), receive)
                if body is not None:
                    await self.app(scope, _replayed(body, receive), sending)
            except Refused as refused:
                await response_to(refused)(scope, receive, sending)
            except Exception as error:
                logger.error("%s: %s", type(error).__name__, place(error))
        finally:
            seconds = time.perf_counter() - started
            route = getattr(scope.get("route"), "path", "other")
            self.metrics.requests.labels(route, str(status)).inc()
            self.metrics.seconds.labels(route).observe(seconds)
            logger.info("%s %s %d %d ms", scope["method"], route, status, 1000 * seconds)

    def _check(self, scope: Scope) -> None:
        """Refuse who calls another host or has no key, and what is no JSON."""
        headers = Headers(scope=scope)
        host = urlsplit(f"//{headers.get('host', '')}").hostname
        if self.hosts and host not in self.hosts:
            raise Refused(421, "The service is not called by that name; see --allow-host.")
        if self.keys and scope["path"].startswith(_CLOSED):
            scheme, _, given = headers.get("authorization", "").partition(" ")
            told = given.encode("latin1") if scheme.lower() == "bearer" else b""
            # All are compared, in constant time each, so that the time tells nothing of a key.
            if not sum(hmac.compare_digest(told, key) for key in self.keys):
                raise Refused(401, "Give a key: Authorization: Bearer KEY")
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        kinds = _FORM if scope["path"].startswith(_RECONCILE) else _JSON
        if scope["method"] == "POST" and kind not in kinds:
            raise Refused(415, f"Give Content-Type: {' or '.join(kinds)}")

    async def _body(self, headers: Headers, receive: Receive) -> bytes | None:
        """Return the body; None if the client has gone. RAISES (Refused): 413, 408."""
        deadline = asyncio.get_running_loop().time() + self.limits.seconds
        told = headers.get("content-length", "0")
        size, body, more = 0, bytearray(), True
        too_large = Refused(413, f"{self.limits.body} bytes are the most that a request may have.")
        refused = too_large if int(told) > self.limits.body else None
        if refused and "expect" in headers:
            raise refused  # the client waits for leave to send
        while more:
            left = deadline - asyncio.get_running_loop().time()
            try:
                message = await asyncio.wait_for(receive(), max(left, 0))
            except asyncio.TimeoutError:
                late = f"The request was not complete after {self.limits.seconds:g} seconds."
                raise refused or Refused(408, late) from None
            if message["type"] == "http.disconnect":
                return None
            more = message.get("more_body", False)
            body += message.get("body", b"")
            size += len(message.get("body", b""))
            if refused or size > self.limits.body:
                # It is read to its end all the same: a client that still sends reads no answer.
                refused = too_large
                body.clear()
        if refused:
            raise refused
        return bytes(body)


def response_to(refused: Refused) -> JSONResponse:
    """Return the response that says why a request is refused."""
    headers = {}
    if refused.retry_after:
        headers["retry-after"] = str(refused.retry_after)
    if refused.status == 401:
        headers["www-authenticate"] = "Bearer"
    if refused.status in (408, 413):
        headers["connection"] = "close"
    return JSONResponse(refused.body(), refused.status, headers)


def _for_pages(scope: Scope) -> dict[str, str]:
    """Return headers that let a page of this machine, and no other, read and frame an answer."""
    if not scope["path"].startswith(_RECONCILE):
        return {}
    found = {"content-security-policy": "default-src 'none'; frame-ancestors " + _PAGES}
    origin = Headers(scope=scope).get("origin", "")
    if urlsplit(origin).hostname in LOOPBACK:
        found |= {"access-control-allow-origin": origin, "vary": "origin"}
    return found


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return what gives the body at once, and then what comes after it: a disconnection."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Any:
        return left.pop() if left else await receive()

    return replay
