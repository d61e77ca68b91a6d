"""`python -m spacy bergamot`: link, explain, search, info, index, update, calibrate, export."""

from spacy_bergamot.cli import ask, link, make
from spacy_bergamot.cli.app import bergamot

__all__ = ["ask", "bergamot", "link", "make"]
