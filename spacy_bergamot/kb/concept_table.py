"""Concepts and the memory-mapped table of them that training and linking share.

A concept table is a folder of Arrow IPC files, one record batch each, of the tables in
`spacy_bergamot.kb.schemas`, and a manifest.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from operator import methodcaller
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.kb.schemas import SCHEMAS
from spacy_bergamot.storage.arrow_files import read_arrow, write_arrow
from spacy_bergamot.storage.files import atomic_folder
from spacy_bergamot.storage.manifest import files_fingerprint, read_manifest, write_manifest

KIND = "concept-table"
PARENT_RELATIONS = ("PAR", "RB")
CHILD_RELATIONS = ("CHD", "RN")
VERSION = 1
PREFIXED_ID = re.compile(r"([A-Z][A-Za-z]*)[:_](\d\w*)")
"""An accession of an ontology: HP:0001250, or HP_0001250 as in its IRI."""
_OTHERWISE = str.maketrans(":_", "_:")


@dataclass(frozen=True, slots=True)
class Concept:
    """One meaning in the knowledge base; the first five fields are scispaCy's.

    concept_id (str): Its id, a CUI where the source is UMLS.
    canonical_name (str): Preferred name.
    aliases (list[str]): Every name in every language, as written in the source.
    types (list[str]): Semantic types (TUI).
    definition (str | None): One definition, if the knowledge base has any.
    groups (list[str]): Semantic groups of its types, such as DISO.
    languages (list[str]): Languages that have a name of it, sorted.
    codes (dict[str, list[str]]): Source vocabulary to the codes it has there.
    """

    concept_id: str
    canonical_name: str
    aliases: list[str]
    types: list[str]
    definition: str | None
    groups: list[str]
    languages: list[str]
    codes: dict[str, list[str]]

    def _asdict(self) -> dict[str, Any]:
        """Return the fields as a dict; the name is that of scispaCy's entities."""
        return asdict(self)


class Name(NamedTuple):
    """An alias as it is written, its language, and its concept's semantic group ("" without)."""

    alias: str
    language: str
    group: str


def _table(name: str) -> "cached_property[pa.Table]":
    """Return a property that maps a table into memory when it is first read."""
    return cached_property(lambda self: read_arrow(self.path / f"{name}.arrow"))


