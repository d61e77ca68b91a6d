"""Changes: concepts and aliases added to an index, and removed from it, without building it again.

The index itself is never touched. A folder of changes holds

- changes.jsonl   what was added and removed, settled: nothing in it cancels anything else.
- added/          a small alias index of what was added, searched exactly.
- manifest.json   which index it belongs to, counts, checksums.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from spacy_bergamot.encoder.text_encoder import TextEncoder
from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb.schemas import tables_of
from spacy_bergamot.storage.files import atomic_folder
from spacy_bergamot.storage.manifest import read_manifest, write_manifest
from spacy_bergamot.storage.scratch import Scratch
from spacy_bergamot.text import broken_character, has_letters, normalize

KIND = "index-changes"
VERSION = 1
_FACTS = ("name", "types", "definition")
_FIELDS = {"action", "concept_id", "alias", "language", "source", *_FACTS}
Key = tuple[str, str | None]  # concept id, and normal form of an alias or None for all of them
Change = dict[str, Any]


class ChangeError(BergamotError):
    """A change that cannot be made; `number` counts from 1 in those given, `reason` says why."""

    def __init__(self, number: int, entry: Mapping[str, Any], reason: str) -> None:
        super().__init__(Errors.B051.format(number=number, entry=dict(entry), reason=reason))
        self.number = number
        self.reason = reason


class Changes:
    """Changes of an index; open them with `Changes.open`, make them with `Changes.write`.

    entries (list[dict]): As they were given to `Changes.write`, settled.
    fingerprint (str): Hash of the entries.
    added (AliasIndex | None): What was added.
    removed (np.ndarray | None): bool, one for every alias of the index: whether it is gone.
    """

    def __init__(self, path: Path, base: AliasIndex, *, checksums: bool = True) -> None:
        manifest = read_manifest(
            path, kind=KIND, version=VERSION, fields={"index": str}, checksums=checksums
        )
        if manifest["index"] != base.fingerprint:
            command = "spacy bergamot update PIPELINE CHANGES.jsonl OUTPUT"
            raise BergamotError(Errors.B050, path=path, command=command)
        self.fingerprint: str = manifest["files"]["changes.jsonl"]["sha256"]
        with (path / "changes.jsonl").open(encoding="utf8", newline="\n") as lines:
            self.entries: list[Change] = [json.loads(line) for line in lines]
        self.added: AliasIndex | None = None
        if (path / "added").is_dir():
            self.added = AliasIndex.open(path / "added", base=base, checksums=False)
        gone = [entry for entry in self.entries if entry["action"] == "remove"]
        self.removed = _removed_rows(base.table, gone) if gone else None

    @classmethod
    def open(cls, path: Path, base: AliasIndex, *, checksums: bool = True) -> "Changes":
        """Open the changes of an index.

        path (Path): The folder.
        base (AliasIndex): The index.
        checksums (bool): Compare the files' checksums, and not their sizes alone.
        RAISES (BergamotError): B050 if they belong to another index; B001 to B006.
        """
        return cls(path, base, checksums=checksums)

    @staticmethod
    def write(
        path: Path,
        base: AliasIndex,
        encoder: TextEncoder,
        changes: Iterable[Mapping[str, Any]],
        *,
        before: "Changes | None" = None,
    ) -> None:
        """Write changes that follow those of before.

        path (Path): The folder.
        base (AliasIndex): The index.
        encoder (TextEncoder): Its language model.
        changes (Iterable[dict]): "action" is "add" or "remove"; "concept_id"; "alias", which
            "remove" may leave out to remove the whole concept; of an addition "language" and
            "source"; of a concept that is new, "name" (the alias where it is left out), "types"
            (TUI that the knowledge base has) and "definition".
        RAISES (ChangeError): B051, naming the change and what is wrong with it.
        """
        entries = settle(changes, base.table, before=before.entries if before else [])
        added = [entry for entry in entries if entry["action"] == "add"]
        with atomic_folder(path) as folder, Scratch() as temporary:
            with (folder / "changes.jsonl").open("w", encoding="utf8", newline="\n") as lines:
                for entry in entries:
                    lines.write(json.dumps(entry, ensure_ascii=False) + "\n")
            if added:
                table = Path(temporary) / "concepts"
                ConceptTable.write(table, _tables(added, base.table))
                AliasIndex.build(
                    folder / "added",
                    table,
                    encoder,
                    lm_fingerprint=base.manifest["lm_fingerprint"],
                    engine="exact",
                    base=base,
                )
            write_manifest(
                folder,
                kind=KIND,
                version=VERSION,
                index=base.fingerprint,
                added=len(added),
                removed=len(entries) - len(added),
            )

    @property
    def counts(self) -> dict[str, int]:
        """Number of settled entries: added, removed."""
        added = sum(entry["action"] == "add" for entry in self.entries)
        return {"added": added, "removed": len(self.entries) - added}


def settle(
    changes: Iterable[Mapping[str, Any]],
    table: ConceptTable,
    *,
    before: Sequence[Change] = (),
    refused: list[ChangeError] | None = None,
) -> list[Change]:
    """Return what remains of changes once each has had its effect on those before it.

    changes (Iterable[Mapping]): As `Changes.write` takes them, in their order.
    table (ConceptTable): What they change.
    before (list[dict]): What remained of earlier ones.
    refused (list[ChangeError] | None): Gets those that cannot be made, and the others are.
    RAISES (ChangeError): B051 for the first that cannot be made, where there is no list for it.
    """
    added: dict[Key, Change] = {}
    removed: dict[Key, Change] = {}
    types = set(table.types.column("type").unique().to_pylist())
    for number, given in enumerate([*before, *changes], 1 - len(before)):
        try:
            entry, key = _checked(given, types, table)
            known: set[Key] = {(key[0], name) for name in _names(table, key[0])}
            if entry["action"] == "add":
                _add(entry, key, known, added, removed)
            else:
                _remove(entry, key, known, added, removed)
        except ValueError as reason:
            error = ChangeError(number, given, str(reason))
            if refused is None:
                raise error from None
            refused.append(error)
    return [*removed.values(), *added.values()]


def _checked(given: Mapping[str, Any], types: set[str], table: ConceptTable) -> tuple[Change, Key]:
    unknown = sorted(set(given) - _FIELDS)
    if unknown:
        raise ValueError(f"unknown field {unknown[0]!r}")
    entry = {name: value for name, value in given.items() if value is not None}
    if entry.get("action") not in ("add", "remove"):
        raise ValueError('"action" must be "add" or "remove"')
    if not isinstance(entry.get("concept_id"), str) or not entry["concept_id"]:
        raise ValueError('"concept_id" is missing')
    texts = ("alias", "language", "source", "name", "definition")
    wrong = [field for field in texts if not isinstance(entry.get(field, ""), str)]
    if wrong:
        raise ValueError(f'"{wrong[0]}" must be a string')
    for field in ("concept_id", *texts):
        if character := broken_character(entry.get(field, "")):
            raise ValueError(f'"{field}" has {character}, which no name has')
    alias = entry.get("alias")
    if entry["action"] == "add" and not has_letters(alias or ""):
        raise ValueError('"alias" needs a letter or a digit')
    if not isinstance(entry.get("types", []), list):
        raise ValueError('"types" must be a list')
    for name in entry.get("types", []):
        if name not in types:
            raise ValueError(f"the knowledge base has no semantic type {name!r}")
    row = table.find(entry["concept_id"])
    if row is not None:  # as the table writes it, HP_0001250 or HP:0001250
        entry["concept_id"] = table.concept_id(row)
    return entry, (entry["concept_id"], normalize(alias) if alias else None)


def _add(
    entry: Change, key: Key, known: set[Key], added: dict[Key, Change], removed: dict[Key, Change]
) -> None:
    concept_id = key[0]
    is_new = not known and not any(other == concept_id for other, _ in added)
    if not is_new and any(fact in entry for fact in _FACTS):
        raise ValueError("the concept is known already; only aliases can be added to it")
    if key in known and (concept_id, None) not in removed:
        removed.pop(key, None)
        return
    if key not in added:
        added[key] = entry


def _remove(
    entry: Change, key: Key, known: set[Key], added: dict[Key, Change], removed: dict[Key, Change]
) -> None:
    concept_id, alias = key
    mine = [other for other in added if other[0] == concept_id and alias in (None, other[1])]
    if not mine and not (key in known or (alias is None and known)):
        raise ValueError("the knowledge base has nothing of that name to remove")
    if alias is not None and any(fact in added[other] for other in mine for fact in _FACTS):
        heirs = [other for other in added if other[0] == concept_id and other != key]
        for heir in heirs[:1]:  # what is known of a new concept goes on to its next alias
            facts = {fact: added[key][fact] for fact in _FACTS if fact in added[key]}
            added[heir] = {**added[heir], **facts}
    for other in mine:
        del added[other]
    if key in known or (alias is None and known):
        for other in [other for other in removed if other[0] == concept_id and alias is None]:
            del removed[other]
        if (concept_id, None) not in removed:
            removed[key] = {"action": "remove", "concept_id": concept_id}
            if alias is not None:
                removed[key]["alias"] = entry["alias"]


def _names(table: ConceptTable, concept_id: str) -> list[str]:
    row = table.find(concept_id)
    if row is None:
        return []
    return [normalize(name) for name in table.rows_of("aliases", row)["alias"].to_pylist()]


def _removed_rows(table: ConceptTable, entries: list[Change]) -> np.ndarray:
    mask = np.zeros(table.aliases.num_rows, dtype=bool)
    for entry in entries:
        row = table.row(entry["concept_id"])
        wanted = entry.get("alias")
        for alias in table.span_of("aliases", row):
            name = table.column("aliases", "alias")[alias].as_py()
            mask[alias] |= wanted is None or normalize(name) == normalize(wanted)
    return mask


def _tables(added: list[Change], base: ConceptTable) -> dict[str, pa.Table]:
    """Return the tables of the added aliases; concepts of the base bring their facts."""
    kinds = base.types.select(["type", "group"]).group_by(["type", "group"]).aggregate([])
    groups = dict(zip(kinds["type"].to_pylist(), kinds["group"].to_pylist(), strict=True))
    facts: dict[str, tuple[str, str | None, list[str]]] = {}
    for entry in added:
        concept_id, row = entry["concept_id"], base.find(entry["concept_id"])
        if row is not None:
            concept = base.concept(row)
            facts[concept_id] = (concept.canonical_name, concept.definition, concept.types)
        else:
            name, types = str(entry.get("name", entry["alias"])), list(entry.get("types", []))
            facts.setdefault(concept_id, (name, entry.get("definition"), types))
    ids = sorted(facts)
    rows = {concept_id: row for row, concept_id in enumerate(ids)}
    aliases = sorted(
        (rows[e["concept_id"]], e["alias"], e.get("language", ""), e.get("source", ""), "")
        for e in added
    )
    types = [(rows[c], kind, groups[kind]) for c in ids for kind in sorted(facts[c][2])]
    return tables_of(
        {
            "concepts": [(c, facts[c][0], facts[c][1]) for c in ids],
            "aliases": aliases,
            "types": types,
        }
    )
