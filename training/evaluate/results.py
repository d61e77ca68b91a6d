"""Ranked results of an evaluation on disk, and the figures that follow from them."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa

from spacy_bergamot.storage.arrow_files import read_arrow, write_arrow
from spacy_bergamot.storage.files import atomic_folder
from spacy_bergamot.storage.manifest import read_manifest, write_manifest
from training.corpora.schema import GoldMention
from training.evaluate import metrics
from training.evaluate.hierarchy import Hierarchy
from training.evaluate.ranking import Ranked, from_table, to_table
from training.evaluate.statistics import compare
from training.evaluate.systems import EXACT_SEARCH

KIND = "ranked-results"
VERSION = 2
_FIELDS = {"choices": dict, "systems": list, "facts": dict}
RECALL_KS = (1, 2, 4, 8, 16, 32, 64)
_KS = (1, 2, 3, 4, 5, 8, 16, 32, 64)

_WORD, _TEXT = pa.string(), pa.large_string()
QUERIES = pa.schema({
    "mention": _TEXT, "concepts": pa.list_(_WORD), "group": _WORD, "type": _WORD,
    "language": _WORD, "document": _TEXT, "context": _TEXT, "all_of": pa.bool_(),
})  # fmt: skip


@dataclass(frozen=True)
class Choices:
    """What an evaluation counts, and how.

    protocols (tuple[str, ...]): See `protocols`; the first is the one that is shown.
    golds (str): How several gold concepts count; see `gold_ranks`.
    out_of_kb (str): Mentions none of whose gold concepts the dictionary has: "drop" leaves them
        out, "miss" counts them as missed, "nil" expects NIL of them. All are reported.
    threshold (float | None): Best score below which a retriever says NIL.
    k (int): Concepts kept of a mention. samples (int): Bootstrap samples.
    """

    protocols: tuple[str, ...] = ("full",)
    golds: str = "any"
    out_of_kb: str = "drop"
    threshold: float | None = None
    k: int = 64
    samples: int = 1000


@dataclass(frozen=True)
class Results:
    """Queries, which protocols each counts under, and every system's ranked concepts.

    members (dict[str, list[bool]]): Protocol to a flag for every query.
    facts (dict): Dictionary, skipped, language models: what the manifest says beside the choices.
    """

    queries: list[GoldMention]
    members: dict[str, list[bool]]
    systems: dict[str, list[Ranked]]
    choices: Choices
    facts: dict[str, Any]

    @classmethod
    def open(cls, folder: Path) -> "Results":
        """Open a folder that `write` made. RAISES (BergamotError): If it is none, or damaged."""
        manifest = read_manifest(folder, kind=KIND, version=VERSION, fields=_FIELDS)
        rows = read_arrow(folder / "queries.arrow").to_pylist()
        names = [field.name for field in fields(GoldMention)]
        queries = [
            GoldMention(**{n: row[n] for n in names} | {"concepts": frozenset(row["concepts"])})
            for row in rows
        ]
        choices = manifest["choices"]
        choices["protocols"] = tuple(choices["protocols"])
        members = {name: [row[f"protocol {name}"] for row in rows] for name in choices["protocols"]}
        systems = {
            name: from_table(read_arrow(folder / f"system-{number}.arrow"))
            for number, name in enumerate(manifest["systems"])
        }
        return cls(queries, members, systems, Choices(**choices), manifest["facts"])

    def figures(self, hierarchy: Hierarchy | None = None) -> dict[str, Any]:
        """Return tables, tests between systems, NIL and the index's loss as plain values."""
        first, *further = self.choices.protocols
        report = {**self.facts, **asdict(self.choices), "protocol": first}
        report |= self._protocol(first, hierarchy)
        report["further_protocols"] = {name: self._protocol(name, hierarchy) for name in further}
        report["nil"] = {
            name: metrics.nil_scores(self.queries, ranked) for name, ranked in self.systems.items()
        }
        report["index_loss"] = {
            name: metrics.index_loss(self.systems[name + EXACT_SEARCH], ranked)
            for name, ranked in self.systems.items()
            if name + EXACT_SEARCH in self.systems
        }
        return report

    def of_protocol(self, name: str) -> tuple[list[GoldMention], dict[str, list[Ranked]]]:
        """Return the queries of a protocol, and every system's results for them."""
        rows = [row for row, counts in enumerate(self.members[name]) if counts]
        systems = {s: [ranked[row] for row in rows] for s, ranked in self.systems.items()}
        return [self.queries[row] for row in rows], systems

    def _protocol(self, name: str, hierarchy: Hierarchy | None) -> dict[str, Any]:
        queries, systems = self.of_protocol(name)
        choices = self.choices
        ks = tuple(k for k in _KS if k <= choices.k)
        tables = {
            system: metrics.tabulate(
                queries,
                ranked,
                ks=ks,
                golds=choices.golds,
                hierarchy=hierarchy,
                samples=choices.samples,
            )
            for system, ranked in systems.items()
        }
        ranks = {
            s: metrics.gold_ranks(queries, ranked, choices.golds) for s, ranked in systems.items()
        }
        return {
            "mentions": sum(bool(query.concepts) for query in queries),
            "systems": tables,
            "comparisons": _comparisons(queries, ranks, choices.samples),
        }


def what_pipelines_know(figures: dict[str, Any]) -> list[str]:
    """Say of every pipeline how many mentions its own dictionary has: there it can hardly fail."""
    pipelines = figures.get("pipelines", {})
    hidden = [
        f"Distinct names that are asked for, hidden from {name}'s own dictionary: "
        f"{about['hidden']:,}."
        for name, about in pipelines.items()
        if about.get("hidden")  # earlier results have none
    ]
    return hidden + [
        f"{about['own']:.1f} % of the mentions are aliases of {name}'s own dictionary: its "
        "figures say little about mentions that it does not know."
        for name, about in pipelines.items()
        if about["own"]
    ]


def write(
    folder: Path,
    queries: list[GoldMention],
    members: dict[str, list[bool]],
    systems: Iterable[tuple[str, list[Ranked]]],
    choices: Choices,
    facts: dict[str, Any],
) -> None:
    """Write results as a folder, whole or not at all; a system's file as soon as it is done."""
    rows = [{**asdict(query), "concepts": sorted(query.concepts)} for query in queries]
    table = pa.Table.from_pylist(rows, schema=QUERIES)
    for name, flags in members.items():
        table = table.append_column(f"protocol {name}", pa.array(flags, pa.bool_()))
    names = []
    with atomic_folder(folder) as path:
        write_arrow(path / "queries.arrow", table)
        for number, (name, ranked) in enumerate(systems):
            names.append(name)
            write_arrow(path / f"system-{number}.arrow", to_table(ranked))
        write_manifest(
            path, kind=KIND, version=VERSION, systems=names, choices=asdict(choices), facts=facts
        )


def _comparisons(
    queries: list[GoldMention], ranks: dict[str, metrics.GoldRanks], samples: int
) -> list[dict[str, Any]]:
    """Compare the first concepts of every two systems, in each group and over all ("micro")."""
    if not ranks:
        return []
    owner = next(iter(ranks.values())).owner
    masks = metrics.group_masks(queries, owner)
    documents = metrics.documents_of(queries, owner)
    return [
        {
            "group": group,
            "one": one,
            "other": other,
            **compare(
                ranks[one].concept[mask] < 1,
                ranks[other].concept[mask] < 1,
                documents[mask],
                samples=samples,
            ),
        }
        for one, other in combinations(ranks, 2)
        for group, mask in masks.items()
        if mask.any()
    ]
