"""Coded messages of the alias index and its search engines."""

from spacy_bergamot import errors
from spacy_bergamot.errors import BergamotError

__all__ = ["BergamotError", "Errors"]


class Errors(errors.Errors):
    """B200 to B209: the search engines. The codes of the package as well."""

    B200 = "The engine '{engine}' has no setting '{name}'. It has: {known}."
    B201 = "There is no vector to build an index of. Give a knowledge base with at least one name."
    B202 = "The setting {name} is {value}; it must be at least {least}."
