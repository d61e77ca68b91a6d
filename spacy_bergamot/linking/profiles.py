"""What the knowledge base says of a concept, as far as a reranker reads it; remembered."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.kb.concept_table import CHILD_RELATIONS, PARENT_RELATIONS, ConceptTable
from spacy_bergamot.languages import lat
from spacy_bergamot.mentions.folding import folded_words
from spacy_bergamot.mentions.language import stop_words
from spacy_bergamot.mentions.units import lacks_spaces
from spacy_bergamot.text import normalize

_REMEMBERED = 20_000
_RELATIVES = 50
"""Relatives whose names are read: a concept such as "neoplasm" has thousands."""
_ABOVE = 200
"""Ancestors that are looked for: a broken graph may have loops and no end."""

Words = frozenset[str]


class Profile(NamedTuple):
    """A concept.

    concept_id (str), preferred (str): Its id, and the name that is shown to people.
    names (frozenset[str]), forms (frozenset[str]): As they are written, and in normal form.
    sources (int): Vocabularies that name it.
    labels (frozenset[str]): Its semantic types and groups.
    words, definition, around (frozenset[str]): Of its names, its definition and its relatives.
    row (int): In the table; -1 for a concept that was added, which has no relations.
    relatives, below, above (frozenset[int]): Rows of the concepts with any relation to it, of its
        children, and of its ancestors.
    """

    concept_id: str
    preferred: str
    names: frozenset[str]
    forms: frozenset[str]
    sources: int
    labels: frozenset[str]
    words: Words
    definition: Words
    around: Words
    row: int
    relatives: frozenset[int]
    below: frozenset[int]
    above: frozenset[int]

    def is_near(self, other: "Profile") -> bool:
        """Whether it is another concept or has a relation to it."""
        return self.concept_id == other.concept_id or other.row in self.relatives

    def is_above(self, other: "Profile") -> bool:
        """Whether the other concept is a kind of this one."""
        return other.row in self.below or self.row in other.above


class Profiles:
    """The concepts of a knowledge base; the last 20,000 that were asked for are remembered."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._graph = _Graph(kb.table)
        self._known = lru_cache(maxsize=_REMEMBERED)(self._read)

    def __getitem__(self, concept_id: str) -> Profile:
        return self._known(concept_id)

    def _read(self, concept_id: str) -> Profile:
        aliases = list(self._aliases(concept_id))
        names = frozenset(entry["alias"] for entry in aliases)
        words = (words_of(entry["alias"], entry["language"]) for entry in aliases)
        facts = self.kb.name_and_types(concept_id)
        table = self.kb.table if concept_id in self.kb.table else self.kb.tables[-1]
        place, row = table.row(concept_id), self.kb.table.find(concept_id)
        relatives, below, above = self._graph.of(row) if row is not None else (frozenset(),) * 3
        near = (self.kb.table.name(other) for other in sorted(relatives)[:_RELATIVES])
        types = table.rows_of("types", place)
        return Profile(
            concept_id,
            facts[0] if facts else "",
            names,
            frozenset(map(normalize, names)),
            len({entry["source"] for entry in aliases}),
            frozenset(types["type"].to_pylist() + types["group"].to_pylist()),
            frozenset().union(*words),
            words_of(table.column("concepts", "definition")[place].as_py() or ""),
            frozenset().union(*map(words_of, near)),
            -1 if row is None else row,
            relatives,
            below,
            above,
        )

    def _aliases(self, concept_id: str) -> Iterator[dict[str, Any]]:
        """Yield a concept's names that were not removed."""
        for number, table in enumerate(self.kb.tables):
            row = table.find(concept_id)
            if row is None:
                continue
            span = table.span_of("aliases", row)
            removed = self.kb.removed if number == 0 else None
            rows = table.aliases.slice(span.start, len(span)).to_pylist()
            for place, entry in zip(span, rows, strict=True):
                if removed is None or not removed[place]:
                    yield entry


class _Graph:
    """The relations of a table as arrays."""

    def __init__(self, table: ConceptTable) -> None:
        self._heads = table.keys("relations")
        self._tails = table.column("relations", "tail").to_numpy(zero_copy_only=False)
        self._is_parent = _is_one_of(table, PARENT_RELATIONS)
        self._is_child = _is_one_of(table, CHILD_RELATIONS)

    def of(self, row: int) -> tuple[frozenset[int], frozenset[int], frozenset[int]]:
        """Return the rows of a concept's relatives, children and ancestors."""
        span = self._span(row)
        tails = self._tails[span]
        children = frozenset(tails[self._is_child[span]].tolist())
        return frozenset(tails.tolist()) - {row}, children - {row}, self._above(row)

    def _above(self, row: int) -> frozenset[int]:
        found, front = {row}, [row]
        while front and len(found) <= _ABOVE:
            spans = map(self._span, front)
            parents = (self._tails[span][self._is_parent[span]].tolist() for span in spans)
            front = sorted(set(chain.from_iterable(parents)) - found)
            found.update(front)
        return frozenset(found - {row})

    def _span(self, row: int) -> slice:
        return slice(*np.searchsorted(self._heads, [row, row + 1]).tolist())


def words_of(text: str, language: str = "ENG") -> Words:
    """Return the folded words of a text that are no stop words; of scripts without spaces, pairs of
    characters.

    language (str): Of the text; what the knowledge base does not say counts as English.
    """
    code = lat(language)
    stops = stop_words((code,))
    found: set[str] = set()
    for start, end, folded in folded_words(text, code):
        if lacks_spaces(folded):
            found.update(folded[at : at + 2] for at in range(len(folded) - 1))
        elif len(folded) > 1 and text[start:end].lower() not in stops:
            found.add(folded)
    return frozenset(found)


def _is_one_of(table: ConceptTable, rels: tuple[str, ...]) -> np.ndarray:
    column = table.column("relations", "rel").cast(pa.string())
    found = pc.is_in(column, value_set=pa.array(rels, type=pa.string()))
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)
