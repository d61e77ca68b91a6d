"""MRREL rows between the concepts of the table."""

from collections import Counter

import numpy as np
import polars as pl
import pyarrow as pa

from spacy_bergamot.kb.concept_table import SCHEMAS
from spacy_bergamot.kb_import.filters import Filters, outside, without
from spacy_bergamot.kb_import.ids import RowFinder, row_finder
from spacy_bergamot.kb_import.keys import combined, separated, sorted_distinct
from spacy_bergamot.kb_import.rrf import RrfTable
from spacy_bergamot.kb_import.vocabulary import MOST, NO_LIMIT, Vocabulary

INVERSE_REL = {"PAR": "CHD", "CHD": "PAR", "RB": "RN", "RN": "RB", "AQ": "QB", "QB": "AQ"}
_LABEL = {"REL": "rel", "RELA": "rela", "SAB": "source"}
_NAMES = [*_LABEL.values()]


def relation_table(
    rel: RrfTable | None,
    ids: pl.Series,
    *,
    filters: Filters,
    add_inverses: bool,
    dropped: Counter[str],
) -> pa.Table:
    """Return head, rel, rela, tail, source: distinct, sorted by head, rel, rela, source, tail.

    Head is CUI1, and `rel` and `rela` say what the tail is to it. Rows carry the number of their
    label until the end: three strings would take four times the memory.

    ids (pl.Series): Of the concepts, whose rows heads and tails are.
    add_inverses (bool): Add every relation the other way round, as UMLS itself stores them.
    dropped (Counter[str]): Is told how many rows fell, and why.
    RAISES (BergamotError): As `RrfTable.pieces` does.
    """
    schema = SCHEMAS["relations"]
    if rel is None:
        return schema.empty_table()
    parts, kinds = _read(rel, row_finder(ids), filters, dropped)
    labels = _labels(kinds, add_inverses=add_inverses)
    numbers = kinds.join(labels, on=kinds.columns, how="left", maintain_order="left")
    label, inverse = (numbers[column].to_numpy() for column in ("label", "inverse"))
    sizes = len(ids), len(labels), len(ids)
    keys = np.empty(sum(len(kind) for _, kind, _ in parts) << add_inverses, dtype=np.int64)
    end = 0
    for head, kind, tail in parts:
        start, end = end, end + len(kind)
        keys[start:end] = combined((head, label[kind], tail), sizes)
        if add_inverses:
            start, end = end, end + len(kind)
            keys[start:end] = combined((tail, inverse[kind], head), sizes)
    parts.clear()
    head, label, tail = separated(sorted_distinct(keys), sizes)
    columns = {"head": head, "tail": tail}
    columns |= {column: _dictionary(labels[column], label) for column in kinds.columns}
    return pa.table([columns[field.name] for field in schema], schema=schema)


def _read(
    rel: RrfTable, find: RowFinder, filters: Filters, dropped: Counter[str]
) -> tuple[list[tuple[np.ndarray, np.ndarray, np.ndarray]], pl.DataFrame]:
    """Return heads, kinds and tails of the kept rows, piece by piece, and the kinds' labels."""
    words = {column: Vocabulary(f"{column} of {rel.source}") for column in ("SUPPRESS", *_LABEL)}
    triples = Vocabulary("relations", most=NO_LIMIT)
    suppressed, alien = filters.suppress.__contains__, outside(filters.sources)
    parts = []
    for rows in rel.pieces():
        codes = {column: each.codes(rows.strings(column)) for column, each in words.items()}
        head, tail = (find(rows.strings(column)) for column in ("CUI1", "CUI2"))
        problems = {
            "relations: suppressed": words["SUPPRESS"].apply(suppressed, codes["SUPPRESS"]),
            "relations: source": words["SAB"].apply(alien, codes["SAB"]),
            "relations: concept not in the table": (head < 0) | (tail < 0),
            "relations: from a concept to itself": head == tail,
        }
        kept = without(problems, dropped)
        triple = combined([codes[column][kept] for column in _LABEL], [MOST] * len(_LABEL))
        parts.append((head[kept], triples.codes(pa.array(triple)), tail[kept]))
    numbers = separated(np.array(triples.values, dtype=np.int64), [MOST] * len(_LABEL))
    texts = {
        name: [words[column].values[code] for code in codes]
        for (column, name), codes in zip(_LABEL.items(), numbers, strict=True)
    }
    return parts, pl.DataFrame(texts, schema=dict.fromkeys(texts, pl.String))


def _dictionary(labels: pl.Series, rows: np.ndarray) -> pa.DictionaryArray:
    """Return the texts of labels by their rows."""
    texts = labels.unique().sort()
    codes = labels.cast(pl.Enum(texts)).to_physical().to_numpy().astype(np.int16)
    return pa.DictionaryArray.from_arrays(
        pa.array(codes[rows]), pa.array(texts.to_list(), pa.string())
    )


def _labels(labels: pl.DataFrame, *, add_inverses: bool) -> pl.DataFrame:
    """Return the distinct rel, rela and source, sorted, with label (row) and inverse (row)."""
    if add_inverses:
        labels = pl.concat([labels, _inverse(labels)]).unique()
    labels = labels.sort(*_NAMES).with_row_index("label")
    inverse = _inverse(labels).join(labels, on=_NAMES, how="left", maintain_order="left")
    return labels.with_columns(inverse=inverse["label"])


def _inverse(labels: pl.DataFrame) -> pl.DataFrame:
    """Return the label of every relation the other way round.

    UMLS names inverses by three rules: has_x and x_of, isa and inverse_isa, and so on for what
    is neither; no label has no inverse label.
    """
    rela = pl.col("rela")
    turned = (
        pl.when(rela == "")
        .then(rela)
        .when(rela.str.starts_with("inverse_"))
        .then(rela.str.strip_prefix("inverse_"))
        .when(rela.str.starts_with("has_"))
        .then(rela.str.strip_prefix("has_") + pl.lit("_of"))
        .when(rela.str.ends_with("_of"))
        .then(pl.lit("has_") + rela.str.strip_suffix("_of"))
        .otherwise(pl.lit("inverse_") + rela)
    )
    return labels.select(rel=pl.col("rel").replace(INVERSE_REL), rela=turned, source="source")
