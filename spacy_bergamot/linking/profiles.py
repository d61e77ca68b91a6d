"""What the knowledge base says of a concept, as far as a reranker reads it; remembered.

Words are read as those of the document that they are compared with, of names in its language.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from spacy_bergamot.folding import folded_words
from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.kb.concept_table import CHILD_RELATIONS, PARENT_RELATIONS, ConceptTable
from spacy_bergamot.languages import NO_LANGUAGE
from spacy_bergamot.mentions.language import stop_words
from spacy_bergamot.scripts import lacks_spaces
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
        """Whether it is another concept or has a relation to it.

        other (Profile): Of a candidate.
        """
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

    def of(self, concept_id: str, language: str) -> Profile:
        """Return a concept of the knowledge base.

        concept_id (str): Of the concept.
        language (str): Of the document, as in MRCONSO.RRF; empty if unknown.
        """
        return self._known(concept_id, language)

    def _read(self, concept_id: str, language: str) -> Profile:
        aliases = list(self._aliases(concept_id))
        names = frozenset(entry["alias"] for entry in aliases)
        own = (e["alias"] for e in aliases if language in NO_LANGUAGE or e["language"] == language)
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
            words_of(own, language),
            words_of([table.column("concepts", "definition")[place].as_py() or ""], language),
            words_of(near, language),
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
        self._table = table
        self._tails = table.column("relations", "tail").to_numpy(zero_copy_only=False)
        rels = table.column("relations", "rel")
        names = rels.dictionary.to_pylist() if len(rels) else []
        self._codes = rels.indices.to_numpy() if len(rels) else self._tails
        self._is_parent = np.array([name in PARENT_RELATIONS for name in names], dtype=bool)
        self._is_child = np.array([name in CHILD_RELATIONS for name in names], dtype=bool)

    def of(self, row: int) -> tuple[frozenset[int], frozenset[int], frozenset[int]]:
        """Return the rows of a concept's relatives, children and ancestors."""
        tails, codes = self._at(row)
        children = frozenset(tails[self._is_child[codes]].tolist())
        return frozenset(tails.tolist()) - {row}, children - {row}, self._above(row)

    def _above(self, row: int) -> frozenset[int]:
        found, front = {row}, [row]
        while front and len(found) <= _ABOVE:
            relations = map(self._at, front)
            parents = (tails[self._is_parent[codes]].tolist() for tails, codes in relations)
            front = sorted(set(chain.from_iterable(parents)) - found)
            found.update(front)
        return frozenset(found - {row})

    def _at(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        span = self._table.span_of("relations", row)
        place = slice(span.start, span.stop)
        return self._tails[place], self._codes[place]


def words_of(texts: Iterable[str], language: str) -> Words:
    """Return the folded words of some texts that are no stop words.

    Of scripts without spaces they are pairs of characters.

    texts (Iterable[str]): Texts in one language.
    language (str): As in MRCONSO.RRF.
    """
    stops = stop_words((language,))
    found: set[str] = set()
    for text in texts:
        for start, end, folded in folded_words(text, language):
            if lacks_spaces(folded):
                found.update(folded[at : at + 2] for at in range(len(folded) - 1))
            elif len(folded) > 1 and text[start:end].lower() not in stops:
                found.add(folded)
    return frozenset(found)
