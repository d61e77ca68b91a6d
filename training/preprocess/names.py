"""Training names: which strings name which concept, and which of them are held out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pyarrow as pa

from spacy_bergamot.concepts import ConceptTable
from spacy_bergamot.hashing import find_keys
from training.preprocess.hashing import mix, string_hashes, uniform
from training.preprocess.keys import combined, interned, is_first, separated

VALIDATION_QUERIES = 0.3
"""Share of a validation concept's names that are queries."""

TRADE_NAME_RELATIONS = ("has_tradename", "tradename_of")
_NAME = ("concept", "text")
_UNIT = ("concept", "language", "text")
Hashes = dict[str, np.ndarray]


@dataclass(frozen=True)
class TrainingNames:
    """Names in training form: stripped and lower-cased.

    strings (pa.Array): Distinct names, large_string, in the order of the aliases; a name's id
        is its row.
    units (pl.DataFrame): concept, language, name (id), trade, distinct and sorted. A trade name
        comes from a related concept: it makes pairs, but is no name of the node.
    aliases (pl.DataFrame): Of every alias of the table concept, language, text (equal where the
        training form is), and whether it was left out: held_out, or for validation.
    validation_concepts (int32 (v,)): Concepts that make no pairs.
    """

    strings: pa.Array
    units: pl.DataFrame
    aliases: pl.DataFrame
    validation_concepts: np.ndarray

    @property
    def paired(self) -> pl.DataFrame:
        """The units that make pairs."""
        return self.units.filter(~pl.col("concept").is_in(self.validation_concepts.tolist()))

    def of_languages(self, languages: Sequence[str]) -> "TrainingNames":
        """Return the names of these languages; what is held out stays what it was."""
        units = self.units.filter(pl.col("language").cast(pl.String).is_in(languages))
        used, names = _renumbered(units["name"], len(self.strings))
        strings = self.strings.filter(pa.array(used))
        return replace(self, strings=strings, units=units.with_columns(name=names))


def training_names(
    table: ConceptTable, *, held_out: float, valid_concepts: float = 0.0, seed: int
) -> TrainingNames:
    """Return the training names of a concept table, own and trade names.

    held_out (float): Share of each language's eligible names to hold out.
    valid_concepts (float): Share of the concepts that make no pairs, for validation.
    """
    texts, aliases = _texts(table)
    languages = aliases["language"].unique().sort()
    hashes = {
        "concept": concept_hashes(table),
        "text": string_hashes(_arrow(texts)),
        "language": string_hashes(_arrow(languages.cast(pl.String))),
    }
    hidden = _among(aliases, hold_out(aliases, hashes, share=held_out, seed=seed), hashes)
    chosen = np.flatnonzero(uniform(mix(seed, hashes["concept"], 1)) < valid_concepts)
    asked = aliases.filter(pl.col("concept").is_in(chosen.tolist()) & ~hidden)
    queries = hold_out(asked, hashes, share=VALIDATION_QUERIES, seed=seed + 1)
    aliases = aliases.with_columns(held_out=hidden, validation=_among(aliases, queries, hashes))
    own = aliases.filter(~pl.col("held_out") & ~pl.col("validation")).select(_UNIT)
    units = _units(own, _trade_names(table, own), hashes)
    used, names = _renumbered(units["text"], len(texts))
    return TrainingNames(
        strings=_arrow(texts.filter(pl.Series(used))),
        units=units.select(
            "concept",
            languages.gather(units["language"]),
            names.alias("name"),
            "trade",
        ),
        aliases=aliases,
        validation_concepts=chosen.astype(np.int32),
    )


def concept_hashes(table: ConceptTable) -> np.ndarray:
    """Return a stable uint64 hash of every concept's id."""
    return string_hashes(table.concepts.column("concept_id").combine_chunks())


