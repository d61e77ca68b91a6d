"""Which concepts and aliases may be proposed, decided before the top k."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import pyarrow as pa

from spacy_bergamot.concepts import ConceptTable
from spacy_bergamot.errors import BergamotError, Errors

_SHOWN = 40


@dataclass(frozen=True)
class CandidateFilter:
    """Which concepts and aliases may be proposed; an empty tuple allows all.

    types_by_label (dict[str, list[str]]): For an entity label, semantic types (TUI) or groups.
    concepts (tuple[str, ...]): Concept ids.
    descendants_of (tuple[str, ...]): Concept ids; they and what lies below them are allowed.
    """

    semantic_types: tuple[str, ...] = ()
    semantic_groups: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    types_by_label: Mapping[str, Sequence[str]] = field(default_factory=dict)
    concepts: tuple[str, ...] = ()
    descendants_of: tuple[str, ...] = ()

    def check(self, table: ConceptTable, *, name: str) -> None:
        """Refuse what the knowledge base does not have. RAISES (BergamotError): B013, B033."""
        by_label = [value for values in self.types_by_label.values() for value in values]
        types, groups = (set(table.types.column(c).unique().to_pylist()) for c in ("type", "group"))
        languages, sources = (
            set(table.aliases.column(c).unique().to_pylist()) for c in ("language", "source")
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
                if value not in known:
                    shown = ", ".join(sorted(known)[:_SHOWN])
                    message = Errors.B033.format(value=value, what=what, name=name, known=shown)
                    raise BergamotError(message)
        for concept_id in (*self.concepts, *self.descendants_of):
            table.row(concept_id)


class Masks:
    """A filter worked out for a table: boolean arrays, or None where all are allowed."""

    def __init__(self, table: ConceptTable, allowed: CandidateFilter) -> None:
        self.table = table
        self.allowed = allowed
        self._parts = lru_cache(maxsize=None)(self._parts_for)
        self.aliases = self._of_aliases()
        self.concepts = lru_cache(maxsize=None)(self._of_concepts)

    def reason(self, alias: int, concept: int, label: str) -> str | None:
        """Say which filter drops an alias or its concept, or return None."""
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
        return np.logical_and.reduce(parts) if parts else None

    def _of_concepts(self, label: str) -> np.ndarray | None:
        parts = list(self._parts(label).values())
        return np.logical_and.reduce(parts) if parts else None

    def _parts_for(self, label: str) -> dict[str, np.ndarray]:
        allowed, parts = self.allowed, {}
        types = {*allowed.semantic_types, *allowed.semantic_groups}
        if types:
            parts["semantic type"] = self._of_types(types)
        by_label = set(allowed.types_by_label.get(label, ()))
        if by_label:
            parts[f"semantic type for label {label}"] = self._of_types(by_label)
        if allowed.concepts:
            parts["not among the concepts"] = self._rows(map(self.table.row, allowed.concepts))
        if allowed.descendants_of:
            tops = map(self.table.row, allowed.descendants_of)
            parts["not a descendant"] = self._rows(self.table.descendants(tops))
        return parts

    def _of_types(self, wanted: set[str]) -> np.ndarray:
        rows = _is_in(self.table.types.column("type"), tuple(wanted))
        rows |= _is_in(self.table.types.column("group"), tuple(wanted))
        return self._rows(self.table.keys("types")[rows])

    def _rows(self, rows: object) -> np.ndarray:
        mask = np.zeros(len(self.table), dtype=bool)
        mask[np.fromiter(rows, dtype=np.int64)] = True  # type: ignore[call-overload]
        return mask


def _is_in(column: pa.ChunkedArray, values: Sequence[str]) -> np.ndarray:
    texts = column.cast(pa.string())
    found = pa.compute.is_in(texts, value_set=pa.array(list(values), type=pa.string()))
    return np.array(found.to_numpy(zero_copy_only=False), dtype=bool)
