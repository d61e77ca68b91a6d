"""Coded messages of annotating a corpus."""

from spacy_bergamot import errors
from spacy_bergamot.errors import BergamotError

__all__ = ["BergamotError", "Errors"]


class Errors(errors.Errors):
    """B170 to B178 and B250: annotating a corpus. The codes of the package as well."""

    B170 = (
        "Column '{column}' of {path} cannot be taken: {reason}. Give another column, or rename it."
    )
    B171 = (
        "A worker of annotate cannot begin: {reason}. Where memory is short, give fewer --workers; "
        "the same command goes on with what is done."
    )
    B172 = (
        "{path} cannot be reached: {reason}. Correct the URL, or install the package that fsspec "
        "needs for it, such as s3fs."
    )
    B174 = (
        "The id {id} of column '{column}' is twice there: {first}, {second}. Correct it, give "
        "another --id-column, or let them pass by --duplicate-ids."
    )
    B175 = "{path} has no plan: nothing was annotated into it. Correct the path of the output."
    B176 = (
        "{count} of {of} files were not made, as their rows cannot be read; the others are whole. "
        "Put the input back as it was, and give the same command again. The first: {reason}"
    )
    B177 = (
        "Ray cannot be used: {reason}. Try: pip install 'spacy_bergamot[ray]' with the Ray of the "
        "cluster, and give the cluster's --ray-address."
    )
    B178 = (
        "The actors that were to make {name} have ended again and again: {reason}. Give them more "
        "--worker-memory; the same command goes on with what is done."
    )
    B250 = (
        "No actor of Ray has begun for {seconds} seconds. Each wants {wish}; of the cluster {free} "
        "is free, of {total} in all. The job waits until there is room. If there will be none, end "
        "it and give less: --worker-cpus, --worker-gpus, --worker-memory."
    )
