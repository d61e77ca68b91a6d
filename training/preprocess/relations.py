"""MRREL rows between the concepts of the table."""

from collections import Counter

import polars as pl

from training.preprocess.filters import Filters
from training.preprocess.rrf import RrfTable

INVERSE_REL = {"PAR": "CHD", "CHD": "PAR", "RB": "RN", "RN": "RB", "AQ": "QB", "QB": "AQ"}
_PROBLEMS = (
    "",
    "suppressed",
    "source",
    "concept not in the table",
    "from a concept to itself",
)
_LABEL = ["rel", "rela", "source"]


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
    rows = rel.rows.select("CUI1", "CUI2", "SAB", "SUPPRESS", rel="REL", rela="RELA", source="SAB")
    labels = _labels(rows, add_inverses=add_inverses)
    heads = concepts.lazy().select(CUI1="CUI", head="concept")
    tails = concepts.lazy().select(CUI2="CUI", tail="concept")
    joined = rows.join(heads, on="CUI1", how="left").join(tails, on="CUI2", how="left")
    read = (
        joined.join(labels.lazy(), on=_LABEL)
        .select("head", "tail", "label", "inverse", problem=_problem(filters))
        .collect(engine="streaming")
    )
    counts = read["problem"].value_counts().filter(pl.col("problem") > 0)
    dropped.update({f"relations: {_PROBLEMS[code]}": n for code, n in counts.iter_rows()})
    kept = read.filter(pl.col("problem") == 0)
    edges = [_keys(kept, "head", "label", "tail", len(labels), len(concepts))]
    if add_inverses:
        edges.append(_keys(kept, "tail", "inverse", "head", len(labels), len(concepts)))
    keys = pl.concat(edges).unique().sort()
    label = (keys // len(concepts)) % len(labels)
    texts = labels.select(
        pl.col(name).cast(pl.Enum(labels[name].unique().sort())) for name in _LABEL
    )
    ends = pl.DataFrame(
        {
            "head": (keys // (len(concepts) * len(labels))).cast(pl.Int32),
            "tail": (keys % len(concepts)).cast(pl.Int32),
        }
    )
    return ends.hstack(texts[label.cast(pl.UInt32)])


def _keys(
    rows: pl.DataFrame, first: str, label: str, last: str, labels: int, concepts: int
) -> pl.Series:
    """Return (first, label, last) as one number that sorts alike."""
    head, middle, tail = (pl.col(name).cast(pl.Int64) for name in (first, label, last))
    return rows.select(key=(head * labels + middle) * concepts + tail)["key"]


def _problem(filters: Filters) -> pl.Expr:
    """Return what speaks against a row of MRREL, as its position in _PROBLEMS; 0 is nothing."""
    checks = [
        pl.col("SUPPRESS").is_in(filters.suppress),
        ~pl.col("SAB").is_in(filters.sources) if filters.sources else pl.lit(False),
        pl.col("head").is_null() | pl.col("tail").is_null(),
        pl.col("head") == pl.col("tail"),
    ]
    codes = [pl.when(check).then(pl.lit(i, pl.UInt8)) for i, check in enumerate(checks, start=1)]
    return pl.coalesce(*codes, pl.lit(0, pl.UInt8))


def _labels(rows: pl.LazyFrame, *, add_inverses: bool) -> pl.DataFrame:
    """Return the distinct rel, rela and source, sorted, with label (row) and inverse (row)."""
    labels = rows.select(_LABEL).unique().collect(engine="streaming")
    if add_inverses:
        labels = pl.concat([labels, _inverse(labels)]).unique()
    labels = labels.sort(_LABEL).with_row_index("label")
    inverse = _inverse(labels).join(labels, on=_LABEL, how="left", maintain_order="left")
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
