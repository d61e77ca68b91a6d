"""Training names: which strings name which concept, and which of them are held out."""

from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from spacy_bergamot.concepts import ConceptTable
from training.preprocess.hashing import mix, string_hashes, uniform

VALIDATION_QUERIES = 0.3
"""Share of a validation concept's names that are queries."""

TRADE_NAME_RELATIONS = ("has_tradename", "tradename_of")


@dataclass(frozen=True)
class TrainingNames:
    """Names in training form: stripped and lower-cased.

    strings (pa.Array): Distinct names, large_string, sorted bytewise; a name's id is its row.
    units (pl.DataFrame): concept, language, name (id), trade, distinct and sorted. A trade name
        comes from a related concept: it makes pairs, but is no name of the node.
    held_out (pl.DataFrame): concept, text: the names that were left out, sorted.
    validation (pl.DataFrame): concept, text: names left out of the validation concepts, sorted.
    validation_concepts (int32 (v,)): Concepts that make no pairs.
    """

    strings: pa.Array
    units: pl.DataFrame
    held_out: pl.DataFrame
    validation: pl.DataFrame
    validation_concepts: np.ndarray

    @property
    def paired(self) -> pl.DataFrame:
        """The units that make pairs."""
        return self.units.filter(~pl.col("concept").is_in(self.validation_concepts.tolist()))


def training_names(
    table: ConceptTable, *, held_out: float, valid_concepts: float = 0.0, seed: int
) -> TrainingNames:
    """Return the training names of a concept table, own and trade names.

    held_out (float): Share of each language's eligible names to hold out.
    valid_concepts (float): Share of the concepts that make no pairs, for validation.
    """
    names = alias_frame(table).select("concept", "language", "text").unique()
    hashes = concept_hashes(table)
    hidden = hold_out(names, hashes, share=held_out, seed=seed)
    chosen = np.flatnonzero(uniform(mix(seed, hashes, 1)) < valid_concepts).astype(np.int32)
    rest = names.join(hidden, on=["concept", "text"], how="anti")
    asked = rest.filter(pl.col("concept").is_in(chosen.tolist()))
    queries = hold_out(asked, hashes, share=VALIDATION_QUERIES, seed=seed + 1)
    own = rest.join(queries, on=["concept", "text"], how="anti")
    trade = _trade_names(table, own)
    units = pl.concat([own.with_columns(trade=pl.lit(False)), trade])
    # What is a concept's own name does not count again as a trade name.
    units = units.group_by("concept", "language", "text").agg(pl.col("trade").min())
    strings = units.select("text").unique().sort("text").with_row_index("name")
    units = units.join(strings, on="text").select(
        "concept", "language", pl.col("name").cast(pl.Int32), "trade"
    )
    return TrainingNames(
        strings=_arrow(strings["text"]),
        units=units.sort("concept", "language", "name"),
        held_out=hidden,
        validation=queries,
        validation_concepts=chosen,
    )


def alias_frame(table: ConceptTable) -> pl.DataFrame:
    """Return concept, language, alias and text: the alias in training form."""
    columns = table.aliases.select(["concept", "language", "alias"])
    frame = pl.DataFrame(pl.from_arrow(columns)).with_columns(pl.col("language").cast(pl.String))
    return frame.with_columns(text=pl.col("alias").str.strip_chars().str.to_lowercase())


def concept_hashes(table: ConceptTable) -> np.ndarray:
    """Return a stable uint64 hash of every concept's id."""
    return string_hashes(table.concepts.column("concept_id").combine_chunks())


def hold_out(names: pl.DataFrame, concepts: np.ndarray, *, share: float, seed: int) -> pl.DataFrame:
    """Return the (concept, text) to hold out, sorted: a share of the eligible names by language.

    Each language draws for itself; a text that one of its languages draws leaves the concept in
    all. Not eligible are texts that name several concepts, and of every concept the text that is
    drawn last, so that a name remains.

    names (pl.DataFrame): concept, language, text; distinct.
    concepts (uint64 (n,)): Stable hash of every concept.
    """
    languages = string_hashes(_arrow(names["language"]))
    texts = string_hashes(_arrow(names["text"]))
    drawn = uniform(mix(seed, concepts[names["concept"].to_numpy()], texts, languages))
    draws = names.select("concept", "text", draw=pl.Series(drawn))
    merged = draws.group_by("concept", "text").agg(pl.col("draw").min())
    merged = merged.with_columns(
        shared=pl.len().over("text") > 1,
        last=pl.col("draw") == pl.col("draw").max().over("concept"),
    )
    hidden = merged.filter((pl.col("draw") < share) & ~pl.col("shared") & ~pl.col("last"))
    return hidden.select("concept", "text").sort("concept", "text")


def _trade_names(table: ConceptTable, own: pl.DataFrame) -> pl.DataFrame:
    """Return concept, language, text, trade: for trade name relations CUI1 gets CUI2's names."""
    columns = table.relations.select(["head", "rela", "tail"])
    relations = pl.DataFrame(pl.from_arrow(columns)).with_columns(pl.col("rela").cast(pl.String))
    links = relations.filter(pl.col("rela").is_in(TRADE_NAME_RELATIONS)).select("head", "tail")
    named = links.unique().join(own, left_on="tail", right_on="concept")
    return named.select(concept="head", language="language", text="text", trade=pl.lit(True))


def _arrow(strings: pl.Series) -> pa.Array:
    return strings.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(pa.large_string())
