"""Dictionaries: files of `CUI||name` lines, as SapBERT reads them."""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb.schemas import SCHEMAS
from spacy_bergamot.text import normalize
from spacy_bergamot.text_files import numbered_lines
from training.errors import BergamotError, Errors


def read_dictionary(path: Path) -> list[tuple[str, str]]:
    """Read `CUI||name` lines as (concept ids joined by |, name).

    RAISES (BergamotError): B001 for a missing file, B057 naming the first malformed line.
    """
    entries = []
    for number, line in numbered_lines(path):
        concept_ids, bars, name = line.partition("||")
        if not bars or not concept_ids or not name.strip():
            reason = f"no CUI||name line: {line[:80]}"
            raise BergamotError(Errors.B057, path=path, line=number, reason=reason)
        entries.append((concept_ids, name))
    return entries


class Dictionary:
    """Distinct names and the concepts that each may name.

    names (list[str]): In normal form, sorted.
    concepts (list[tuple[str, ...]]): Concept ids of each name, sorted.
    """

    def __init__(self, entries: Iterable[tuple[str, str]]) -> None:
        merged: dict[str, set[str]] = {}
        for concept_ids, name in entries:
            merged.setdefault(normalize(name), set()).update(filter(None, concept_ids.split("|")))
        self.names = sorted(merged)
        self.concepts = [tuple(sorted(merged[name])) for name in self.names]

    @classmethod
    def read(cls, path: Path) -> "Dictionary":
        """Read a file. RAISES (BergamotError): As `read_dictionary` does."""
        return cls(read_dictionary(path))

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: str) -> bool:
        """Return whether a name in normal form is one of them."""
        return name in self._known

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.names)

    @cached_property
    def concept_ids(self) -> frozenset[str]:
        """The ids of all its concepts."""
        return frozenset(concept for concepts in self.concepts for concept in concepts)

    def write(self, folder: Path) -> None:
        """Write it as a concept table, in which every name stands once a concept.

        A dictionary does not say which name is preferred: a concept is called by its id. Nor does
        it say of what language or source a name is.
        """
        ids = sorted(self.concept_ids)
        rows = {concept_id: row for row, concept_id in enumerate(ids)}
        owners = np.array([rows[one] for of in self.concepts for one in of], dtype=np.int32)
        order = np.argsort(owners, kind="stable")  # names stay sorted within a concept
        named = np.repeat(np.arange(len(self)), [len(of) for of in self.concepts])[order]
        names = pa.array(self.names, pa.large_string()).take(pa.array(named))
        columns: dict[str, list[Any]] = {
            "concepts": [ids, ids, [None] * len(ids)],
            "aliases": [owners[order], names, *[[""] * len(names)] * 3],
        }
        tables = {name: schema.empty_table() for name, schema in SCHEMAS.items()}
        for name, values in columns.items():
            schema = SCHEMAS[name]
            arrays = [pa.array(one).cast(of.type) for one, of in zip(values, schema, strict=True)]
            tables[name] = pa.Table.from_arrays(arrays, schema=schema)
        ConceptTable.write(folder, tables)
