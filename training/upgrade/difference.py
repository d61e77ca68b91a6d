"""What one release of a knowledge base has that another has not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from spacy_bergamot.kb.concept_table import ConceptTable
from training.corpora.mapping import MERGED, RELATED, Successors, current, read_successors
from training.errors import BergamotError, Errors
from training.tables import concepts_of, names_of, with_a_name_in_common

_LEAST_SHARED = 0.5
_LEAST_LIKE = 0.5

Entry = dict[str, str]
"""What is said of a concept: concept_id, name, and more by what became of it."""


@dataclass(frozen=True)
class Difference:
    """The concepts and names that differ.

    added (list[Entry]): Those of the new release alone.
    removed (list[Entry]): Those of the old one alone without a successor; `see` has concepts that
        MRCUI calls broader, narrower or otherwise related.
    merged (list[Entry]): Those of the old one alone that became another: `into`, `into_name`.
    renamed (list[Entry]): Those of both whose preferred name is another: `now`. Where no name at
        all has stayed, `meaning` says so.
    counts (dict[str, int]): Concepts and aliases, before and now.
    names_by_language (dict[str, dict[str, int]]): By code, how many names there were `before` and
        are `now`, and of these `added` and `removed`. A name that went with a merged concept has
        stayed.
    """

    added: list[Entry]
    removed: list[Entry]
    merged: list[Entry]
    renamed: list[Entry]
    counts: Mapping[str, int] = field(default_factory=dict)
    names_by_language: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def successors(self) -> dict[str, str]:
        """Concept id now by the one before, of those that were merged."""
        return {entry["concept_id"]: entry["into"] for entry in self.merged}

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        kinds = ("counts", "names_by_language", "added", "removed", "merged", "renamed")
        return {kind: getattr(self, kind) for kind in kinds}


def differences(
    old: ConceptTable, new: ConceptTable, *, mrcui: Path | None = None, name: str = "the release"
) -> Difference:
    """Compare two releases.

    mrcui (Path | None): MRCUI.RRF of the new one: what retired concepts became.
    name (str): Of the new one, for errors.
    RAISES (BergamotError): T313 for the same release, T314 if most concept ids of the old one are
        gone, T315 if most of those in both have no name in common.
    """
    if old.fingerprint == new.fingerprint:
        raise BergamotError(Errors.T313, path=name)
    before, now = concepts_of(old), concepts_of(new)
    added = now.join(before, on="concept_id", how="anti")
    gone = before.join(now, on="concept_id", how="anti")
    both = before.join(now, on="concept_id", suffix="_now")
    successors = read_successors(mrcui, RELATED) if mrcui else {}
    merged, removed = _sorted_out(gone, successors, new)
    if both.height + len(merged) < _LEAST_SHARED * before.height:
        raise BergamotError(Errors.T314, path=name, shared=both.height, before=before.height)
    like = with_a_name_in_common(old, new)
    unlike = both.filter(~pl.col("concept_id").is_in(like.implode()))
    if unlike.height > (1 - _LEAST_LIKE) * both.height:
        first = unlike.row(0)
        facts = dict(zip(("concept_id", "before", "now"), first, strict=True))
        raise BergamotError(Errors.T315, path=name, count=unlike.height, all=both.height, **facts)
    others = set(unlike["concept_id"])
    renamed = [
        {"concept_id": one, "name": was, "now": is_now}
        | ({"meaning": "no name has stayed"} if one in others else {})
        for one, was, is_now in both.filter(pl.col("name") != pl.col("name_now")).iter_rows()
    ]
    sizes = {"concepts": len, "aliases": lambda table: table.aliases.num_rows}
    counts = {
        f"{what}_{when}": count(table)
        for what, count in sizes.items()
        for when, table in (("before", old), ("now", new))
    }
    into = {entry["concept_id"]: entry["into"] for entry in merged}
    by_language = _names_by_language(old, new, into)
    return Difference(added.to_dicts(), removed, merged, renamed, counts, by_language)


def _sorted_out(
    gone: pl.DataFrame, successors: Successors, new: ConceptTable
) -> tuple[list[Entry], list[Entry]]:
    """Return the concepts that were merged, and those that were removed."""
    merges = {cui: {rel: by[rel] for rel in MERGED if rel in by} for cui, by in successors.items()}
    merged, removed = [], []
    for concept_id, name in gone.iter_rows():
        entry = {"concept_id": concept_id, "name": name}
        if into := current(concept_id, merges, new):
            merged.append({**entry, "into": into[0], "into_name": new.name(new.row(into[0]))})
            continue
        near = current(concept_id, successors, new)
        removed.append({**entry, **({"see": ", ".join(near)} if near else {})})
    return merged, removed


def _names_by_language(
    old: ConceptTable, new: ConceptTable, into: Mapping[str, str]
) -> dict[str, dict[str, int]]:
    """Count names by language; see `Difference`.

    into (Mapping[str, str]): What merged concepts have become.
    """
    before = names_of(old).with_columns(pl.col("concept_id").replace(into)).unique()
    now = names_of(new)
    parts = {
        "before": before,
        "now": now,
        "added": now.join(before, on=before.columns, how="anti"),
        "removed": before.join(now, on=before.columns, how="anti"),
    }
    found = {
        name: dict(part["language"].value_counts().iter_rows()) for name, part in parts.items()
    }
    languages = sorted({*found["before"], *found["now"]})
    return {code: {name: found[name].get(code, 0) for name in parts} for code in languages}
