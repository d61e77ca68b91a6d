"""`python -m spacy bergamot`: link, annotate, export, explain, search, info, kb, index and more."""

from spacy_bergamot.cli import annotate, ask, check, kb, link, make
from spacy_bergamot.cli.app import bergamot

__all__ = ["annotate", "ask", "bergamot", "check", "kb", "link", "make"]
