"""The training set on disk: names, pairs, graph and homonyms as memory-mapped arrays.

Its format is here alone: `TrainingSet.write` makes it, `TrainingSet.open` reads it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.progress import timed
from spacy_bergamot.storage.arrow_files import read_arrow, write_arrow
from spacy_bergamot.storage.files import MANIFEST, atomic_folder, sha256
from spacy_bergamot.storage.manifest import read_manifest, write_manifest
from training.errors import BergamotError, Errors
from training.preprocess.graded import Graded
from training.preprocess.graph import graph_edges, homonym_pairs
from training.preprocess.names import TrainingNames
from training.preprocess.pairs import Caps, positive_pairs

KIND = "training-set"
VERSION = 1
_FIELDS = {"relation_labels": list}
_GRADED = ("graded_pairs", "graded_scores", "ancestors_indptr", "ancestors")
_ARRAYS = (
    "pairs", "node_names_indptr", "node_names", "graph_indptr", "graph_sources", "graph_relations",
    "homonyms_indptr", "homonyms",
)  # fmt: skip


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
    graded_pairs (int32 (g, 4)), graded_scores (float32 (g,)): As in `Graded`; None without a
        hierarchy, as are the next.
    ancestors_indptr (int64 (n + 1,)), ancestors (int32): Every concept's ancestors.
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
    graded_pairs: np.ndarray | None = None
    graded_scores: np.ndarray | None = None
    ancestors_indptr: np.ndarray | None = None
    ancestors: np.ndarray | None = None

    @classmethod
    def open(cls, path: Path | str) -> "TrainingSet":
        """Memory-map a training set. RAISES (BergamotError): If a file is missing or changed."""
        path = Path(path)
        manifest = read_manifest(path, kind=KIND, version=VERSION, fields=_FIELDS)
        kept = _ARRAYS + (_GRADED if "graded_pairs" in manifest else ())
        arrays = {name: np.load(path / f"{name}.npy", mmap_mode="r") for name in kept}
        column = read_arrow(path / "names.arrow").column("name").chunk(0)
        return cls(path, manifest, column, **arrays)

    @staticmethod
    def write(
        path: Path,
        *,
        names: pa.Array,
        pairs: np.ndarray,
        node_names: pl.DataFrame,
        edges: pl.DataFrame,
        homonyms: pl.DataFrame,
        n_concepts: int,
        relation_labels: Sequence[str],
        graded: Graded | None = None,
        **facts: Any,
    ) -> dict[str, Any]:
        """Write a training set, whole or not at all; the rest is as in the class.

        node_names (pl.DataFrame): concept and name, sorted by concept.
        edges (pl.DataFrame): target, source and relation, sorted by target.
        homonyms (pl.DataFrame): concept and other, sorted by concept.
        graded (Graded | None): What a hierarchy gives.
        facts (Any): What else the manifest says.
        RETURNS (dict): The manifest.
        """
        arrays = {
            "pairs": pairs,
            "node_names_indptr": _starts(node_names["concept"], n_concepts),
            "node_names": node_names["name"].to_numpy(),
            "graph_indptr": _starts(edges["target"], n_concepts),
            "graph_sources": edges["source"].to_numpy(),
            "graph_relations": edges["relation"].to_numpy(),
            "homonyms_indptr": _starts(homonyms["concept"], n_concepts),
            "homonyms": homonyms["other"].to_numpy(),
        }
        if graded is not None:
            facts |= {"graded_pairs": len(graded.pairs), "graded_skipped": graded.skipped}
            arrays |= {
                "graded_pairs": graded.pairs,
                "graded_scores": graded.scores,
                "ancestors_indptr": _starts(graded.ancestors["concept"], n_concepts),
                "ancestors": graded.ancestors["ancestor"].to_numpy(),
            }
        with atomic_folder(path) as folder:
            write_arrow(folder / "names.arrow", pa.table({"name": names.cast(pa.large_string())}))
            for name, array in arrays.items():
                whole = "int64" if name.endswith("_indptr") else "int32"
                kind = "float32" if name == "graded_scores" else whole
                np.save(folder / f"{name}.npy", array.astype(kind, copy=False))
            about = {
                "n_concepts": n_concepts,
                "names": len(names),
                "pairs": len(pairs),
                "edges": edges.height,
                "relation_labels": list(relation_labels),
            }
            return write_manifest(folder, kind=KIND, version=VERSION, **about, **facts)

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
    english_crosslingual_only: bool,
    relation_label: str,
    languages: Sequence[str],
    seed: int,
    hierarchy: str = "",
    graded: Graded | None = None,
) -> dict[str, Any]:
    """Write pairs, graph and homonyms of a concept table.

    english_crosslingual_only (bool): Pairs across languages have an English side.
    relation_label (str): "rel" or "rela", see `graph_edges`.
    languages (Sequence[str]): Those of the names, for the manifest; concepts without a name have no
        edges.
    hierarchy (str), graded (Graded | None): What `graded_pairs` gave, and of which hierarchy.
    RETURNS (dict): The manifest.
    RAISES (BergamotError): T105 if no concept gives a pair.
    """
    with timed("Drawing the pairs"):
        drawn = positive_pairs(
            names.paired,
            names.concept_keys,
            caps=caps,
            english_crosslingual_only=english_crosslingual_only,
            seed=seed,
        )
        parts, buckets = [], Counter[str]()
        for part, counts in drawn:
            parts.append(part)
            buckets.update(counts)
    if not +buckets:
        raise BergamotError(Errors.T105, path=table.path)
    with timed("Building the graph"):
        own = names.units.filter(~pl.col("trade")).select("concept", "name").unique()
        own = own.sort("concept", "name")
        edges, labels = graph_edges(table, label=relation_label)
        has_name = np.zeros(len(table), dtype=bool)
        has_name[own["concept"].to_numpy()] = True
        edges = edges.filter(*(pl.Series(has_name[edges[end]]) for end in ("target", "source")))
    with timed("Finding homonyms"):
        homonyms, left_out = homonym_pairs(names.units)
    options = {
        "caps": asdict(caps),
        "english_crosslingual_only": english_crosslingual_only,
        "relation_label": relation_label,
        "languages": list(languages),
        "seed": seed,
        **({"hierarchy": hierarchy} if hierarchy else {}),
    }
    return TrainingSet.write(
        path,
        names=names.strings,
        pairs=np.concatenate(parts),
        node_names=own,
        edges=edges,
        homonyms=homonyms,
        n_concepts=len(table),
        relation_labels=labels,
        graded=graded,
        pairs_by_bucket=dict(+buckets),
        homonym_pairs=homonyms.height,
        names_of_too_many_concepts=left_out,
        options=options,
        kb=sha256(table.path / MANIFEST),
    )


def _starts(concepts: pl.Series, count: int) -> np.ndarray:
    """Return int64 (count + 1): where each concept's rows start in a sorted column."""
    return np.searchsorted(concepts.to_numpy(), np.arange(count + 1, dtype=np.int32))
