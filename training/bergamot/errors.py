"""Coded messages of the trainer's batches and objectives."""

from training.errors import BergamotError
from training.errors import Errors as TrainingErrors

__all__ = ["BergamotError", "Errors"]


class Errors(TrainingErrors):
    """B230 to B234, beside the codes that all of training has."""

    B230 = (
        "The objective '{name}' needs {needs}, which these batches do not have. Change @batches in "
        "[batches], or the objective: configs/train has an example of each."
    )
    B231 = (
        "The training set has {count} relations; a matrix each is made for {most} at most. Set "
        "[objectives.relation] relation to diagonal or transe, or preprocess with --relation-label "
        "rel."
    )
    B232 = (
        "batches.size is {size}, but the training set has only {count} {what}. Make the batch "
        "smaller."
    )
    B233 = (
        "The training set {path} has no graded pairs. Preprocess with --hierarchy mrhier or "
        "--hierarchy relations."
    )
