"""Which concepts and aliases may be proposed, decided before the top k."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
import pyarrow as pa

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb.entity_labels import types_of_label
from spacy_bergamot.kb.semantic_types import with_types_below
from spacy_bergamot.linking.errors import BergamotError, Errors

COMMON = "common"
"""`types_by_label` of common NER models and corpora."""

_SHOWN = 40


@dataclass(frozen=True)
class CandidateFilter:
    """Which concepts and aliases may be proposed; an empty tuple allows all.

    semantic_types (tuple[str, ...]): Of concepts, such as T047.
    semantic_groups (tuple[str, ...]): Of concepts, such as DISO.
    languages (tuple[str, ...]): Of aliases, as GER or de.
    sources (tuple[str, ...]): Of aliases: vocabularies of the knowledge base, such as HPO.
    types_by_label (dict[str, list[str]] | str): For an entity label, semantic types (TUI) or
        groups; "common" takes those that the labels of common NER models and corpora stand for.
    concepts (tuple[str, ...]): Concept ids.
    descendants_of (tuple[str, ...]): Concept ids; they and what lies below them are allowed.
    expand_types (bool): A semantic type stands for all below it in the Semantic Network too.

    RAISES (BergamotError): B190 for a name of `types_by_label` that is not known.
    """

    semantic_types: tuple[str, ...] = ()
    semantic_groups: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    types_by_label: Mapping[str, Sequence[str]] | str = field(default_factory=dict)
    concepts: tuple[str, ...] = ()
    descendants_of: tuple[str, ...] = ()
    expand_types: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.types_by_label, str) and self.types_by_label != COMMON:
            raise BergamotError(Errors.B190, value=self.types_by_label, known=COMMON)

    def types_of(self, label: str) -> frozenset[str]:
        """Return the semantic types and groups that a label allows, none if it allows all."""
        if isinstance(self.types_by_label, str):
            return types_of_label(label)
        return self.expanded(self.types_by_label.get(label, ()))

    def expanded(self, types: Sequence[str]) -> frozenset[str]:
        """Return what semantic types and groups stand for."""
        return with_types_below(types) if self.expand_types else frozenset(types)

    def check(self, *tables: ConceptTable, name: str) -> None:
        """Refuse what none of the tables has.

        tables (ConceptTable): Of the knowledge base.
        name (str): Of the component, for errors.
        RAISES (BergamotError): B013, B033.
        """
        given = {} if isinstance(self.types_by_label, str) else self.types_by_label
        by_label = [value for values in given.values() for value in values]
        types, groups = (_values(tables, "types", column) for column in ("type", "group"))
        languages, sources = (
            _values(tables, "aliases", column) for column in ("language", "source")
        )
        checks = {
            "semantic types": (self.semantic_types, types),
            "semantic groups": (self.semantic_groups, groups),
            "types_by_label": (by_label, types | groups),
            "languages": (self.languages, languages),
            "sources": (self.sources, sources),
        }
        for what, (wanted, known) in checks.items():
            for value in wanted:
                if value not in known and not self.expanded([value]) & known:
                    shown = ", ".join(sorted(known)[:_SHOWN])
                    raise BergamotError(Errors.B033, value=value, what=what, name=name, known=shown)
        for concept_id in (*self.concepts, *self.descendants_of):
            if not any(concept_id in table for table in tables):
                tables[0].row(concept_id)

    def for_added_concepts(
        self, base: ConceptTable, added: ConceptTable
    ) -> "CandidateFilter | None":
        """Return what it means for added concepts, which have no graph; None if it allows none.

        base, added (ConceptTable): Of the knowledge base, and of what was added to it.
        """
        if not self.concepts and not self.descendants_of:
            return self
        below = base.descendants(base.row(top) for top in self.descendants_of if top in base)
        kept = [
            concept_id
            for concept_id in added
            if (not self.concepts or concept_id in self.concepts)
            and (
                not self.descendants_of
                or concept_id in self.descendants_of
                or base.find(concept_id) in below
            )
        ]
        return replace(self, concepts=tuple(kept), descendants_of=()) if kept else None


class Masks:
    """A filter worked out for a table: boolean arrays, or None where all are allowed."""

    def __init__(
        self, table: ConceptTable, allowed: CandidateFilter, removed: np.ndarray | None = None
    ) -> None:
        self.table = table
        self.allowed = allowed
        self.removed = removed
        self._parts = lru_cache(maxsize=None)(self._parts_for)
        self.aliases = self._of_aliases()
        self.concepts = lru_cache(maxsize=None)(self._of_concepts)

    def reason(self, alias: int, concept: int, label: str) -> str | None:
        """Say which filter drops an alias or its concept, or return None.

        alias, concept (int): Their rows.
        label (str): Of the entity.
        """
        if self.removed is not None and self.removed[alias]:
            return "removed"
        row = self.table.aliases.slice(alias, 1).to_pylist()[0]
        allowed = self.allowed
        if allowed.languages and row["language"] not in allowed.languages:
            return f"language {row['language']}"
        if allowed.sources and row["source"] not in allowed.sources:
            return f"source {row['source']}"
        for name, mask in self._parts(label).items():
            if not mask[concept]:
                return name
        return None

    def _of_aliases(self) -> np.ndarray | None:
        wanted = {"language": self.allowed.languages, "source": self.allowed.sources}
        parts = [
            _is_in(self.table.aliases.column(column), values)
            for column, values in wanted.items()
            if values
        ]
        if self.removed is not None:
            parts.append(~self.removed)
        return np.logical_and.reduce(parts) if parts else None

    def _of_concepts(self, label: str) -> np.ndarray | None:
        parts = list(self._parts(label).values())
        return np.logical_and.reduce(parts) if parts else None

    def _parts_for(self, label: str) -> dict[str, np.ndarray]:
        allowed, parts = self.allowed, {}
        types = allowed.expanded(allowed.semantic_types) | {*allowed.semantic_groups}
        if types:
            parts["semantic type"] = self._of_types(types)
        by_label = allowed.types_of(label)
        if by_label:
            parts[f"semantic type for label {label}"] = self._of_types(by_label)
        if allowed.concepts:
            parts["not among the concepts"] = self._rows(self._known(allowed.concepts))
        if allowed.descendants_of:
            below = self.table.descendants(self._known(allowed.descendants_of))
            parts["not a descendant"] = self._rows(below)
        return parts

    def _known(self, concept_ids: Sequence[str]) -> list[int]:
        rows = map(self.table.find, concept_ids)
        return [row for row in rows if row is not None]

    def _of_types(self, wanted: Collection[str]) -> np.ndarray:
        rows = _is_in(self.table.types.column("type"), tuple(wanted))
        rows |= _is_in(self.table.types.column("group"), tuple(wanted))
        return self._rows(self.table.keys("types")[rows])

    def _rows(self, rows: object) -> np.ndarray:
        mask = np.zeros(len(self.table), dtype=bool)
        mask[np.fromiter(rows, dtype=np.int64)] = True  # type: ignore[call-overload]
        return mask


def _values(tables: Sequence[ConceptTable], name: str, column: str) -> set[str]:
    return {
        value
        for table in tables
        for value in getattr(table, name).column(column).unique().to_pylist()
    }


def _is_in(column: pa.ChunkedArray, values: Sequence[str]) -> np.ndarray:
    texts = column.cast(pa.string())
    found = pa.compute.is_in(texts, value_set=pa.array(list(values), type=pa.string()))
    return np.array(found.to_numpy(zero_copy_only=False), dtype=bool)
