"""The training set on disk: names, pairs, graph and homonyms as memory-mapped arrays."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from spacy_bergamot.kb.concept_table import ConceptTable, read_arrow, write_arrow
from spacy_bergamot.kb_import.keys import combined, separated, sorted_distinct
from spacy_bergamot.kb_import.progress import timed
from spacy_bergamot.storage.files import MANIFEST, atomic_folder, sha256
from spacy_bergamot.storage.manifest import read_manifest, write_manifest
from training.errors import BergamotError, Errors
from training.npy import array_in_parts
from training.preprocess.graph import csr_indptr, graph_edges, homonym_pairs
from training.preprocess.names import TrainingNames, concept_hashes
from training.preprocess.pairs import Caps, positive_pairs

KIND = "training-set"
VERSION = 1
_FIELDS = {"relation_labels": list}
_ARRAYS = (
    "pairs",
    "node_names_indptr",
    "node_names",
    "graph_indptr",
    "graph_sources",
    "graph_relations",
    "homonyms_indptr",
    "homonyms",
)


@dataclass(frozen=True)
class TrainingSet:
    """What a trainer needs; nodes are concept rows, names are rows of `names`.

    path (Path), manifest (dict): Its folder, and what stands in its manifest.
    names (pa.Array): Distinct names in training form, large_string.
    pairs (int32 (p, 3)): Concept, name, name; sorted by concept.
    node_names_indptr (int64 (n + 1,)), node_names (int32): Each concept's own names.
    graph_indptr (int64 (n + 1,)), graph_sources, graph_relations (int32 (e,)): Incoming edges,
        each with its source and the row of its label in `relation_labels`.
    homonyms_indptr (int64 (n + 1,)), homonyms (int32): Other concepts that share a name.
    """

    path: Path
    manifest: dict[str, Any]
    names: pa.Array
    pairs: np.ndarray
    node_names_indptr: np.ndarray
    node_names: np.ndarray
    graph_indptr: np.ndarray
    graph_sources: np.ndarray
    graph_relations: np.ndarray
    homonyms_indptr: np.ndarray
    homonyms: np.ndarray

    @classmethod
    def open(cls, path: Path | str) -> "TrainingSet":
        """Memory-map a training set. RAISES (BergamotError): If a file is missing or changed."""
        path = Path(path)
        manifest = read_manifest(path, kind=KIND, version=VERSION, fields=_FIELDS)
        arrays = {name: np.load(path / f"{name}.npy", mmap_mode="r") for name in _ARRAYS}
        column = read_arrow(path / "names.arrow").column("name").chunk(0)
        return cls(path, manifest, column, **arrays)

    def __reduce__(self) -> tuple:
        """Another process maps the same files; arrays that were pickled would be copies."""
        return TrainingSet.open, (self.path,)

    @property
    def relation_labels(self) -> list[str]:
        """Labels of the edges."""
        return list(self.manifest["relation_labels"])

    @property
    def n_concepts(self) -> int:
        """Concepts of the table, which are the nodes."""
        return len(self.node_names_indptr) - 1


def write_training_set(
    path: Path,
    table: ConceptTable,
    names: TrainingNames,
    *,
    caps: Caps,
    english_crosslingual_only: bool = True,
    relation_label: str = "rel",
    languages: Sequence[str] = (),
    seed: int = 0,
) -> dict[str, Any]:
    """Write pairs, graph and homonyms of a concept table.

    english_crosslingual_only (bool): Pairs across languages have an English side.
    relation_label (str): "rel" or "rela", see `graph_edges`.
    languages (Sequence[str]): Names of these alone; concepts without one have no edges.
    RETURNS (dict): The manifest.
    RAISES (BergamotError): T105 if no concept gives a pair.
    """
    if languages:
        names = names.of_languages(languages)
    rows = len(table)
    with atomic_folder(path) as folder:
        write_arrow(folder / "names.arrow", pa.table({"name": names.strings}))
        with timed("Drawing the pairs"):
            pairs = positive_pairs(
                names.paired,
                concept_hashes(table),
                caps=caps,
                english_crosslingual_only=english_crosslingual_only,
                seed=seed,
            )
            buckets = _write_pairs(folder / "pairs.npy", pairs)
        if not buckets:
            raise BergamotError(Errors.T105, path=table.path)
        with timed("Building the graph"):
            edges, labels = graph_edges(table, label=relation_label)
        with timed("Finding homonyms"):
            homonyms, left_out = homonym_pairs(names.units)
        own = names.units.filter(~names.units["trade"])
        sizes = rows, len(names.strings)
        keys = combined([own[column].to_numpy() for column in ("concept", "name")], sizes)
        named, node_names = separated(sorted_distinct(keys), sizes)
        counts = np.bincount(named, minlength=rows)
        if not counts.all():
            bare = pl.Series(counts == 0)
            edges = edges.filter(~bare.gather(edges["target"]) & ~bare.gather(edges["source"]))
        arrays = {
            "node_names_indptr": csr_indptr(named, rows),
            "node_names": node_names,
            "graph_indptr": csr_indptr(edges["target"].to_numpy(), rows),
            "graph_sources": edges["source"].to_numpy(),
            "graph_relations": edges["relation"].to_numpy(),
            "homonyms_indptr": csr_indptr(homonyms["concept"].to_numpy(), rows),
            "homonyms": homonyms["other"].to_numpy(),
        }
        facts = {
            "n_concepts": rows,
            "names": len(names.strings),
            "pairs": buckets.total(),
            "pairs_by_bucket": dict(buckets),
            "edges": edges.height,
            "relation_labels": labels,
            "homonym_pairs": homonyms.height,
            "names_of_too_many_concepts": left_out,
        }
        options = {
            "caps": asdict(caps),
            "english_crosslingual_only": english_crosslingual_only,
            "relation_label": relation_label,
            "languages": list(languages),
            "seed": seed,
        }
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array)
        knowledge_base = sha256(table.path / MANIFEST)
        return write_manifest(
            folder, kind=KIND, version=VERSION, **facts, options=options, kb=knowledge_base
        )


def _write_pairs(path: Path, parts: Iterable[tuple[np.ndarray, Counter[str]]]) -> Counter[str]:
    """Write pairs part by part; return the buckets that gave any."""
    buckets: Counter[str] = Counter()
    with array_in_parts(path, np.int32, 3) as write:
        for pairs, found in parts:
            write(pairs)
            buckets.update(found)
    return +buckets
