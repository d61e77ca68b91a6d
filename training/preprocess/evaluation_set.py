"""Held-out names as queries, and the dictionary of the names that remain."""

from pathlib import Path
from typing import Any

import polars as pl

from spacy_bergamot.concepts import ConceptTable
from spacy_bergamot.files import atomic_folder, write_manifest
from training.preprocess.names import TrainingNames, alias_frame

KIND = "evaluation-set"
VERSION = 1


def write_evaluation_set(path: Path, table: ConceptTable, names: TrainingNames) -> dict[str, Any]:
    """Write `queries/<LAT>.txt` and `dictionary.txt`, both of `CUI||name` lines, sorted."""
    concepts = pl.DataFrame(pl.from_arrow(table.concepts.select(["concept_id"])))
    ids = concepts.with_row_index("concept").with_columns(pl.col("concept").cast(pl.Int32))
    held = names.held_out.join(ids, on="concept")
    rest = alias_frame(table).join(names.held_out, on=["concept", "alias"], how="anti")
    # A spelling of a held-out name in other case is held out with it.
    texts = held.with_columns(text=pl.col("alias").str.strip_chars().str.to_lowercase())
    rest = rest.join(texts, on=["concept", "text"], how="anti").join(ids, on="concept")
    with atomic_folder(path) as folder:
        (folder / "queries").mkdir()
        counts = {}
        for (language,), rows in sorted(held.group_by("language"), key=lambda item: item[0]):
            lines = _lines(rows)
            counts[str(language)] = len(lines)
            _write(folder / "queries" / f"{language}.txt", lines)
        dictionary = _lines(rest)
        _write(folder / "dictionary.txt", dictionary)
        return write_manifest(
            folder, kind=KIND, version=VERSION, queries=counts, dictionary=len(dictionary)
        )


def _lines(rows: pl.DataFrame) -> list[str]:
    text = pl.concat_str("concept_id", pl.lit("||"), "alias")
    return rows.select(text.alias("line"))["line"].unique().sort().to_list()


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf8", newline="\n")
