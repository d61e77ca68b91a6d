"""Held-out names as queries, and the names that remain as the dictionary."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.storage.files import atomic_folder
from spacy_bergamot.storage.manifest import write_manifest
from training.preprocess.graded import Graded
from training.preprocess.hashing import mix
from training.preprocess.names import TrainingNames

KIND = "evaluation-set"
VERSION = 1
VALIDATION_NAMES = 20_000
"""Names of the validation dictionary, about: validation runs many times during training."""


def write_evaluation_set(
    path: Path,
    table: ConceptTable,
    names: TrainingNames,
    *,
    held_out: float,
    seed: int,
    graded: Graded | None = None,
) -> dict[str, Any]:
    """Write the held-out names as queries, all other names as the dictionary; see `_write_set`.

    path (Path), table (ConceptTable), names (TrainingNames): The folder, and whose names.
    graded (Graded | None): Its pairs of held-out names, if any, become `graded.csv`.
    held_out (float), seed (int): As in `training_names`, for the manifest.
    RETURNS (dict): The manifest.
    """
    hidden = names.aliases["held_out"]
    options = {"held_out": held_out, "seed": seed}
    queries = _spellings(table, names, hidden)
    pairs = None if graded is None or graded.held_out.is_empty() else graded.held_out
    return _write_set(path, table, queries, ~hidden, options, pairs)


def write_validation_set(
    path: Path, table: ConceptTable, names: TrainingNames, *, valid_concepts: float, seed: int
) -> dict[str, Any]:
    """Write names of the validation concepts as queries.

    The dictionary has the validation concepts' other names, and so many concepts more as fill it.
    """
    order = mix(seed, names.concept_keys, 2)
    order[names.validation_concepts] = 0
    ranks = pl.DataFrame({"concept": np.arange(len(table), dtype=np.int32), "rank": order})
    hidden = names.aliases["validation"]
    remaining = ~(names.aliases["held_out"] | hidden)
    concepts = names.aliases["concept"]
    counts = concepts.filter(remaining).value_counts(name="len")
    counts = counts.join(ranks, on="concept").sort("rank", "concept")
    filling = (pl.col("len").cum_sum() <= VALIDATION_NAMES) | (pl.col("rank") == 0)
    remaining &= concepts.is_in(counts.filter(filling)["concept"].implode())
    options = {"valid_concepts": valid_concepts, "seed": seed}
    return _write_set(path, table, _spellings(table, names, hidden), remaining, options)


def _spellings(table: ConceptTable, names: TrainingNames, hidden: pl.Series) -> pl.DataFrame:
    """Return concept, language, text and alias of the hidden names.

    Of spellings that differ in case alone it is the first, as the source writes it.
    """
    rows = names.aliases.filter(hidden).with_columns(alias=_written(table, hidden))
    return rows.group_by("concept", "language", "text").agg(pl.min("alias"))


def _written(table: ConceptTable, kept: pl.Series) -> pl.Series:
    """Return the kept aliases as the source writes them."""
    return pl.Series(table.column("aliases", "alias").filter(pa.array(kept.to_numpy())))


def _write_set(
    path: Path,
    table: ConceptTable,
    queries: pl.DataFrame,
    remaining: pl.Series,
    options: dict[str, Any],
    pairs: pl.DataFrame | None = None,
) -> dict[str, Any]:
    """Write `queries/<LAT>.txt` and `dictionary.txt`, both of sorted `CUI||name` lines.

    Names stand as the source writes them. No spelling of a query is in the dictionary.

    queries (pl.DataFrame): concept, language, alias.
    remaining (pl.Series): Of every alias of the table, whether it is in the dictionary.
    pairs (pl.DataFrame | None): What `graded.csv` has.
    """
    starts = pl.Series(table.column("concepts", "concept_id")) + "||"
    concepts = pl.Series(table.keys("aliases")).filter(remaining)
    with atomic_folder(path) as folder:
        (folder / "queries").mkdir()
        counts = {
            language: _write(
                folder / f"queries/{language}.txt", starts.gather(rows["concept"]) + rows["alias"]
            )
            for (language,), rows in sorted(queries.group_by("language"))
        }
        dictionary = _write(
            folder / "dictionary.txt", starts.gather(concepts) + _written(table, remaining)
        )
        facts = {}
        if pairs is not None:
            pairs.write_csv(folder / "graded.csv", float_precision=6)
            facts["graded"] = pairs.height
        return write_manifest(
            folder,
            kind=KIND,
            version=VERSION,
            queries=counts,
            dictionary=dictionary,
            options=options,
            **facts,
        )


def _write(path: Path, lines: pl.Series) -> int:
    """Write distinct lines, sorted bytewise; return how many there are."""
    lines = lines.unique().sort()
    lines.to_frame().write_csv(path, include_header=False, quote_style="never")
    return len(lines)
