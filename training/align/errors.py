"""Coded messages of matching two vocabularies."""

from training.errors import BergamotError
from training.errors import Errors as TrainingErrors

__all__ = ["BergamotError", "Errors"]


class Errors(TrainingErrors):
    """B240 to B244: OntoEA. The codes of training as well."""

    B240 = (
        "The {side} side has {count} concepts; OntoEA compares all of one with each other, and "
        "takes {most} at most. Give fewer, or --method names."
    )
    B241 = (
        "The {side} side has no concept with a parent, and OntoEA learns from hierarchies. Give a "
        "table with parents, or --method names."
    )
    B242 = (
        "{path} is of an interrupted run with other vocabularies, seeds or language model. Run "
        "that one to its end, or remove the folder."
    )
    B243 = "{path} cannot be gone on with: {reason} Remove the folder to start anew."
    B244 = (
        "OntoEA has {count} seeds and takes {least}: two thirds to learn from, a third to choose "
        "by. Give more with --seeds, or --method names."
    )
