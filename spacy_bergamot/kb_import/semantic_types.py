"""The UMLS Semantic Network's types and their semantic groups."""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class SemanticType:
    """A semantic type: its id, its tree number, its name and its group."""

    tui: str
    tree_number: str
    name: str
    group: str


@cache
def semantic_types() -> tuple[SemanticType, ...]:
    """Return all semantic types, in order of their ids."""
    path = Path(__file__).with_name("semantic_types.tsv")
    with path.open(encoding="utf8", newline="") as stream:
        rows = csv.reader(stream, delimiter="\t")
        next(rows)
        return tuple(SemanticType(*row) for row in rows)
