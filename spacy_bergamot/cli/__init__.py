"""`python -m spacy bergamot`: link, annotate, explain, search, index, serve, mcp and more."""

from spacy_bergamot.cli import annotate, ask, check, kb, link, make, mcp, publish, rerank, serve
from spacy_bergamot.cli.app import bergamot

__all__ = [
    "annotate", "ask", "bergamot", "check", "kb", "link", "make", "mcp", "publish", "rerank",
    "serve",
]  # fmt: skip