class ConceptTable:
    """A knowledge base on disk, memory-mapped; open it with `ConceptTable.open`.

    concepts, aliases, types, codes, relations (pa.Table): Its tables, as in `SCHEMAS`.
    """

    concepts = _table("concepts")
    aliases = _table("aliases")
    types = _table("types")
    codes = _table("codes")
    relations = _table("relations")

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = Path(path)
        self.manifest = manifest

    @classmethod
    def open(cls, path: Path | str, *, checksums: bool = True) -> "ConceptTable":
        """Open a folder that `ConceptTable.write` made.

        path (Path | str): The folder.
        checksums (bool): Compare the files' checksums, and not their sizes alone.
        RAISES (BergamotError): If a file is missing, truncated, changed or of another version.
        """
        manifest = read_manifest(Path(path), kind=KIND, version=VERSION, checksums=checksums)
        return cls(Path(path), manifest)

    @staticmethod
    def write(path: Path | str, tables: dict[str, pa.Table], **facts: Any) -> dict[str, Any]:
        """Write tables in the schemas of `SCHEMAS` as a concept table, whole or not at all.

        path (Path | str): The folder.
        facts (Any): What goes into the manifest: release, sources, options, counts.
        RETURNS (dict): The manifest.
        """
        with atomic_folder(Path(path)) as folder:
            for name, schema in SCHEMAS.items():
                write_arrow(folder / f"{name}.arrow", tables[name].cast(schema))
            rows = {name: tables[name].num_rows for name in SCHEMAS}
            return write_manifest(folder, kind=KIND, version=VERSION, rows=rows, **facts)

    @property
    def fingerprint(self) -> str:
        """Hash of the checksums of all its files (hex, 64 digits)."""
        return files_fingerprint(self.manifest)

    def __len__(self) -> int:
        return self.concepts.num_rows

    def __contains__(self, concept_id: object) -> bool:
        return isinstance(concept_id, str) and self.find(concept_id) is not None

    def __getitem__(self, concept_id: str) -> Concept:
        row = self.find(concept_id)
        if row is None:
            raise KeyError(concept_id)
        return self.concept(row)

    def __iter__(self) -> Iterator[str]:
        return (value.as_py() for value in self.column("concepts", "concept_id"))

    def find(self, concept_id: str) -> int | None:
        """Return the row of a concept id, or None; HP:0001250 and HP_0001250 are one.

        concept_id (str): Id.
        """
        row = self._find(concept_id)
        if row is None and PREFIXED_ID.fullmatch(concept_id):
            row = self._find(concept_id.translate(_OTHERWISE))
        return row

    def _find(self, concept_id: str) -> int | None:
        """Return the row of an id as it is written, by binary search."""
        ids = self.column("concepts", "concept_id")
        row = bisect_left(ids, concept_id, key=methodcaller("as_py"))
        return row if row < len(ids) and ids[row].as_py() == concept_id else None

    def row(self, concept_id: str) -> int:
        """Return the row of a concept id.

        concept_id (str): Id.
        RAISES (BergamotError): If it is unknown.
        """
        row = self.find(concept_id)
        if row is None:
            raise BergamotError(Errors.B013, value=concept_id, where=self.path)
        return row

    def concept_id(self, row: int) -> str:
        """Return the id of the concept in a row.

        row (int): Of the concept.
        """
        return str(self.column("concepts", "concept_id")[row].as_py())

    def name(self, row: int) -> str:
        """Return the preferred name of the concept in a row.

        row (int): Of the concept.
        """
        return str(self.column("concepts", "name")[row].as_py())

    def group(self, row: int) -> str:
        """Return the semantic group that mentions of the concept in a row are labelled with.

        row (int): Of the concept.
        """
        groups = self.rows_of("types", row)["group"].to_pylist()
        return groups[-1] if groups else ""

    def concept(self, row: int) -> Concept:
        """Return one concept with everything known of it.

        row (int): Of the concept.
        """
        aliases, types = self.rows_of("aliases", row), self.rows_of("types", row)
        codes: dict[str, list[str]] = {}
        for entry in self.rows_of("codes", row).to_pylist():
            codes.setdefault(entry["source"], []).append(entry["code"])
        return Concept(
            concept_id=self.concept_id(row),
            canonical_name=self.name(row),
            aliases=list(dict.fromkeys(aliases["alias"].to_pylist())),
            types=types["type"].to_pylist(),
            definition=self.column("concepts", "definition")[row].as_py(),
            groups=sorted(set(types["group"].to_pylist())),
            languages=sorted(set(aliases["language"].to_pylist())),
            codes=codes,
        )

    def rows_of(self, table: str, row: int) -> pa.Table:
        """Return a zero-copy slice: the rows of `table` that belong to the concept in `row`.

        table (str): aliases, types, codes or relations (those whose head it is).
        """
        span = self.span_of(table, row)
        return getattr(self, table).slice(span.start, len(span))

    def span_of(self, table: str, row: int) -> range:
        """Return the rows of `table` that belong to the concept in `row`."""
        keys = self.keys(table)
        # Of the column's own type: else numpy converts the column, whole, at every call.
        start, end = np.searchsorted(keys, np.array([row, row + 1], dtype=keys.dtype))
        return range(int(start), int(end))

    def rows_coded(self, source: str, code: str) -> list[int]:
        """Return the rows of the concepts that have a code in a source vocabulary.

        source (str): Such as ICD10CM.
        code (str): With the source before it or without: MONDO:0004979, I10, ICD10CM:I10.
        """
        forms = {code, code.removeprefix(f"{source}:"), f"{source}:{code}"}
        written = self.column("codes", "code")
        same = pa.compute.is_in(written, value_set=pa.array(sorted(forms), written.type))
        rows = np.flatnonzero(same.to_numpy(zero_copy_only=False))
        sources = self.column("codes", "source")
        found = [int(self.keys("codes")[row]) for row in rows if sources[row].as_py() == source]
        return list(dict.fromkeys(found))

    def related(self, row: int, *, rels: Iterable[str] = ()) -> list[tuple[str, str, int]]:
        """Return (rel, rela, row) of the concepts that are something to the one in `row`.

        rels (Iterable[str]): REL of interest, such as PAR and RB; all where none is given.
        """
        wanted = set(rels)
        return [
            (entry["rel"], entry["rela"], entry["tail"])
            for entry in self.rows_of("relations", row).to_pylist()
            if not wanted or entry["rel"] in wanted
        ]

    def descendants(self, rows: Iterable[int]) -> set[int]:
        """Return rows and all rows below them by CHD and RN, however the graph is looped."""
        below, tails = self._children
        found = {int(row) for row in rows}
        front = sorted(found)
        while front:
            steps = [tails[below[row] : below[row + 1]] for row in front]
            front = sorted(set(np.concatenate(steps).tolist()) - found)
            found.update(front)
        return found

    @cached_property
    def _children(self) -> tuple[np.ndarray, np.ndarray]:
        """Return indptr and rows of every concept's children."""
        rel = self.column("relations", "rel").cast(pa.string())
        wanted = pa.compute.is_in(rel, value_set=pa.array(CHILD_RELATIONS, type=pa.string()))
        chosen = np.flatnonzero(wanted.to_numpy(zero_copy_only=False))
        heads = self.keys("relations")[chosen]
        tails = self.column("relations", "tail").to_numpy(zero_copy_only=False)[chosen]
        return np.searchsorted(heads, np.arange(len(self) + 1)), tails

    def keys(self, table: str) -> np.ndarray:
        """Return the sorted column of concept rows of a table, int32, without a copy."""
        name = "head" if table == "relations" else "concept"
        column = self.column(table, name)
        return np.asarray(column.to_numpy(zero_copy_only=True))

    def column(self, table: str, name: str) -> pa.Array:
        """Return a column of a table as one array, without a copy.

        table (str): concepts, aliases, types, codes or relations.
        name (str): Of the column, as in `SCHEMAS`.
        """
        column = getattr(self, table).column(name)
        if column.num_chunks == 1:
            return column.chunk(0)
        return pa.array([], type=column.type)
