"""Training names: which strings name which concept, and which of them are held out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pyarrow as pa

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.keys import (
    combined,
    interned,
    is_first,
    separated,
    string_bytes,
    string_lengths,
)
from training.preprocess.graph import csr_indptr
from training.preprocess.hashing import mix, string_hashes, uniform

VALIDATION_QUERIES = 0.3
"""Share of a validation concept's names that are queries."""

TRADE_NAME_RELATIONS = ("has_tradename", "tradename_of")
_NAME = ("concept", "text")
_UNIT = ("concept", "language", "text")
_ROWS = 1 << 14  # worked on at a time; they stay in the processor's cache
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
    forms = _training_forms(table.column("aliases", "alias"))
    languages, spoken = _languages(table.column("aliases", "language"))
    form_hashes = string_hashes(forms)
    examples, texts = interned(forms, form_hashes)
    hashes = {
        "concept": concept_hashes(table),
        "text": form_hashes[examples],
        "language": string_hashes(_arrow(languages.cast(pl.String))),
    }
    concepts = table.keys("aliases")
    aliases = pl.DataFrame(
        {"concept": concepts, "language": languages.gather(spoken), "text": texts}
    )
    hidden = hold_out(aliases, hashes, share=held_out, seed=seed)
    chosen = uniform(mix(seed, hashes["concept"], 1)) < valid_concepts
    asked = chosen[concepts] & ~hidden
    queries = np.zeros(len(asked), dtype=bool)
    queries[asked] = hold_out(
        aliases.filter(asked), hashes, share=VALIDATION_QUERIES, seed=seed + 1
    )
    own = aliases.filter(~(hidden | queries))
    units = _units(own, _trade_names(table, own), hashes)
    used, names = _renumbered(units["text"], len(examples))
    return TrainingNames(
        strings=forms.take(pa.array(examples[used])),
        units=units.select(
            "concept",
            languages.gather(units["language"]).alias("language"),
            names.alias("name"),
            "trade",
        ),
        aliases=aliases.with_columns(held_out=hidden, validation=queries),
        validation_concepts=np.flatnonzero(chosen).astype(np.int32),
    )


def concept_hashes(table: ConceptTable) -> np.ndarray:
    """Return a stable uint64 hash of every concept's id."""
    return string_hashes(table.column("concepts", "concept_id"))


def hold_out(names: pl.DataFrame, hashes: Hashes, *, share: float, seed: int) -> np.ndarray:
    """Tell of every row whether its (concept, text) is held out: a share of the eligible names.

    Each language draws for itself; a text that one of its languages draws leaves the concept in
    all. Not eligible are texts that name several concepts, and of every concept the text that is
    drawn last, so that a name remains.

    names (pl.DataFrame): concept, language, text, as numbers.
    hashes (Hashes): Stable hashes, uint64, of what the numbers of a column stand for.
    """
    keys = _keys(names, hashes, _NAME)
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(is_first(keys[order]))
    drawn = np.minimum.reduceat(_draws(names, hashes, seed)[order], starts)
    concepts, texts = _columns(keys[order[starts]], hashes, _NAME)
    shared = np.bincount(texts)[texts] > 1
    firsts = np.flatnonzero(is_first(concepts))
    last = np.repeat(np.maximum.reduceat(drawn, firsts), np.diff(firsts, append=len(drawn)))
    held = (drawn < share) & ~shared & (drawn != last)
    of_rows = np.empty(len(names), dtype=bool)
    of_rows[order] = np.repeat(held, np.diff(starts, append=len(order)))
    return of_rows


def _draws(names: pl.DataFrame, hashes: Hashes, seed: int) -> np.ndarray:
    """Return a number in [0, 1) for every concept, text and language."""
    columns = {column: _numbers(names[column]) for column in ("concept", "text", "language")}
    drawn = np.empty(len(names))
    for start in range(0, len(names), _ROWS):
        part = slice(start, start + _ROWS)
        parts = [hashes[column][numbers[part]] for column, numbers in columns.items()]
        drawn[part] = uniform(mix(seed, *parts))
    return drawn


def _training_forms(names: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return names stripped and lower-cased."""
    texts, lengths = [np.empty(0, dtype=np.uint8)], [np.zeros(1, dtype=np.int64)]
    for start in range(0, len(names), _ROWS):
        part = pl.Series(names[start : start + _ROWS])
        forms = _arrow(part.str.strip_chars().str.to_lowercase())
        texts.append(string_bytes(forms).copy())
        lengths.append(string_lengths(forms))
    offsets = np.cumsum(np.concatenate(lengths))
    buffers = [pa.py_buffer(offsets), pa.py_buffer(np.concatenate(texts))]
    return pa.LargeStringArray.from_buffers(len(names), *buffers)


def _languages(column: pa.DictionaryArray) -> tuple[pl.Series, np.ndarray]:
    """Return the languages that occur, sorted (Enum), and of every row its place there, uint32."""
    values = column.dictionary.to_pylist()
    codes = column.indices.to_numpy()
    found = sorted({values[code] for code in np.flatnonzero(np.bincount(codes))})
    places = np.array([found.index(v) if v in found else 0 for v in values], dtype=np.uint32)
    return pl.Series(found, dtype=pl.Enum(found)), places[codes]


def _trade_names(table: ConceptTable, own: pl.DataFrame) -> pl.DataFrame:
    """Return concept, language, text: for trade name relations CUI1 gets CUI2's names."""
    kinds = table.column("relations", "rela")
    wanted = [kind in TRADE_NAME_RELATIONS for kind in kinds.dictionary.to_pylist()]
    rows = np.flatnonzero(np.array(wanted, dtype=bool)[kinds.indices.to_numpy()])
    head, tail = (table.column("relations", side).to_numpy()[rows] for side in ("head", "tail"))
    starts = csr_indptr(own["concept"].to_numpy(), len(table))
    counts = starts[tail + 1] - starts[tail]
    named = np.arange(counts.sum()) + np.repeat(starts[tail + 1] - np.cumsum(counts), counts)
    return own[named].with_columns(concept=np.repeat(head, counts))


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


def _keys(names: pl.DataFrame, hashes: Hashes, columns: tuple[str, ...]) -> np.ndarray:
    sizes = [len(hashes[column]) for column in columns]
    return combined([_numbers(names[column]) for column in columns], sizes)


def _columns(keys: np.ndarray, hashes: Hashes, columns: tuple[str, ...]) -> list[np.ndarray]:
    return separated(keys, [len(hashes[column]) for column in columns])


def _numbers(column: pl.Series) -> np.ndarray:
    return column.to_physical().to_numpy()


def _arrow(strings: pl.Series) -> pa.Array:
    return strings.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(pa.large_string())
