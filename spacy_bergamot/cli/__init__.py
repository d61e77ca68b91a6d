"""`python -m spacy bergamot`: link, annotate, explain, search, info, kb, index, serve and more."""

from spacy_bergamot.cli import annotate, ask, check, kb, link, make, publish, rerank, serve
from spacy_bergamot.cli.app import bergamot

__all__ = [
    "annotate",
    "ask",
    "bergamot",
    "check",
    "kb",
    "link",
    "make",
    "publish",
    "rerank",
    "serve",
]
