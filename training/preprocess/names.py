"""Training names: which strings name which concept, and which of them are held out."""

from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from spacy_bergamot.concepts import ConceptTable
from training.preprocess.hashing import mix, string_hashes, uniform

TRADE_NAME_RELATIONS = ("has_tradename", "tradename_of")


@dataclass(frozen=True)
class TrainingNames:
    """Names in training form: stripped and lower-cased.

    strings (pa.Array): Distinct names, large_string, sorted bytewise; a name's id is its row.
    units (pl.DataFrame): concept, language, name (id), trade (whether it is a trade name's or
        brand's name, which makes pairs but is no name of the node); distinct and sorted.
    held_out (pl.DataFrame): concept, language, alias: what was held out, sorted.
    """

    strings: pa.Array
    units: pl.DataFrame
    held_out: pl.DataFrame


def training_names(table: ConceptTable, *, held_out: float, seed: int) -> TrainingNames:
    """Return the training names of a concept table.

    held_out (float): Share of each language's eligible names to hold out.
    """
    aliases = alias_frame(table)
    hidden = hold_out(aliases, concept_hashes(table), share=held_out, seed=seed)
    own = aliases.join(hidden, on=["concept", "text"], how="anti")
    own = own.select("concept", "language", "text").unique()
    trade = _trade_names(table, own)
    units = pl.concat(
        [own.with_columns(trade=pl.lit(False)), trade.with_columns(trade=pl.lit(True))]
    )
    # A name that is the concept's own does not count again as a trade name's.
    units = units.sort("concept", "language", "text", "trade").unique(
        ["concept", "language", "text"], keep="first", maintain_order=True
    )
    strings = units.select("text").unique().sort("text").with_row_index("name")
    strings = strings.with_columns(pl.col("name").cast(pl.Int32))
    units = units.join(strings, on="text").drop("text").sort("concept", "language", "name")
    held = aliases.join(hidden, on=["concept", "text"], how="semi")
    arrow = strings["text"].to_arrow(compat_level=pl.CompatLevel.oldest())
    return TrainingNames(
        strings=arrow.cast(pa.large_string()),
        units=units.select("concept", "language", "name", "trade"),
        held_out=held.select("concept", "language", "alias").sort("concept", "language", "alias"),
    )


def alias_frame(table: ConceptTable) -> pl.DataFrame:
    """Return concept, language, alias and text: the alias in training form."""
    columns = table.aliases.select(["concept", "language", "alias"])
    frame = pl.DataFrame(pl.from_arrow(columns)).with_columns(pl.col("language").cast(pl.String))
    return frame.with_columns(text=pl.col("alias").str.strip_chars().str.to_lowercase())


def concept_hashes(table: ConceptTable) -> np.ndarray:
    """Return a stable uint64 hash of every concept's id."""
    return string_hashes(table.concepts.column("concept_id").combine_chunks())


def hold_out(
    aliases: pl.DataFrame, concepts: np.ndarray, *, share: float, seed: int
) -> pl.DataFrame:
    """Return the (concept, text) to hold out: in each language a share of the eligible names.

    A text is eligible if it names one concept only, and never all texts of a concept are drawn:
    the one with the highest hash stays. A held-out text leaves its concept in every language.
    """
    texts = aliases.select("concept", "language", "text").unique()
    texts = texts.sort("concept", "language", "text")
    arrow = texts["text"].to_arrow(compat_level=pl.CompatLevel.oldest())
    language = string_hashes(texts["language"].to_arrow(compat_level=pl.CompatLevel.oldest()))
    drawn = mix(seed, concepts[texts["concept"].to_numpy()], string_hashes(arrow), language)
    texts = texts.with_columns(draw=pl.Series(uniform(drawn)))
    merged = texts.group_by("concept", "text").agg(pl.col("draw").min())
    merged = merged.with_columns(
        shared=pl.col("concept").len().over("text") > 1,
        kept=pl.col("draw") == pl.col("draw").max().over("concept"),
    )
    chosen = merged.filter((pl.col("draw") < share) & ~pl.col("shared") & ~pl.col("kept"))
    return chosen.select("concept", "text").sort("concept", "text")


def _trade_names(table: ConceptTable, own: pl.DataFrame) -> pl.DataFrame:
    """Return concept, language, text: for RELA in TRADE_NAME_RELATIONS CUI1 gets CUI2's names."""
    columns = table.relations.select(["head", "rela", "tail"])
    relations = pl.DataFrame(pl.from_arrow(columns)).with_columns(pl.col("rela").cast(pl.String))
    links = relations.filter(pl.col("rela").is_in(TRADE_NAME_RELATIONS)).select("head", "tail")
    named = links.unique().join(own, left_on="tail", right_on="concept")
    return named.select(concept="head", language="language", text="text").unique()
