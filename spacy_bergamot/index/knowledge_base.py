"""The knowledge base in hand: `linker.kb`, with scispaCy's names where they exist."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.index.changes import Changes
from spacy_bergamot.index.completion import Match, completions
from spacy_bergamot.kb.concept_table import (
    CHILD_RELATIONS,
    PARENT_RELATIONS,
    Concept,
    ConceptTable,
    Name,
)
from spacy_bergamot.kb.semantic_types import SemanticTypeTree
from spacy_bergamot.text import normalize

_CLOSE = 0.5
"""Cosine of 3-grams from which a name is shown to somebody who is typing."""


class KnowledgeBase:
    """Concepts and aliases of an index and its changes, read lazily from memory-mapped files."""

    def __init__(self, index: AliasIndex, changes: Changes | None = None) -> None:
        self.table = index.table
        self.removed = changes.removed if changes else None
        self._is_changed = changes is not None
        self._indexes = [index]
        if changes is not None and changes.added is not None:
            self._indexes.append(changes.added)

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
        return [index.table for index in self._indexes]

    @property
    def sources(self) -> list[str]:
        """Vocabularies that the knowledge base was made of, as far as it says them."""
        return [entry["source"] for entry in self.table.manifest.get("release", [])]

    def __len__(self) -> int:
        if not self._is_changed:
            return len(self.table)
        named = np.zeros(len(self.table), dtype=bool)
        named[self.table.keys("aliases")[self._remaining()]] = True
        added = {concept_id for table in self.tables[1:] for concept_id in table}
        rows = [self.table.find(concept_id) for concept_id in added]
        return int(named.sum()) + sum(row is None or not named[row] for row in rows)

    def _remaining(self) -> np.ndarray:
        """Return the rows of the table's aliases that were not removed, int64."""
        if self.removed is None:
            return np.arange(self.table.aliases.num_rows)
        return np.flatnonzero(~self.removed)

    def __iter__(self) -> Iterator[str]:
        if not self._is_changed:
            return iter(self.table)
        ids = dict.fromkeys(concept_id for table in self.tables for concept_id in table)
        return (concept_id for concept_id in ids if concept_id in self)

    def __contains__(self, concept_id: object) -> bool:
        return isinstance(concept_id, str) and bool(self._alias_rows(concept_id))

    def find(self, concept_id: str) -> Concept | None:
        """Return a concept with everything known of it, or None."""
        rows = self._alias_rows(concept_id)
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

        limit (int): The most that are returned.
        """
        found = self.similar(text, limit=limit)
        return [(self.cui_to_entity[match.concept_id], match.score) for match in found]

    def complete(self, text: str, *, limit: int = 10) -> list[Match]:
        """Return concepts for somebody who is typing, best first.

        The concept with that id comes first, then those with that name, then those with a name
        that begins so, then those with one that is written nearly so.

        limit (int): The most that are returned.
        """
        similar = self.similar(text, limit=limit)
        begin = []
        for number, index in enumerate(self._indexes):
            gone = self.removed if number == 0 else None
            found = completions(index, normalize(text), limit=limit, removed=gone)
            begin += [(one.place, number, one.alias) for one in found]
        completed = [self._match(number, alias, 0.0) for _, number, alias in sorted(begin)]
        same = [match for match in similar if match.score >= 1]
        best: dict[str, Match] = {}
        close = [match for match in similar if match.score >= _CLOSE]
        for match in [*same, *completed, *close]:
            best.setdefault(match.concept_id, match)
        return list(best.values())[:limit]

    def similar(self, text: str, *, limit: int = 10) -> list[Match]:
        """Return what `search` does, with the names that were found."""
        name, hits = normalize(text), []
        best: dict[str, Match] = {}
        concept = self.find(text.strip()) or self.find(text.strip().upper())
        if concept is not None:
            found_id, name_of_it = concept.concept_id, concept.canonical_name
            best[found_id] = Match(found_id, name_of_it, "", 1.0)
        for number, index in enumerate(self._indexes):
            exact = int(index.lookup([name])[0])
            ((strings, scores),) = index.lexical.search([name], 8 * limit)
            found = [(exact, 1.0)] if exact >= 0 else []
            found += zip(strings.tolist(), scores.tolist(), strict=True)
            hits += [(score, number, string) for string, score in found]
        for score, number, string in sorted(hits, key=lambda hit: (-hit[0], hit[1])):
            for alias in self._indexes[number].alias_rows(string).tolist():
                if not self._is_gone(number, alias):
                    match = self._match(number, alias, score)
                    best.setdefault(match.concept_id, match)
        return list(best.values())[:limit]

    def _match(self, number: int, alias: int, score: float) -> Match:
        table = self._indexes[number].table
        concept_id = table.concept_id(int(table.keys("aliases")[alias]))
        written = [table.column("aliases", name)[alias].as_py() for name in ("alias", "language")]
        return Match(concept_id, written[0], written[1], score)

    def parents(self, concept_id: str) -> list[str]:
        """Return the ids of the concepts right above: PAR and RB."""
        return self._related(concept_id, PARENT_RELATIONS)

    def children(self, concept_id: str) -> list[str]:
        """Return the ids of the concepts right below: CHD and RN."""
        return self._related(concept_id, CHILD_RELATIONS)

    def descendants(self, concept_id: str) -> set[str]:
        """Return the ids of all concepts below, without the concept itself."""
        row = self._row(concept_id)
        below = self.table.descendants([row]) - {row} if row is not None else set()
        return {self.table.concept_id(other) for other in below}

    def relations(self, concept_id: str) -> list[tuple[str, str, str]]:
        """Return (REL, RELA, concept id): what other concepts are to this one."""
        row = self._row(concept_id)
        found = self.table.related(row) if row is not None else []
        return [(rel, rela, self.table.concept_id(tail)) for rel, rela, tail in found]

    def related(self, concept_id: str) -> set[str]:
        """Return the ids of the concepts that have any relation to this one."""
        row = self._row(concept_id)
        tails = self.table.rows_of("relations", row)["tail"].to_pylist() if row is not None else []
        return {self.table.concept_id(tail) for tail in tails}

    def count_aliases(self, concept_id: str) -> int:
        """Return the number of a concept's names."""
        return len(self._alias_rows(concept_id))

    def aliases_by_language(self) -> dict[str, int]:
        """Return the number of names in every language."""
        counts: Counter[str] = Counter()
        rows = [self._remaining(), *(slice(None) for _ in self.tables[1:])]
        for table, kept in zip(self.tables, rows, strict=True):
            column = table.column("aliases", "language")
            codes = column.indices.to_numpy(zero_copy_only=False)[kept]
            for language, count in enumerate(np.bincount(codes).tolist()):
                counts[column.dictionary[language].as_py()] += count
        return {language: count for language, count in sorted(counts.items()) if count}

    def aliases(self, concept_id: str) -> list[dict[str, str]]:
        """Return a concept's names: alias, language, source, term_type."""
        self._row(concept_id)
        rows = [
            self._indexes[number].table.aliases.slice(alias, 1).to_pylist()[0]
            for number, alias in self._alias_rows(concept_id)
        ]
        return [{key: row[key] for key in row if key != "concept"} for row in rows]

    def definition(self, concept_id: str) -> str | None:
        """Return how the knowledge base defines a concept, None if it does not."""
        row = self._row(concept_id)
        found = None if row is None else self.table.column("concepts", "definition")[row].as_py()
        return None if found is None else str(found)

    def has_definition(self, concept_id: str) -> bool:
        """Whether the knowledge base defines a concept."""
        return self.definition(concept_id) is not None

    def codes(self, concept_id: str, source: str) -> list[str]:
        """Return a concept's codes in a source vocabulary, such as ICD10CM."""
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

    def _alias_rows(self, concept_id: str) -> list[tuple[int, int]]:
        """Return (number of the index, row of the alias) of a concept's names that remain."""
        found = []
        for number, table in enumerate(self.tables):
            row = table.find(concept_id)
            if row is not None:
                found += [(number, alias) for alias in table.span_of("aliases", row)]
        return [place for place in found if not self._is_gone(*place)]

    def _is_gone(self, number: int, alias: int) -> bool:
        return number == 0 and self.removed is not None and bool(self.removed[alias])

    def _concepts_of(self, number: int, string: int) -> list[str]:
        index = self._indexes[number]
        rows = [int(row) for row in index.alias_rows(string) if not self._is_gone(number, row)]
        concepts = index.table.keys("aliases")
        return [index.table.concept_id(int(concepts[row])) for row in rows]

    def named(self, alias: str, *, removed: bool = False) -> list[Name]:
        """Return the names with the normal form of an alias, as they are written.

        removed (bool): Those that were removed too.
        """
        found = []
        for number, index in enumerate(self._indexes):
            string = int(index.lookup([normalize(alias)])[0])
            table, rows = index.table, index.alias_rows(string).tolist() if string >= 0 else []
            concepts = table.keys("aliases")
            found += [
                Name(
                    table.column("aliases", "alias")[row].as_py(),
                    table.column("aliases", "language")[row].as_py(),
                    table.group(int(concepts[row])),
                )
                for row in sorted(rows)
                if removed or not self._is_gone(number, row)
            ]
        return found

    def concepts_named(self, alias: str) -> set[str]:
        """Return the ids of the concepts that have a name, whatever its case."""
        found: set[str] = set()
        for number, index in enumerate(self._indexes):
            string = int(index.lookup([normalize(alias)])[0])
            found.update(self._concepts_of(number, string) if string >= 0 else ())
        return found

    def names(self) -> Iterator[str]:
        """Yield the distinct names in normal form."""
        every = (text.as_py() for index in self._indexes for text in index.strings)
        if not self._is_changed:
            yield from every
        else:
            yield from (name for name in dict.fromkeys(every) if self.concepts_named(name))

    def count_names(self) -> int:
        """Return the number of distinct names in normal form."""
        return sum(1 for _ in self.names()) if self._is_changed else len(self._indexes[0])


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
