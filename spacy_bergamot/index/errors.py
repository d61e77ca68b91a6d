"""Coded messages of the alias index and its search engines."""

from spacy_bergamot import errors
from spacy_bergamot.errors import BergamotError

__all__ = ["BergamotError", "Errors"]


class Errors(errors.Errors):
    """B201: the search engines. The codes of the package as well."""

    B201 = "There is no vector to build an index of. Give a knowledge base with at least one name."
