"""The names of an index and its changes: without those that were removed, with those added."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.index.changes import Changes
from spacy_bergamot.kb.concept_table import Name
from spacy_bergamot.text import normalize

Row = tuple[int, int]
"""A name: the number of its index, and the row of its alias there."""


class Names:
    """The names that there are now.

    indexes (list[AliasIndex]): The index, and that of what was added.
    """

    def __init__(self, index: AliasIndex, changes: Changes | None = None) -> None:
        self.indexes = [index]
        self._removed = changes.removed if changes else None
        self._is_changed = changes is not None
        if changes is not None and changes.added is not None:
            self.indexes.append(changes.added)

    def is_removed(self, number: int, alias: int) -> bool:
        """Whether a name was removed.

        number (int): Of its index.
        alias (int): Row of the alias.
        """
        removed = self.removed(number)
        return removed is not None and bool(removed[alias])

    def removed(self, number: int) -> np.ndarray | None:
        """Return which aliases of an index were removed, bool; None where none was.

        number (int): Of the index.
        """
        return self._removed if number == 0 else None

    def remaining(self) -> np.ndarray:
        """Return the rows of the first index's aliases that were not removed, int64."""
        if self._removed is None:
            return np.arange(self.indexes[0].table.aliases.num_rows)
        return np.flatnonzero(~self._removed)

    def of(self, concept_id: str) -> list[Row]:
        """Return a concept's names; none of one that is not there.

        concept_id (str): Its id.
        """
        found = []
        for number, index in enumerate(self.indexes):
            row = index.table.find(concept_id)
            if row is not None:
                found += [(number, alias) for alias in index.table.span_of("aliases", row)]
        return [name for name in found if not self.is_removed(*name)]

    def named(self, alias: str, *, removed: bool = False, added: bool = False) -> list[Name]:
        """Return the names with the normal form of an alias, as they are written.

        alias (str): In any case.
        removed (bool): Those that were removed too.
        added (bool): Those alone that were added.
        """
        found = []
        for number, index in enumerate(self.indexes):
            if added and number == 0:
                continue
            table, concepts = index.table, index.table.keys("aliases")
            found += [
                Name(
                    table.column("aliases", "alias")[row].as_py(),
                    table.column("aliases", "language")[row].as_py(),
                    table.group(int(concepts[row])),
                )
                for row in sorted(_rows(index, alias))
                if removed or not self.is_removed(number, row)
            ]
        return found

    def concepts_named(self, alias: str) -> set[str]:
        """Return the ids of the concepts that have a name.

        alias (str): In any case.
        """
        found: set[str] = set()
        for number, index in enumerate(self.indexes):
            concepts = index.table.keys("aliases")
            found.update(
                index.table.concept_id(int(concepts[row]))
                for row in _rows(index, alias)
                if not self.is_removed(number, row)
            )
        return found

    def distinct(self) -> Iterator[str]:
        """Yield the distinct names in normal form."""
        every = (text.as_py() for index in self.indexes for text in index.strings)
        if not self._is_changed:
            yield from every
        else:
            yield from (name for name in dict.fromkeys(every) if self.concepts_named(name))

    def count_distinct(self) -> int:
        """Return the number of distinct names in normal form."""
        return sum(1 for _ in self.distinct()) if self._is_changed else len(self.indexes[0])

    def by_language(self) -> dict[str, int]:
        """Return the number of names in every language."""
        counts: Counter[str] = Counter()
        rows = [self.remaining(), *(slice(None) for _ in self.indexes[1:])]
        for index, kept in zip(self.indexes, rows, strict=True):
            column = index.table.column("aliases", "language")
            codes = column.indices.to_numpy(zero_copy_only=False)[kept]
            for language, count in enumerate(np.bincount(codes).tolist()):
                counts[column.dictionary[language].as_py()] += count
        return {language: count for language, count in sorted(counts.items()) if count}


def _rows(index: AliasIndex, alias: str) -> list[int]:
    """Return the rows of an index's aliases that have the normal form of one."""
    string = int(index.lookup([normalize(alias)])[0])
    return index.alias_rows(string).tolist() if string >= 0 else []
