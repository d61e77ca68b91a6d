"""Held-out names as queries, and the names that remain as the dictionary."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.keys import first_rows, string_lengths
from spacy_bergamot.storage.files import atomic_folder
from spacy_bergamot.storage.manifest import write_manifest
from training.preprocess.hashing import mix
from training.preprocess.names import TrainingNames, concept_hashes

KIND = "evaluation-set"
VERSION = 1
VALIDATION_NAMES = 20_000
"""Names of the validation dictionary, about: validation runs many times during training."""
_ROWS = 1 << 17  # sorted at a time; what that takes is used again for the next


def write_evaluation_set(
    path: Path, table: ConceptTable, names: TrainingNames, *, held_out: float, seed: int
) -> dict[str, Any]:
    """Write the held-out names as queries, all other names as the dictionary; see `_write_set`.

    held_out (float), seed (int): As in `training_names`, for the manifest.
    RETURNS (dict): The manifest.
    """
    hidden = names.aliases["held_out"]
    options = {"held_out": held_out, "seed": seed}
    return _write_set(path, table, _spellings(table, names, hidden), ~hidden, options)


def write_validation_set(
    path: Path, table: ConceptTable, names: TrainingNames, *, valid_concepts: float, seed: int
) -> dict[str, Any]:
    """Write names of the validation concepts as queries.

    The dictionary has the validation concepts' other names, and so many concepts more as fill it.
    """
    order = mix(seed, concept_hashes(table), 2)
    order[names.validation_concepts] = 0
    ranks = pl.DataFrame({"concept": np.arange(len(table), dtype=np.int32), "rank": order})
    hidden = names.aliases["validation"]
    remaining = ~(names.aliases["held_out"] | hidden)
    concepts = names.aliases["concept"]
    counts = concepts.filter(remaining).value_counts(name="len")
    counts = counts.join(ranks, on="concept").sort("rank", "concept")
    filling = (pl.col("len").cum_sum() <= VALIDATION_NAMES) | (pl.col("rank") == 0)
    wanted = np.zeros(len(table), dtype=bool)
    wanted[counts.filter(filling)["concept"].to_numpy()] = True
    remaining &= pl.Series(wanted[concepts.to_numpy()])
    options = {"valid_concepts": valid_concepts, "seed": seed}
    return _write_set(path, table, _spellings(table, names, hidden), remaining, options)


def _spellings(table: ConceptTable, names: TrainingNames, hidden: pl.Series) -> pl.DataFrame:
    """Return concept, language, text and alias of the hidden names.

    Of spellings that differ in case alone it is the first, as the source writes it.
    """
    written = table.column("aliases", "alias").filter(pa.array(hidden.to_numpy()))
    rows = names.aliases.filter(hidden).with_columns(alias=pl.Series(written))
    first = first_rows(rows.select("concept", "language", "text"))
    several = pl.Series(np.bincount(first)[first] > 1)
    least = rows.filter(several).group_by("concept", "language", "text").agg(pl.min("alias"))
    return pl.concat([rows.filter(~several).select(least.columns), least])


def _in_order(table: ConceptTable, kept: pl.Series) -> Iterator[pl.DataFrame]:
    """Yield concept and alias of the kept rows, some concepts at a time, in order of their lines.

    Where ids differ in length, lines of one concept may stand between another's: then at once.
    """
    concepts = table.keys("aliases")
    lengths = string_lengths(table.column("concepts", "concept_id"))
    starts = np.unique(np.searchsorted(concepts, concepts[::_ROWS]))
    if lengths.min() != lengths.max():
        starts = starts[:1]
    rows = table.aliases.select(["concept", "alias"])
    for start, end in pairwise([*starts.tolist(), len(concepts)]):
        some = pl.DataFrame(pl.from_arrow(rows.slice(start, end - start)))
        yield some.filter(kept[start:end])


def _write_set(
    path: Path,
    table: ConceptTable,
    queries: pl.DataFrame,
    remaining: pl.Series,
    options: dict[str, Any],
) -> dict[str, Any]:
    """Write `queries/<LAT>.txt` and `dictionary.txt`, both of sorted `CUI||name` lines.

    Names stand as the source writes them. No spelling of a query is in the dictionary.

    queries (pl.DataFrame): concept, language, alias.
    remaining (pl.Series): Of every alias of the table, whether it is in the dictionary.
    """
    starts = pl.Series(table.column("concepts", "concept_id")) + "||"
    with atomic_folder(path) as folder:
        (folder / "queries").mkdir()
        counts = {
            language: _write(folder / "queries" / f"{language}.txt", [rows], starts)
            for (language,), rows in sorted(queries.group_by("language"))
        }
        dictionary = _write(folder / "dictionary.txt", _in_order(table, remaining), starts)
        return write_manifest(
            folder,
            kind=KIND,
            version=VERSION,
            queries=counts,
            dictionary=dictionary,
            options=options,
        )


def _write(path: Path, parts: Iterable[pl.DataFrame], starts: pl.Series) -> int:
    """Write distinct lines, every part's sorted bytewise; return how many there are.

    starts (pl.Series): Of every concept, how its lines start.
    """
    count = 0
    with path.open("wb") as stream:
        for rows in parts:
            lines = (starts.gather(rows["concept"]) + rows["alias"]).sort()
            lines = lines.filter(lines.ne_missing(lines.shift()))
            lines.to_frame().write_csv(stream, include_header=False, quote_style="never")
            count += len(lines)
    return count
