"""Coded messages of preprocessing's hierarchy."""

from training.errors import BergamotError
from training.errors import Errors as TrainingErrors

__all__ = ["BergamotError", "Errors"]


class Errors(TrainingErrors):
    """B235 to B237, beside the codes that all of training has."""

    B235 = "Unknown hierarchy '{value}'. Choose mrhier or relations, or leave it out."
    B236 = (
        "{path} has no MRHIER.RRF, which --hierarchy mrhier reads. Give a full release, or choose "
        "--hierarchy relations."
    )
    B237 = (
        "The hierarchy of {path} gives no pair of a name and an ancestor's; left out: {skipped}. "
        "Choose another --hierarchy, or none."
    )
