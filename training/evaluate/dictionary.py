"""The dictionary that retrievers search: distinct names in normal form, each with its concepts."""

from collections.abc import Iterable
from functools import cached_property

from spacy_bergamot.text import normalize


class Dictionary:
    """Distinct names and the concepts that each may name.

    names (list[str]): In normal form, sorted.
    concepts (list[tuple[str, ...]]): Concept ids of each name, sorted.
    """

    def __init__(self, entries: Iterable[tuple[str, str]]) -> None:
        merged: dict[str, set[str]] = {}
        for concept_ids, name in entries:
            merged.setdefault(normalize(name), set()).update(concept_ids.split("|"))
        self.names = sorted(merged)
        self.concepts = [tuple(sorted(merged[name])) for name in self.names]

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.names)}

    @cached_property
    def concept_ids(self) -> frozenset[str]:
        return frozenset(concept for concepts in self.concepts for concept in concepts)
