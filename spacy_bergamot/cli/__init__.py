"""`python -m spacy bergamot`: link, explain, search, info, index, update, calibrate, check…"""

from spacy_bergamot.cli import ask, check, link, make
from spacy_bergamot.cli.app import bergamot

__all__ = ["ask", "bergamot", "check", "link", "make"]
