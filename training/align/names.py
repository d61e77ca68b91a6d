"""The names of two vocabularies, in normal and in folded form."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.name_keys import folded_key, folded_name
from spacy_bergamot.text import has_letters, normalize

_SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")


class Names(NamedTuple):
    """The names of the left concepts.

    normal (list[list[str]]): Distinct normal forms of every concept, the preferred name's first.
    folded (list[set[int]]): Keys of their folded forms.
    preferred (list[int]): That of the preferred name, 0 without one.
    """

    normal: list[list[str]]
    folded: list[set[int]]
    preferred: list[int]

    @classmethod
    def of(cls, table: ConceptTable) -> "Names":
        """Read the names of a table."""
        normal: list[dict[str, None]] = [{} for _ in range(len(table))]
        folded: list[set[int]] = [set() for _ in range(len(table))]
        preferred = []
        for row, name in enumerate(table.column("concepts", "name").to_pylist()):
            normal[row][normalize(name)] = None
            preferred.append(folded_key(folded_name(name, "ENG")))
        for row, alias, key in zip(table.keys("aliases").tolist(), *_folded(table), strict=True):
            normal[row][normalize(alias)] = None
            if key:
                folded[row].add(key)
        named = [[name for name in names if has_letters(name)] for names in normal]
        return cls(named, folded, preferred)


class Folded:
    """The right concepts by the folded forms of their names: two numbers a name, for all of UMLS.

    table (ConceptTable): The concepts.
    """

    def __init__(self, table: ConceptTable) -> None:
        self._table = table
        keys = np.fromiter((key for _, key in zip(*_folded(table), strict=True)), dtype=np.uint64)
        rows = table.keys("aliases")[keys > 0]
        keys = keys[keys > 0]
        order = np.lexsort((rows, keys))
        self._keys, self._rows = keys[order], rows[order]
        self._preferred: dict[int, tuple[str, int]] = {}

    def rows(self, key: int) -> list[int]:
        """Return the concepts that have a name of a folded form."""
        wanted = np.array([key], dtype=np.uint64)
        start, end = (np.searchsorted(self._keys, wanted, side=side)[0] for side in _SIDES)
        return np.unique(self._rows[start:end]).tolist()

    def preferred(self, row: int) -> tuple[str, int]:
        """Return the normal form of a concept's preferred name, and the key of its folded form."""
        if row not in self._preferred:
            name = self._table.name(row)
            self._preferred[row] = (normalize(name), folded_key(folded_name(name, "ENG")))
        return self._preferred[row]


def _folded(table: ConceptTable) -> tuple[Iterator[str], Iterator[int]]:
    """Return all aliases, and the keys of their folded forms: 0 without one."""
    aliases, languages = (table.column("aliases", name) for name in ("alias", "language"))
    named = zip(aliases, languages, strict=True)
    keys = (folded_key(folded_name(name.as_py(), lang.as_py())) for name, lang in named)
    return (name.as_py() for name in aliases), keys
