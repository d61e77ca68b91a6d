"""Settings of the reranker by a language model on a server, checked when they are given."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from spacy_bergamot.linking.errors import BergamotError, Errors

MOST = 19
"""Candidates that a question may have: with NIL 20, as many as servers give probabilities of."""

_CHOICES = {
    "mode": ("choice", "pairwise"),
    "order": ("score", "shuffled"),
    "constraint": ("schema", "choice", "none"),
    "on_error": ("keep", "raise"),
}
_LEAST = {"context": 0, "aliases": 0, "parents": 0, "passes": 1, "retries": 0}
_LEAST |= {"concurrency": 1, "cache_size": 0}
_OURS = {"model", "messages", "stream", "query", "documents"}


class Address(NamedTuple):
    """Where a server listens. path (str): What stands before the names of its endpoints."""

    host: str
    port: int | None
    path: str
    is_tls: bool


@dataclass(frozen=True)
class LlmSettings:
    """Settings of `LlmReranker`. Its repr has those that change scores, and no others.

    url (str): Base of an OpenAI-compatible server, such as http://127.0.0.1:8080/v1.
    model (str): As the server calls it.
    mode (str): "choice" asks a chat model for the letter of a candidate, "pairwise" a rerank
        endpoint for the score of each.
    k (int): Candidates that are asked about, 2 to 19; the others come behind them.
    context (int): Characters of the text around the mention.
    aliases, parents (int): Of every candidate, at most. definitions (bool): Its definition too.
    nil (bool): Let the model say that none fits ("choice" only; elsewhere a threshold does).
    order (str): Of the candidates in the question: "score", or "shuffled" (by a hash).
    passes (int): Questions about a mention, all but the first in shuffled order; their
        probabilities are averaged, as models prefer some places to others ("choice" only).
    constraint (str): How the server is asked to allow no other answer: "schema" (a JSON schema),
        "choice" (vLLM), "none". Answers are checked in any case.
    logprobs (bool): Ask for the probabilities of the letters.
    max_tokens (int | None): Of the answer; None for what a letter needs. A model that thinks first
        needs more.
    extra (dict | None): Further fields of every request, such as {"reasoning_effort": "none"}.
    timeout (float): Seconds that a request may take. retries (int): After the first try.
    concurrency (int): Requests at once.
    cache_size (int): Answers remembered. cache_path (str | None): SQLite file to keep them in.
    on_error (str): Without an answer "keep" the order of the candidates, or "raise".
    allow_remote (bool): Let the text of documents leave this machine.
    key_env (str | None): Environment variable that holds the server's key.

    RAISES (BergamotError): B037 for a value that cannot be, B181 for the url, B182 if it is of
        another machine and `allow_remote` is not set.
    """

    url: str = field(repr=False)
    model: str
    mode: str = "choice"
    k: int = 10
    context: int = 256
    aliases: int = 5
    definitions: bool = True
    parents: int = 3
    nil: bool = True
    order: str = "score"
    passes: int = 1
    constraint: str = "schema"
    logprobs: bool = True
    max_tokens: int | None = None
    extra: Mapping[str, Any] | None = None
    timeout: float = field(default=30.0, repr=False)
    retries: int = field(default=2, repr=False)
    concurrency: int = field(default=8, repr=False)
    cache_size: int = field(default=10_000, repr=False)
    cache_path: str | None = field(default=None, repr=False)
    on_error: str = field(default="keep", repr=False)
    allow_remote: bool = field(default=False, repr=False)
    key_env: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for setting, known in _CHOICES.items():
            self._check(setting, getattr(self, setting) in known, f"one of {', '.join(known)}")
        for setting, least in _LEAST.items():
            self._check(setting, getattr(self, setting) >= least, f"at least {least}")
        self._check("k", 2 <= self.k <= MOST, f"between 2 and {MOST}")
        self._check("timeout", self.timeout > 0 and math.isfinite(self.timeout), "above 0")
        self._check("max_tokens", self.max_tokens is None or self.max_tokens > 0, "above 0")
        self._check("model", bool(self.model.strip()), "the name of a model")
        own = _OURS & set(self.extra or ())
        self._check("extra", not own, f"without {', '.join(sorted(_OURS))}")
        # Not shown: who mistakes the setting writes the key itself.
        if self.key_env is not None and not re.fullmatch(r"[A-Za-z_]\w*", self.key_env, re.ASCII):
            what, rule = "key_env of the language model reranker", "an environment variable's name"
            raise BergamotError(Errors.B037, setting=what, value="not one", rule=rule)
        host = self.address.host
        if not (self.allow_remote or host == "localhost" or is_loopback(host)):
            raise BergamotError(Errors.B182, host=host)

    @property
    def address(self) -> Address:
        """Where the server is. RAISES (BergamotError): B181, without the url: it may hold a key."""
        try:
            parts = urlsplit(self.url)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise BergamotError(Errors.B181, reason="it is no URL") from None
        if parts.scheme not in ("http", "https") or not host:
            raise BergamotError(Errors.B181, reason="it has no http:// and host")
        if parts.username is not None or parts.password is not None or parts.query:
            raise BergamotError(Errors.B181, reason="it has a user, a password or a query")
        if not all("!" <= letter <= "~" for letter in host + parts.path):
            raise BergamotError(Errors.B181, reason="it has characters that no URL has")
        return Address(host, port, parts.path.rstrip("/"), parts.scheme == "https")

    def _check(self, setting: str, holds: bool, rule: str) -> None:
        if not holds:
            what, value = f"{setting} of the language model reranker", repr(getattr(self, setting))
            raise BergamotError(Errors.B037, setting=what, value=value, rule=rule)


def is_loopback(host: str) -> bool:
    """Tell whether an address is of this machine; names are of none.

    host (str): Name or address.
    """
    try:
        return ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False
