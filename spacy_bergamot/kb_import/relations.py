"""MRREL's rows between the concepts of the table."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import polars as pl

from spacy_bergamot.kb_import.filters import Filters, outside, require_few, without
from spacy_bergamot.kb_import.rrf import RrfTable

INVERSE_REL = {"PAR": "CHD", "CHD": "PAR", "RB": "RN", "RN": "RB", "AQ": "QB", "QB": "AQ"}
_LABEL = {"rel": "REL", "rela": "RELA", "source": "SAB"}
_ROWS = {"head": pl.Int32, "tail": pl.Int32}


def read_relations(
    rel: RrfTable | None,
    concepts: pl.Series,
    *,
    filters: Filters,
    add_inverses: bool,
    dropped: Counter[str],
) -> pl.DataFrame:
    """Return head, rel, rela, tail, source: distinct, sorted by head, rel, rela, source, tail.

    Head is CUI1, and `rel` and `rela` say what the tail is to it. Rows carry the number of their
    label until the end, and are sorted as one number each: strings would take many times as much.

    rel (RrfTable | None): MRREL.RRF.
    filters (Filters): What is left out.
    concepts (pl.Series): Ids (Categorical), whose rows heads and tails are.
    add_inverses (bool): Add every relation the other way round, as UMLS itself stores them.
    dropped (Counter[str]): Gets how many rows were dropped, and why.
    RAISES (BergamotError): As `RrfTable.batches` does, and T114 for too many labels.
    """
    rows = _read(rel, concepts, filters, dropped)
    labels = _labels(rows["label"].unique(), add_inverses=add_inverses)
    for name, column in _LABEL.items():
        require_few(f"{column} of {rel.source if rel else 'MRREL'}", labels[name].n_unique())
    sizes = len(concepts), labels.height, len(concepts)
    place = rows_of(labels["label"])
    head, tail, label = rows["head"].to_numpy(), rows["tail"].to_numpy(), place(rows["label"])
    del rows
    keys = np.ravel_multi_index((head, label, tail), sizes)
    if add_inverses:
        inverse = place(labels["inverse"])[label]
        keys = np.concatenate([keys, np.ravel_multi_index((tail, inverse, head), sizes)])
    keys.sort()
    head, label, tail = np.unravel_index(keys[np.diff(keys, prepend=-1) > 0], sizes)
    texts = {name: labels[name].gather(label) for name in _LABEL}
    return pl.DataFrame({"head": head, "tail": tail, **texts}, schema_overrides=_ROWS)


def rows_of(values: pl.Series) -> Callable[[pl.Series], np.ndarray]:
    """Return what gives the rows, int32, in which values stand; -1 for one that is not there.

    values (pl.Series): Categorical, distinct; the function takes others of the same type.
    """
    codes = values.to_physical().to_numpy()
    rows = np.full(int(codes.max(initial=0)) + 2, -1, dtype=np.int32)
    rows[codes] = np.arange(len(codes), dtype=np.int32)
    return lambda column: rows[np.minimum(column.to_physical().to_numpy(), len(rows) - 1)]


def _read(
    rel: RrfTable | None, concepts: pl.Series, filters: Filters, dropped: Counter[str]
) -> pl.DataFrame:
    """Return head, tail and label (`rel|rela|source`, Categorical) of the rows that are kept."""
    find = rows_of(concepts)
    problems = {
        "relations: suppressed": pl.col("SUPPRESS").is_in(filters.suppress),
        "relations: source": outside("SAB", filters.sources),
        "relations: concept not in the table": (pl.col("head") < 0) | (pl.col("tail") < 0),
        "relations: from a concept to itself": pl.col("head") == pl.col("tail"),
    }
    label = pl.concat_str(*_LABEL.values(), separator="|").cast(pl.Categorical)
    parts = [pl.DataFrame(schema={**_ROWS, "label": pl.Categorical})]
    for rows in rel.batches("CUI1", "REL", "CUI2", "RELA", "SAB", "SUPPRESS") if rel else ():
        ends = {"head": rows["CUI1"], "tail": rows["CUI2"]}
        found = {end: pl.Series(find(ids.cast(pl.Categorical))) for end, ids in ends.items()}
        kept = without(rows.with_columns(**found), problems, dropped)
        parts.append(kept.select("head", "tail", label=label))
    return pl.concat(parts)


def _labels(labels: pl.Series, *, add_inverses: bool) -> pl.DataFrame:
    """Return rel, rela and source (Enum), distinct and sorted, label, and label of the inverse."""
    fields = pl.col("label").cast(pl.String).str.split_exact("|", 2)
    table = labels.to_frame("label").select(fields.struct.rename_fields([*_LABEL])).unnest("label")
    if add_inverses:
        table = pl.concat([table, table.select(_inverse())]).unique()
    enums = (pl.col(name).cast(pl.Enum(table[name].unique().sort())) for name in _LABEL)
    joined = pl.concat_str(*_LABEL, separator="|").cast(pl.Categorical)
    inverse = pl.concat_str(*_inverse(), separator="|").cast(pl.Categorical)
    return table.sort([*_LABEL]).select(*enums, label=joined, inverse=inverse)


def _inverse() -> list[pl.Expr]:
    """Return the label of a relation the other way round.

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
    return [pl.col("rel").replace(INVERSE_REL), turned, pl.col("source")]
