"""Coded messages of publishing a pipeline."""

from spacy_bergamot import errors
from spacy_bergamot.errors import BergamotError

__all__ = ["BergamotError", "Errors"]


class Errors(errors.Errors):
    """B220 to B223: publishing a pipeline. The codes of the package as well."""

    B220 = (
        "{path} is no folder that `spacy package` wrote: {reason}. "
        "Make one: python -m spacy package PIPELINE PACKAGES --build wheel"
    )
    B221 = (
        "{path} has no wheel of {package} {version}; it has: {found}. "
        "Make it: python -m spacy package PIPELINE PACKAGES --build wheel --force"
    )
    B222 = "'{repo}' is no name of a repository on the hub. Give USER/NAME or ORGANISATION/NAME."
    B223 = (
        "The hub did not take {repo}: {reason}. Log in by `huggingface-cli login` or HF_TOKEN, "
        "with a token that may write there, and give the same command again."
    )
