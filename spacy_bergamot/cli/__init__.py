"""`python -m spacy bergamot`: link, export, explain, search, info, kb, index, update, check."""

from spacy_bergamot.cli import ask, check, kb, link, make
from spacy_bergamot.cli.app import bergamot

__all__ = ["ask", "bergamot", "check", "kb", "link", "make"]
