"""Held-out names as queries, and the names that remain as the dictionary."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from spacy_bergamot.concepts import ConceptTable
from spacy_bergamot.files import atomic_folder, write_manifest
from training.preprocess.hashing import mix
from training.preprocess.names import TrainingNames, concept_hashes

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
    aliases = _aliases(table, names)
    hidden, remaining = aliases.filter("held_out"), aliases.filter(~pl.col("held_out"))
    return _write_set(path, table, hidden, remaining, {"held_out": held_out, "seed": seed})


def write_validation_set(
    path: Path, table: ConceptTable, names: TrainingNames, *, valid_concepts: float, seed: int
) -> dict[str, Any]:
    """Write names of the validation concepts as queries.

    The dictionary has the validation concepts' other names, and so many concepts more as fill it.
    """
    aliases = _aliases(table, names)
    order = mix(seed, concept_hashes(table), 2)
    order[names.validation_concepts] = 0
    ranks = pl.DataFrame({"concept": np.arange(len(table), dtype=np.int32), "rank": order})
    hidden = aliases.filter("validation")
    remaining = aliases.filter(~pl.col("held_out") & ~pl.col("validation"))
    counts = remaining.group_by("concept").len().join(ranks, on="concept").sort("rank", "concept")
    kept = counts.filter(
        (pl.col("len").cum_sum() <= VALIDATION_NAMES) | (pl.col("rank") == 0)
    ).select("concept")
    remaining = remaining.join(kept, on="concept", how="semi")
    options = {"valid_concepts": valid_concepts, "seed": seed}
    return _write_set(path, table, hidden, remaining, options)


def _aliases(table: ConceptTable, names: TrainingNames) -> pl.DataFrame:
    """Return the aliases as the source writes them, beside what `names` says of them."""
    written = pl.DataFrame(pl.from_arrow(table.aliases.select(["alias"])))
    return names.aliases.hstack(written)


def _write_set(
    path: Path,
    table: ConceptTable,
    hidden: pl.DataFrame,
    remaining: pl.DataFrame,
    options: dict[str, Any],
) -> dict[str, Any]:
    """Write `queries/<LAT>.txt` and `dictionary.txt`, both of sorted `CUI||name` lines.

    Names stand as the source writes them. Of a hidden name's spellings that differ in case
    alone, the first is the query; none of them is in the dictionary.
    """
    ids = pl.DataFrame(pl.from_arrow(table.concepts.select(["concept_id"])))["concept_id"]
    queries = hidden.group_by("concept", "language", "text").agg(pl.col("alias").min())
    with atomic_folder(path) as folder:
        (folder / "queries").mkdir()
        counts = {
            language: _write(folder / "queries" / f"{language}.txt", rows, ids)
            for (language,), rows in sorted(queries.group_by("language"))
        }
        dictionary = _write(folder / "dictionary.txt", remaining, ids)
        return write_manifest(
            folder,
            kind=KIND,
            version=VERSION,
            queries=counts,
            dictionary=dictionary,
            options=options,
        )


def _write(path: Path, rows: pl.DataFrame, concept_ids: pl.Series) -> int:
    """Write distinct lines, sorted bytewise; return how many there are."""
    ids = concept_ids.gather(rows["concept"])
    lines = rows.select(line=pl.concat_str(ids, pl.lit("||"), "alias")).sort("line")
    lines = lines.filter(pl.col("line").ne_missing(pl.col("line").shift()))
    lines.write_csv(path, include_header=False, quote_style="never")
    return lines.height
