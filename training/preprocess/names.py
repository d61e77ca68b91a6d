"""Training names: which strings name which concept, and which of them are held out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pyarrow as pa

from spacy_bergamot.hashing import string_keys
from spacy_bergamot.kb.concept_table import ConceptTable
from training.preprocess.hashing import mix, uniform

VALIDATION_QUERIES = 0.3
"""Share of a validation concept's names that are queries."""

TRADE_NAME_RELATIONS = ("has_tradename", "tradename_of")
_UNIT = ("concept", "language", "text")


@dataclass(frozen=True)
class TrainingNames:
    """Names in training form: stripped and lower-cased.

    strings (pa.Array): Distinct names, large_string, in the order of the aliases; a name's id
        is its row.
    units (pl.DataFrame): concept, language (Enum), name (id), trade, distinct and sorted. A trade
        name comes from a related concept: it makes pairs, but is no name of the node.
    aliases (pl.DataFrame): Of every alias of the table concept, language, text (equal where the
        training form is), and whether it was left out: held_out, or for validation.
    validation_concepts (int32 (v,)): Concepts that make no pairs.
    concept_keys (uint64 (n,)): Stable hashes of the concepts' ids.
    """

    strings: pa.Array
    units: pl.DataFrame
    aliases: pl.DataFrame
    validation_concepts: np.ndarray
    concept_keys: np.ndarray

    @property
    def paired(self) -> pl.DataFrame:
        """The units that make pairs."""
        return self.units.filter(~pl.col("concept").is_in(self.validation_concepts.tolist()))

    def of_languages(self, languages: Sequence[str]) -> "TrainingNames":
        """Return the names of these languages; what is held out stays what it was."""
        units = self.units.filter(pl.col("language").cast(pl.String).is_in(languages))
        strings, numbers = _used(self.strings, units["name"])
        return replace(self, strings=strings, units=units.with_columns(name=numbers))


def training_names(
    table: ConceptTable, *, held_out: float, valid_concepts: float = 0.0, seed: int
) -> TrainingNames:
    """Return the training names of a concept table, own and trade names.

    held_out (float): Share of each language's eligible names to hold out.
    valid_concepts (float): Share of the concepts that make no pairs, for validation.
    """
    forms = pl.Series(table.column("aliases", "alias")).str.strip_chars().str.to_lowercase()
    encoded = forms.to_arrow(compat_level=pl.CompatLevel.oldest()).dictionary_encode()
    del forms
    languages = pl.Series(table.column("aliases", "language"))
    spoken = languages.unique().cast(pl.String).sort()
    aliases = pl.DataFrame(
        {
            "concept": table.keys("aliases"),
            "language": languages.cast(pl.Enum(spoken)),
            "text": pl.Series(encoded.indices).cast(pl.Int32),
        }
    )
    concepts = string_keys(pl.Series(table.column("concepts", "concept_id")))
    texts = string_keys(pl.Series(encoded.dictionary))
    concept, language, text = (aliases[name].to_physical().to_numpy() for name in _UNIT)
    hashes = concepts[concept], texts[text], string_keys(spoken)[language]
    hidden = hold_out(aliases, uniform(mix(seed, *hashes)), share=held_out)
    chosen = uniform(mix(seed, concepts, 1)) < valid_concepts
    asked = chosen[concept] & ~hidden
    queries = np.zeros(len(asked), dtype=bool)
    draws = uniform(mix(seed + 1, *(column[asked] for column in hashes)))
    queries[asked] = hold_out(aliases.filter(asked), draws, share=VALIDATION_QUERIES)
    own = aliases.filter(~(hidden | queries))
    units = _units(own, _trade_names(table, own))
    strings, numbers = _used(encoded.dictionary, units["text"])
    return TrainingNames(
        strings=strings.cast(pa.large_string()),
        units=units.select("concept", "language", numbers.alias("name"), "trade"),
        aliases=aliases.with_columns(held_out=hidden, validation=queries),
        validation_concepts=np.flatnonzero(chosen).astype(np.int32),
        concept_keys=concepts,
    )


def hold_out(names: pl.DataFrame, draws: np.ndarray, *, share: float) -> np.ndarray:
    """Tell of every row whether its (concept, text) is held out: a share of the eligible names.

    Each language draws for itself; a text that one of its languages draws leaves the concept in
    all. Not eligible are texts that name several concepts, and of every concept the text that is
    drawn last, so that a name remains.

    names (pl.DataFrame): concept, language, text, as numbers.
    draws (np.ndarray): Of every row a number in [0, 1) that its concept, language and text fix.
    """
    concept, draw = pl.col("concept"), pl.col("draw")
    rows = names.select("concept", "text", draw=draws)
    rows = rows.with_columns(draw=draw.min().over("concept", "text"))
    eligible = (concept.min() == concept.max()).over("text") & (draw < draw.max().over("concept"))
    return rows.select((draw < share) & eligible).to_series().to_numpy()


def _trade_names(table: ConceptTable, own: pl.DataFrame) -> pl.DataFrame:
    """Return concept, language, text: for trade name relations CUI1 gets CUI2's names."""
    relations = pl.DataFrame(table.relations.select(["head", "tail", "rela"]))
    wanted = relations.filter(pl.col("rela").is_in(TRADE_NAME_RELATIONS))
    named = own.join(wanted, left_on="concept", right_on="tail")
    return named.select("language", "text", concept="head").select(_UNIT)


def _units(own: pl.DataFrame, trade: pl.DataFrame) -> pl.DataFrame:
    """Return concept, language, text, trade, distinct and sorted.

    What is a concept's own name does not count again as a trade name.
    """
    both = [own.select(_UNIT).with_columns(trade=False), trade.with_columns(trade=True)]
    return pl.concat(both).group_by(_UNIT).agg(pl.min("trade")).sort(_UNIT)


def _used(strings: pa.Array, numbers: pl.Series) -> tuple[pa.Array, pl.Series]:
    """Return the strings whose numbers occur, in their order, and the numbers among these."""
    used = np.zeros(len(strings), dtype=bool)
    used[numbers.to_numpy()] = True
    renumbered = (np.cumsum(used, dtype=np.int32) - 1)[numbers.to_numpy()]
    return strings.filter(pa.array(used)), pl.Series(renumbered)