def hold_out(names: pl.DataFrame, hashes: Hashes, *, share: float, seed: int) -> np.ndarray:
    """Return the keys of the (concept, text) to hold out, sorted: a share of the eligible names.

    Each language draws for itself; a text that one of its languages draws leaves the concept in
    all. Not eligible are texts that name several concepts, and of every concept the text that is
    drawn last, so that a name remains.

    names (pl.DataFrame): concept, language, text, as numbers.
    hashes (Hashes): Stable hashes, uint64, of what the numbers of a column stand for.
    """
    parts = [hashes[column][_numbers(names[column])] for column in ("concept", "text", "language")]
    drawn = uniform(mix(seed, *parts))
    keys = _keys(names, hashes, _NAME)
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(is_first(keys[order]))
    draws, keys = np.minimum.reduceat(drawn[order], starts), keys[order[starts]]
    concepts, texts = _columns(keys, hashes, _NAME)
    shared = np.bincount(texts)[texts] > 1
    starts = np.flatnonzero(is_first(concepts))
    last = np.repeat(np.maximum.reduceat(draws, starts), np.diff(starts, append=len(keys)))
    return keys[(draws < share) & ~shared & (draws != last)]


def _texts(table: ConceptTable) -> tuple[pl.Series, pl.DataFrame]:
    """Return the distinct training forms, and of every alias concept, language and form's row."""
    aliases = pl.DataFrame(pl.from_arrow(table.aliases.select(["concept", "language", "alias"])))
    texts, rows = interned(aliases["alias"].str.strip_chars().str.to_lowercase())
    languages = pl.Enum(aliases["language"].unique().cast(pl.String).sort())
    return texts, aliases.select("concept", pl.col("language").cast(languages), text=pl.lit(rows))


def _trade_names(table: ConceptTable, own: pl.DataFrame) -> pl.DataFrame:
    """Return concept, language, text: for trade name relations CUI1 gets CUI2's names."""
    kinds = table.relations.column("rela").combine_chunks()
    wanted = [kind in TRADE_NAME_RELATIONS for kind in kinds.dictionary.to_pylist()]
    rows = np.flatnonzero(np.array(wanted, dtype=bool)[kinds.indices.to_numpy()])
    links = pl.DataFrame(pl.from_arrow(table.relations.select(["head", "tail"]).take(rows)))
    named = links.unique().join(own, left_on="tail", right_on="concept")
    return named.select("language", "text", concept="head")


def _units(own: pl.DataFrame, trade: pl.DataFrame, hashes: Hashes) -> pl.DataFrame:
    """Return concept, language, text, trade, distinct and sorted.

    What is a concept's own name does not count again as a trade name.
    """
    marked = [2 * _keys(own, hashes, _UNIT), 2 * _keys(trade, hashes, _UNIT) + 1]
    keys = np.sort(np.concatenate(marked))
    keys = keys[is_first(keys >> 1)]
    columns = dict(zip(_UNIT, _columns(keys >> 1, hashes, _UNIT), strict=True))
    return pl.DataFrame({**columns, "trade": (keys & 1).astype(bool)})


def _renumbered(numbers: pl.Series, count: int) -> tuple[np.ndarray, pl.Series]:
    """Tell which of the numbers below `count` occur, and number those from 0, in their order."""
    used = np.zeros(count, dtype=bool)
    used[numbers.to_numpy()] = True
    return used, pl.Series((np.cumsum(used, dtype=np.int32) - 1)[numbers.to_numpy()])


def _among(names: pl.DataFrame, found: np.ndarray, hashes: Hashes) -> pl.Series:
    return pl.Series(find_keys(found, _keys(names, hashes, _NAME)) >= 0)


def _keys(names: pl.DataFrame, hashes: Hashes, columns: tuple[str, ...]) -> np.ndarray:
    sizes = [len(hashes[column]) for column in columns]
    return combined([_numbers(names[column]) for column in columns], sizes)


def _columns(keys: np.ndarray, hashes: Hashes, columns: tuple[str, ...]) -> list[np.ndarray]:
    return separated(keys, [len(hashes[column]) for column in columns])


def _numbers(column: pl.Series) -> np.ndarray:
    return column.to_physical().to_numpy()


def _arrow(strings: pl.Series) -> pa.Array:
    return strings.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(pa.large_string())
