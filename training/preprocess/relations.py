"""MRREL rows between the concepts of the table."""

from collections import Counter
from math import prod

import numpy as np
import polars as pl

from training.preprocess.filters import Filters
from training.preprocess.ids import row_finder
from training.preprocess.keys import combined, numbered, separated, sorted_distinct
from training.preprocess.rrf import RrfTable

INVERSE_REL = {"PAR": "CHD", "CHD": "PAR", "RB": "RN", "RN": "RB", "AQ": "QB", "QB": "AQ"}
_PROBLEMS = (
    "",
    "suppressed",
    "source",
    "concept not in the table",
    "from a concept to itself",
)
_LABEL = {"rel": "REL", "rela": "RELA", "source": "SAB"}


def relation_frame(
    rel: RrfTable | None,
    concepts: pl.DataFrame,
    *,
    filters: Filters,
    add_inverses: bool,
    dropped: Counter[str],
) -> pl.DataFrame:
    """Return head, rel, rela, tail, source: distinct, sorted by head, rel, rela, source, tail.

    Head is CUI1, and `rel` and `rela` say what the tail is to it. Rows carry the number of their
    label until the end: three strings would take four times the memory.

    concepts (pl.DataFrame): CUI, concept (row).
    add_inverses (bool): Add every relation the other way round, as UMLS itself stores them.
    dropped (Counter[str]): Is told how many rows fell, and why.
    """
    if rel is None:
        text = dict.fromkeys(_LABEL, pl.String)
        return pl.DataFrame(schema={"head": pl.Int32, "tail": pl.Int32, **text})
    row = row_finder(concepts["CUI"])
    texts = {name: pl.col(column).cast(pl.Categorical) for name, column in _LABEL.items()}
    rows = rel.rows.select(head=row("CUI1"), tail=row("CUI2"), **texts, fallen=_filtered(filters))
    found = rows.select("head", "tail", *_LABEL, problem=pl.coalesce("fallen", _unlinked()))
    read = found.collect(engine="streaming")
    counts = read["problem"].value_counts().filter(pl.col("problem") > 0)
    dropped.update({f"relations: {_PROBLEMS[code]}": n for code, n in counts.iter_rows()})
    kept = read.filter(pl.col("problem") == 0)
    kinds, kind = _kinds(kept.select(*_LABEL))
    labels = _labels(kinds, add_inverses=add_inverses)
    numbers = kinds.join(labels, on=[*_LABEL], how="left", maintain_order="left")
    head, tail = kept["head"].to_numpy(), kept["tail"].to_numpy()
    sizes = len(concepts), len(labels), len(concepts)
    keys = combined((head, numbers["label"].to_numpy()[kind], tail), sizes)
    if add_inverses:
        inverse = combined((tail, numbers["inverse"].to_numpy()[kind], head), sizes)
        keys = np.concatenate([keys, inverse])
    head, label, tail = separated(sorted_distinct(keys), sizes)
    sorted_texts = labels.select(
        pl.col(name).cast(pl.Enum(labels[name].unique().sort())) for name in _LABEL
    )
    return pl.DataFrame({"head": head, "tail": tail}).hstack(sorted_texts[label])


def _kinds(frame: pl.DataFrame) -> tuple[pl.DataFrame, np.ndarray]:
    """Return the distinct rows of categories as text, and of every row its row there."""
    examples, kind = np.zeros(1, dtype=np.int32), np.zeros(len(frame), dtype=np.int32)
    for column in frame:
        codes = column.to_physical().to_numpy()
        sizes = len(examples), int(codes.max(initial=0)) + 1
        examples, kind = numbered(combined((kind, codes), sizes), prod(sizes))
    return frame[examples].cast(pl.String), kind


def _filtered(filters: Filters) -> pl.Expr:
    """Return the filter that a row of MRREL falls by, as its position in _PROBLEMS, or null."""
    checks = [pl.when(pl.col("SUPPRESS").is_in(filters.suppress)).then(_code("suppressed"))]
    if filters.sources:
        checks.append(pl.when(~pl.col("SAB").is_in(filters.sources)).then(_code("source")))
    return pl.coalesce(checks)


def _unlinked() -> pl.Expr:
    """Return what speaks against a row's ends likewise; 0 is nothing."""
    missing = (pl.col("head") < 0) | (pl.col("tail") < 0)
    return (
        pl.when(missing)
        .then(_code("concept not in the table"))
        .when(pl.col("head") == pl.col("tail"))
        .then(_code("from a concept to itself"))
        .otherwise(_code(""))
    )


def _code(problem: str) -> pl.Expr:
    return pl.lit(_PROBLEMS.index(problem), pl.UInt8)


def _labels(labels: pl.DataFrame, *, add_inverses: bool) -> pl.DataFrame:
    """Return the distinct rel, rela and source, sorted, with label (row) and inverse (row)."""
    if add_inverses:
        labels = pl.concat([labels, _inverse(labels)]).unique()
    labels = labels.sort(*_LABEL).with_row_index("label")
    inverse = _inverse(labels).join(labels, on=[*_LABEL], how="left", maintain_order="left")
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
