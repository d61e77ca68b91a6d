"""Held-out names as queries, and the names that remain as the dictionary."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from spacy_bergamot.concepts import ConceptTable
from spacy_bergamot.files import atomic_folder, write_manifest
from training.preprocess.hashing import mix
from training.preprocess.names import TrainingNames, alias_frame, concept_hashes

KIND = "evaluation-set"
VERSION = 1
VALIDATION_NAMES = 20_000
"""Names of the validation dictionary, about: validation runs many times during training."""


def write_evaluation_set(
    path: Path, table: ConceptTable, names: TrainingNames, *, held_out: float, seed: int
) -> dict[str, Any]:
    """Write the held-out names as queries, all other names as the dictionary; see `_write_set`.

    held_out (float), seed (int): As in `training_names`, for the manifest.
    RETURNS (dict): The manifest.
    """
    aliases = alias_frame(table)
    remaining = _without(aliases, names.held_out)
    options = {"held_out": held_out, "seed": seed}
    return _write_set(path, table, aliases, names.held_out, remaining, options)


def write_validation_set(
    path: Path, table: ConceptTable, names: TrainingNames, *, valid_concepts: float, seed: int
) -> dict[str, Any]:
    """Write names of the validation concepts as queries.

    The dictionary has the validation concepts' other names, and so many concepts more as fill it.
    """
    aliases = alias_frame(table)
    order = mix(seed, concept_hashes(table), 2)
    order[names.validation_concepts] = 0
    ranks = pl.DataFrame({"concept": np.arange(len(table), dtype=np.int32), "rank": order})
    remaining = _without(_without(aliases, names.held_out), names.validation)
    counts = remaining.group_by("concept").len().join(ranks, on="concept").sort("rank", "concept")
    kept = counts.filter(
        (pl.col("len").cum_sum() <= VALIDATION_NAMES) | (pl.col("rank") == 0)
    ).select("concept")
    remaining = remaining.join(kept, on="concept", how="semi")
    options = {"valid_concepts": valid_concepts, "seed": seed}
    return _write_set(path, table, aliases, names.validation, remaining, options)


def _without(aliases: pl.DataFrame, hidden: pl.DataFrame) -> pl.DataFrame:
    return aliases.join(hidden, on=["concept", "text"], how="anti")


def _write_set(
    path: Path,
    table: ConceptTable,
    aliases: pl.DataFrame,
    hidden: pl.DataFrame,
    remaining: pl.DataFrame,
    options: dict[str, Any],
) -> dict[str, Any]:
    """Write `queries/<LAT>.txt` and `dictionary.txt`, both of sorted `CUI||name` lines.

    Names stand as the source writes them. Of a hidden name's spellings that differ in case
    alone, the first is the query; none of them is in the dictionary.
    """
    ids = pl.DataFrame(pl.from_arrow(table.concepts.select(["concept_id"])))
    ids = ids.with_row_index("concept").with_columns(pl.col("concept").cast(pl.Int32))
    asked = aliases.join(hidden, on=["concept", "text"], how="semi").join(ids, on="concept")
    queries = asked.group_by("concept_id", "language", "text").agg(pl.col("alias").min())
    with atomic_folder(path) as folder:
        (folder / "queries").mkdir()
        counts = {
            language: _write(folder / "queries" / f"{language}.txt", rows)
            for (language,), rows in sorted(queries.group_by("language"))
        }
        dictionary = _write(folder / "dictionary.txt", remaining.join(ids, on="concept"))
        return write_manifest(
            folder,
            kind=KIND,
            version=VERSION,
            queries=counts,
            dictionary=dictionary,
            options=options,
        )


def _write(path: Path, rows: pl.DataFrame) -> int:
    """Write distinct lines, sorted bytewise; return how many there are."""
    lines = rows.select(line=pl.concat_str("concept_id", pl.lit("||"), "alias")).unique()
    lines.sort("line").write_csv(path, include_header=False, quote_style="never")
    return lines.height
