"""The knowledge base in hand: `linker.kb`, with scispaCy's names where they exist."""

from collections.abc import Iterator, Mapping

from spacy_bergamot.alias_index import AliasIndex
from spacy_bergamot.concepts import (
    CHILD_RELATIONS,
    PARENT_RELATIONS,
    Concept,
    ConceptTable,
)
from spacy_bergamot.text import normalize


class KnowledgeBase:
    """Concepts and aliases of an index, read lazily from memory-mapped files.

    cui_to_entity (Mapping[str, Concept]): Concept by its id.
    alias_to_cuis (Mapping[str, set[str]]): Concept ids by alias, whatever its case.
    """

    def __init__(self, index: AliasIndex) -> None:
        self._index = index
        self.table = index.table
        self.cui_to_entity: Mapping[str, Concept] = _Concepts(index.table)
        self.alias_to_cuis: Mapping[str, set[str]] = _Aliases(index)

    def __len__(self) -> int:
        return len(self.table)

    def search(self, text: str, *, limit: int = 10) -> list[tuple[Concept, float]]:
        """Return concepts by name, best first: a name itself, else names that share 3-grams."""
        index, name = self._index, normalize(text)
        exact = index.lookup([name])[0]
        ((strings, scores),) = index.lexical.search([name], 8 * limit)
        hits = [(int(exact), 1.0)] if exact >= 0 else []
        hits += zip(strings.tolist(), scores.tolist(), strict=True)
        found: dict[int, float] = {}
        for string, score in hits:
            for alias in index.alias_rows(string):
                found.setdefault(int(self.table.keys("aliases")[alias]), score)
        return [(self.table.concept(row), score) for row, score in list(found.items())[:limit]]

    def parents(self, concept_id: str) -> list[str]:
        """Return the ids of the concepts right above: PAR and RB."""
        return self._related(concept_id, PARENT_RELATIONS)

    def children(self, concept_id: str) -> list[str]:
        """Return the ids of the concepts right below: CHD and RN."""
        return self._related(concept_id, CHILD_RELATIONS)

    def descendants(self, concept_id: str) -> set[str]:
        """Return the ids of all concepts below, without the concept itself."""
        row = self.table.row(concept_id)
        return {self.table.concept_id(below) for below in self.table.descendants([row]) - {row}}

    def relations(self, concept_id: str) -> list[tuple[str, str, str]]:
        """Return (REL, RELA, concept id): what other concepts are to this one."""
        row = self.table.row(concept_id)
        found = self.table.related(row)
        return [(rel, rela, self.table.concept_id(tail)) for rel, rela, tail in found]

    def aliases(self, concept_id: str) -> list[dict[str, str]]:
        """Return a concept's names: alias, language, source, term_type."""
        rows = self.table.rows_of("aliases", self.table.row(concept_id)).to_pylist()
        return [{key: row[key] for key in row if key != "concept"} for row in rows]

    def _related(self, concept_id: str, rels: tuple[str, ...]) -> list[str]:
        found = self.table.related(self.table.row(concept_id), rels=rels)
        return list(dict.fromkeys(self.table.concept_id(tail) for _, _, tail in found))

    def codes(self, concept_id: str, source: str) -> list[str]:
        """Return a concept's codes in a source vocabulary, such as ICD10CM."""
        rows = self.table.rows_of("codes", self.table.row(concept_id)).to_pylist()
        return [row["code"] for row in rows if row["source"] == source]


class _Concepts(Mapping[str, Concept]):
    def __init__(self, table: ConceptTable) -> None:
        self._table = table

    def __getitem__(self, concept_id: str) -> Concept:
        return self._table[concept_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


class _Aliases(Mapping[str, set[str]]):
    def __init__(self, index: AliasIndex) -> None:
        self._index = index

    def __getitem__(self, alias: str) -> set[str]:
        string = int(self._index.lookup([normalize(alias)])[0])
        if string < 0:
            raise KeyError(alias)
        concepts = self._index.table.keys("aliases")[self._index.alias_rows(string)]
        return {self._index.table.concept_id(int(row)) for row in concepts}

    def __iter__(self) -> Iterator[str]:
        return (text.as_py() for text in self._index.strings)

    def __len__(self) -> int:
        return len(self._index)
