"""Which semantic types the labels of common NER models and corpora stand for."""

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from spacy_bergamot.kb.semantic_types import GROUP_NAMES, semantic_types, with_types_below


@cache
def entity_labels() -> Mapping[str, frozenset[str]]:
    """Return {label: its semantic types and groups}, none for a label that is never clinical.

    Labels are in capitals, with `_` between words. It is our reading of what the corpora annotate.
    """
    path = Path(__file__).with_name("entity_labels.tsv")
    with path.open(encoding="utf8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t")
        return {row["label"]: frozenset(row["types"].split()) for row in rows}


@cache
def never_clinical() -> tuple[str, ...]:
    """Return the labels of general NER models that stand for no semantic type."""
    return tuple(label for label, types in entity_labels().items() if not types)


@cache
def types_of_label(label: str) -> frozenset[str]:
    """Return the semantic types and groups that a label stands for, none if it is unknown.

    label (str): In any case, with spaces, `-` or `_` between words. A semantic type (T047) stands
        for itself and all below it, a semantic group (DISO) for itself; several types are joined
        by commas.
    """
    return frozenset().union(*map(_types_of_one, label.split(",")))


def _types_of_one(label: str) -> frozenset[str]:
    known = label.strip().upper().replace("-", "_").replace(" ", "_")
    if known in GROUP_NAMES or known in {one.tui for one in semantic_types()}:
        return with_types_below([known])
    return entity_labels().get(known, frozenset())
