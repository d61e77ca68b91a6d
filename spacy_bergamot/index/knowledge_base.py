"""The knowledge base in hand: `linker.kb`, with scispaCy's names where they exist."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.index.changes import Changes
from spacy_bergamot.index.name_search import Match, NameSearch
from spacy_bergamot.index.names import Names
from spacy_bergamot.kb.concept_table import (
    CHILD_RELATIONS,
    PARENT_RELATIONS,
    Concept,
    ConceptTable,
    Name,
)
from spacy_bergamot.kb.semantic_types import SemanticTypeTree


class KnowledgeBase:
    """Concepts and aliases of an index and its changes, read lazily from memory-mapped files."""

    def __init__(self, index: AliasIndex, changes: Changes | None = None) -> None:
        self.table = index.table
        self.removed = changes.removed if changes else None
        self._is_changed = changes is not None
        self._names = Names(index, changes)

    @property
    def cui_to_entity(self) -> Mapping[str, Concept]:
        """Concept by its id."""
        return _Concepts(self)

    @property
    def alias_to_cuis(self) -> Mapping[str, set[str]]:
        """Concept ids by alias, whatever its case."""
        return _Aliases(self)

    @cached_property
    def semantic_type_tree(self) -> SemanticTypeTree:
        """The tree of UMLS's semantic types."""
        return SemanticTypeTree()

    @property
    def tables(self) -> list[ConceptTable]:
        """The concept table, and that of what was added."""
        return [index.table for index in self._names.indexes]

    @property
    def sources(self) -> list[str]:
        """Vocabularies that the knowledge base was made of, as far as it says them."""
        return [entry["source"] for entry in self.table.manifest.get("release", [])]

    def __len__(self) -> int:
        if not self._is_changed:
            return len(self.table)
        named = np.zeros(len(self.table), dtype=bool)
        named[self.table.keys("aliases")[self._names.remaining()]] = True
        added = {concept_id for table in self.tables[1:] for concept_id in table}
        rows = [self.table.find(concept_id) for concept_id in added]
        return int(named.sum()) + sum(row is None or not named[row] for row in rows)

    def __iter__(self) -> Iterator[str]:
        if not self._is_changed:
            return iter(self.table)
        ids = dict.fromkeys(concept_id for table in self.tables for concept_id in table)
        return (concept_id for concept_id in ids if concept_id in self)

    def __contains__(self, concept_id: object) -> bool:
        return isinstance(concept_id, str) and bool(self._names.of(concept_id))

    def find(self, concept_id: str) -> Concept | None:
        """Return a concept with everything known of it, or None.

        concept_id (str): Of the concept.
        """
        rows = self._names.of(concept_id)
        if not rows:
            return None
        table = self.table if concept_id in self.table else self.tables[-1]
        concept = table[concept_id]
        if not self._is_changed:
            return concept
        names = self.aliases(concept_id)
        return replace(
            concept,
            aliases=list(dict.fromkeys(name["alias"] for name in names)),
            languages=sorted({name["language"] for name in names}),
        )

    def name_and_types(self, concept_id: str) -> tuple[str, list[str]] | None:
        """Return a concept's preferred name and semantic types (TUI), or None if it is not there.

        `find` reads all that is known of a concept, which takes three times as long.

        concept_id (str): Of the concept.
        """
        if concept_id not in self:
            return None
        table = self.table if concept_id in self.table else self.tables[-1]
        row = table.row(concept_id)
        return table.name(row), table.rows_of("types", row)["type"].to_pylist()

    def search(self, text: str, *, limit: int = 10) -> list[tuple[Concept, float]]:
        """Return concepts by id or name, best first, with a score of at most 1.

        The concept with that id comes first, then those with that name, then those with a name
        that shares 3-grams.

        text (str): Id or name, in any case.
        limit (int): The most that are returned.
        """
        found = self.similar(text, limit=limit)
        return [(self.cui_to_entity[match.concept_id], match.score) for match in found]

    def similar(self, text: str, *, limit: int = 10) -> list[Match]:
        """Return what `search` does, with the names that were found; see `NameSearch.similar`."""
        return NameSearch(self._names, self.find).similar(text, limit=limit)

    def complete(self, text: str, *, limit: int = 10) -> list[Match]:
        """Return concepts for somebody who is typing; see `NameSearch.complete`."""
        return NameSearch(self._names, self.find).complete(text, limit=limit)

    def parents(self, concept_id: str) -> list[str]:
        """Return the ids of the concepts right above: PAR and RB.

        concept_id (str): Of the concept.
        """
        return self._related(concept_id, PARENT_RELATIONS)

    def children(self, concept_id: str) -> list[str]:
        """Return the ids of the concepts right below: CHD and RN.

        concept_id (str): Of the concept.
        """
        return self._related(concept_id, CHILD_RELATIONS)

    def descendants(self, concept_id: str) -> set[str]:
        """Return the ids of all concepts below, without the concept itself.

        concept_id (str): Of the concept.
        """
        row = self._row(concept_id)
        below = self.table.descendants([row]) - {row} if row is not None else set()
        return {self.table.concept_id(other) for other in below}

    def relations(self, concept_id: str) -> list[tuple[str, str, str]]:
        """Return (REL, RELA, concept id): what other concepts are to this one.

        concept_id (str): Of the concept.
        """
        row = self._row(concept_id)
        found = self.table.related(row) if row is not None else []
        return [(rel, rela, self.table.concept_id(tail)) for rel, rela, tail in found]

    def related(self, concept_id: str) -> set[str]:
        """Return the ids of the concepts that have any relation to this one.

        concept_id (str): Of the concept.
        """
        row = self._row(concept_id)
        tails = self.table.rows_of("relations", row)["tail"].to_pylist() if row is not None else []
        return {self.table.concept_id(tail) for tail in tails}

    def count_aliases(self, concept_id: str) -> int:
        """Return the number of a concept's names.

        concept_id (str): Of the concept.
        """
        return len(self._names.of(concept_id))

    def aliases_by_language(self) -> dict[str, int]:
        """Return the number of names in every language."""
        return self._names.by_language()

    def aliases(self, concept_id: str) -> list[dict[str, str]]:
        """Return a concept's names: alias, language, source, term_type.

        concept_id (str): Of the concept.
        """
        self._row(concept_id)
        rows = [
            self.tables[number].aliases.slice(alias, 1).to_pylist()[0]
            for number, alias in self._names.of(concept_id)
        ]
        return [{key: row[key] for key in row if key != "concept"} for row in rows]

    def definition(self, concept_id: str) -> str | None:
        """Return how the knowledge base defines a concept, None if it does not.

        concept_id (str): Of the concept.
        """
        row = self._row(concept_id)
        found = None if row is None else self.table.column("concepts", "definition")[row].as_py()
        return None if found is None else str(found)

    def has_definition(self, concept_id: str) -> bool:
        """Whether the knowledge base defines a concept.

        concept_id (str): Of the concept.
        """
        return self.definition(concept_id) is not None

    def codes(self, concept_id: str, source: str) -> list[str]:
        """Return a concept's codes in a source vocabulary, such as ICD10CM.

        concept_id (str): Of the concept.
        source (str): Of the codes.
        """
        row = self._row(concept_id)
        rows = self.table.rows_of("codes", row).to_pylist() if row is not None else []
        return [entry["code"] for entry in rows if entry["source"] == source]

    def concepts_coded(self, source: str, code: str) -> list[str]:
        """Return the ids of the concepts that have a code in a source vocabulary.

        source, code (str): Such as ICD10CM and I10; see `ConceptTable.rows_coded`.
        """
        found = (t.concept_id(row) for t in self.tables for row in t.rows_coded(source, code))
        return [concept_id for concept_id in dict.fromkeys(found) if concept_id in self]

    def _related(self, concept_id: str, rels: tuple[str, ...]) -> list[str]:
        row = self._row(concept_id)
        found = self.table.related(row, rels=rels) if row is not None else []
        return list(dict.fromkeys(self.table.concept_id(tail) for _, _, tail in found))

    def _row(self, concept_id: str) -> int | None:
        """Return the row in the table; None for an added concept, which has no relations."""
        row = self.table.find(concept_id)
        if row is None and concept_id not in self:
            raise BergamotError(Errors.B013, value=concept_id, where=self.table.path)
        return row

    def named(self, alias: str, *, removed: bool = False, added: bool = False) -> list[Name]:
        """Return the names with the normal form of an alias; see `Names.named`."""
        return self._names.named(alias, removed=removed, added=added)

    def concepts_named(self, alias: str) -> set[str]:
        """Return the ids of the concepts that have a name, whatever its case.

        alias (str): The name.
        """
        return self._names.concepts_named(alias)

    def names(self) -> Iterator[str]:
        """Yield the distinct names in normal form."""
        return self._names.distinct()

    def count_names(self) -> int:
        """Return the number of distinct names in normal form."""
        return self._names.count_distinct()


class _Concepts(Mapping[str, Concept]):
    def __init__(self, store: KnowledgeBase) -> None:
        self._store = store

    def __getitem__(self, concept_id: str) -> Concept:
        concept = self._store.find(concept_id)
        if concept is None:
            raise KeyError(concept_id)
        return concept

    def __iter__(self) -> Iterator[str]:
        return iter(self._store)

    def __len__(self) -> int:
        return len(self._store)


class _Aliases(Mapping[str, set[str]]):
    def __init__(self, store: KnowledgeBase) -> None:
        self._store = store

    def __getitem__(self, alias: str) -> set[str]:
        found = self._store.concepts_named(alias)
        if not found:
            raise KeyError(alias)
        return found

    def __iter__(self) -> Iterator[str]:
        return self._store.names()

    def __len__(self) -> int:
        return self._store.count_names()
