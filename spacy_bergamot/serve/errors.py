"""Coded messages of the service."""

from spacy_bergamot import errors
from spacy_bergamot.errors import BergamotError

__all__ = ["BergamotError", "Errors"]


class Errors(errors.Errors):
    """B161, B162: the service. The codes of the package as well."""

    B161 = "{path} holds no key: {reason}. Write keys into it, one per line."
    B162 = (
        "Cannot listen at {host}, port {port}: {reason}. Choose another --port, or an address of "
        "this machine as --host."
    )
