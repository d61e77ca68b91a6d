"""The way to a server that speaks HTTP: one request, one answer in JSON, or why there is none.

By http.client itself: it follows no redirect and no proxy, so that text goes where it was meant to.
Nothing of what is sent or answered, and no key, comes into an error or a log.
"""

import json
import os
import ssl
import time
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any

from spacy_bergamot.linking.errors import BergamotError, Errors
from spacy_bergamot.linking.llm.settings import LlmSettings, is_loopback

_PAUSE = 0.25  # seconds before the second try; each next one waits twice as long
_PIECE = 1 << 16
_LARGEST = 1 << 24  # bytes of an answer


class NoAnswerError(Exception):
    """Why a server gave no answer.

    reason (str): Without anything of the text. again (bool): Whether another try may help.
    wait (float): Seconds that the server asks to be left alone, 0 if it does not.
    """

    def __init__(self, reason: str, *, again: bool = False, wait: float = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again
        self.wait = wait


class Client:
    """Asks one server; any thread may at any time.

    settings (LlmSettings): Address, time, tries and where the key is.
    """

    def __init__(self, settings: LlmSettings) -> None:
        self._address = settings.address
        self._settings = settings

    @property
    def host(self) -> str:
        """The server in words, for errors."""
        host, port = self._address.host, self._address.port
        return f"{host}:{port}" if port else host

    def post(self, endpoint: str, body: dict[str, Any]) -> Any:
        """Return what the server answers, as parsed JSON.

        endpoint (str): Below the url. body (Any): Sent as JSON.
        RAISES: NoAnswerError after the last try. BergamotError: B182 if the name of the server
            leads to another machine, B183 without a key where one is named.
        """
        data = json.dumps(body).encode()
        for attempt in range(self._settings.retries):
            try:
                return self._posted(endpoint, data)
            except NoAnswerError as failure:
                if not failure.again:
                    raise
                pause = failure.wait or _PAUSE * 2**attempt
                time.sleep(min(pause, self._settings.timeout))
        return self._posted(endpoint, data)

    def _posted(self, endpoint: str, data: bytes) -> Any:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        headers |= self._authorization()
        until = time.monotonic() + self._settings.timeout
        connection = self._connection()
        try:
            connection.connect()
            self._check_peer(connection)
            connection.request("POST", f"{self._address.path}/{endpoint}", data, headers)
            with connection.getresponse() as response:
                text = _whole(response, until)
        except (OSError, HTTPException) as error:
            raise NoAnswerError(type(error).__name__, again=True) from None
        finally:
            connection.close()
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise NoAnswerError("an answer that is no JSON", again=True) from None

    def _connection(self) -> HTTPConnection:
        address, timeout = self._address, self._settings.timeout
        if not address.is_tls:
            return HTTPConnection(address.host, address.port, timeout=timeout)
        context = ssl.create_default_context()
        return HTTPSConnection(address.host, address.port, timeout=timeout, context=context)

    def _check_peer(self, connection: HTTPConnection) -> None:
        """Refuse another machine before anything is sent: a name leads where its resolver says."""
        if not self._settings.allow_remote and not is_loopback(connection.sock.getpeername()[0]):
            raise BergamotError(Errors.B182, host=self._address.host)

    def _authorization(self) -> dict[str, str]:
        name = self._settings.key_env
        if name is None:
            return {}
        key = os.environ.get(name, "").strip()
        if not key:
            raise BergamotError(Errors.B183, reason="is not set")
        if not all("!" <= letter <= "~" for letter in key):
            raise BergamotError(Errors.B183, reason="has characters that no key has")
        return {"Authorization": f"Bearer {key}"}


def _whole(response: HTTPResponse, until: float) -> bytes:
    """Read an answer. RAISES (NoAnswerError): If it is no answer, too large or too slow."""
    if response.status != 200:
        again = response.status == 429 or response.status >= 500
        wait = _seconds(response.getheader("Retry-After", ""))
        raise NoAnswerError(f"status {response.status}", again=again, wait=wait)
    pieces, size = [], 0
    while piece := response.read1(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > _LARGEST:
            raise NoAnswerError("an answer that is too long")
        if time.monotonic() > until:
            raise NoAnswerError("TimeoutError", again=True)
    return b"".join(pieces)


def _seconds(text: str) -> float:
    """Return the seconds of Retry-After, 0 for a date or anything else."""
    return float(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0.0
