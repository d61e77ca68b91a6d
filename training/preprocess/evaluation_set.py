"""The held-out split: held-out names as queries, and the names that remain as the dictionary."""

from pathlib import Path
from typing import Any

import polars as pl

from spacy_bergamot.concepts import ConceptTable
from spacy_bergamot.files import atomic_folder, write_manifest
from training.preprocess.names import TrainingNames, alias_frame

KIND = "evaluation-set"
VERSION = 1


def write_evaluation_set(
    path: Path, table: ConceptTable, names: TrainingNames, *, held_out: float, seed: int
) -> dict[str, Any]:
    """Write `queries/<LAT>.txt` and `dictionary.txt`, both of sorted `CUI||name` lines.

    Names stand as the source writes them. Of a held-out name's spellings that differ in case
    alone, the first is the query; none of them is in the dictionary.

    held_out (float), seed (int): As in `training_names`, for the manifest.
    RETURNS (dict): The manifest.
    """
    ids = pl.DataFrame(pl.from_arrow(table.concepts.select(["concept_id"])))
    ids = ids.with_row_index("concept").with_columns(pl.col("concept").cast(pl.Int32))
    aliases = alias_frame(table).join(ids, on="concept")
    hidden = aliases.join(names.held_out, on=["concept", "text"], how="semi")
    queries = hidden.group_by("concept_id", "language", "text").agg(pl.col("alias").min())
    remaining = aliases.join(names.held_out, on=["concept", "text"], how="anti")
    with atomic_folder(path) as folder:
        (folder / "queries").mkdir()
        counts = {
            language: _write(folder / "queries" / f"{language}.txt", rows)
            for (language,), rows in sorted(queries.group_by("language"))
        }
        dictionary = _write(folder / "dictionary.txt", remaining)
        return write_manifest(
            folder,
            kind=KIND,
            version=VERSION,
            queries=counts,
            dictionary=dictionary,
            options={"held_out": held_out, "seed": seed},
        )


def _write(path: Path, rows: pl.DataFrame) -> int:
    """Write distinct lines, sorted bytewise; return how many there are."""
    lines = rows.select(line=pl.concat_str("concept_id", pl.lit("||"), "alias")).unique()
    lines.sort("line").write_csv(path, include_header=False, quote_style="never")
    return lines.height
