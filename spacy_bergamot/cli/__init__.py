"""`python -m spacy bergamot`: link, export, explain, search, info, kb, index, update, calibrate."""

from spacy_bergamot.cli import ask, kb, link, make
from spacy_bergamot.cli.app import bergamot

__all__ = ["ask", "bergamot", "kb", "link", "make"]
