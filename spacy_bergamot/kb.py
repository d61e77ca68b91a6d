"""The knowledge base in hand: `linker.kb`, with scispaCy's names where they exist."""

from collections.abc import Iterator, Mapping

from spacy_bergamot.alias_index import AliasIndex
from spacy_bergamot.concepts import Concept, ConceptTable
from spacy_bergamot.text import normalize


class KnowledgeBase:
    """Concepts and aliases of an index, read lazily from memory-mapped files.

    cui_to_entity (Mapping[str, Concept]): Concept by its id.
    alias_to_cuis (Mapping[str, set[str]]): Concept ids by alias, whatever its case.
    """

    def __init__(self, index: AliasIndex) -> None:
        self.table = index.table
        self.cui_to_entity: Mapping[str, Concept] = _Concepts(index.table)
        self.alias_to_cuis: Mapping[str, set[str]] = _Aliases(index)

    def __len__(self) -> int:
        return len(self.table)

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
