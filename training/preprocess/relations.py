"""MRREL rows between the concepts of the table."""

from collections import Counter

import polars as pl

from training.preprocess.filters import Filters
from training.preprocess.rrf import RrfTable

INVERSE_REL = {"PAR": "CHD", "CHD": "PAR", "RB": "RN", "RN": "RB", "AQ": "QB", "QB": "AQ"}
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
    joined = joined.with_columns(problem=_problem(filters))
    counts = joined.group_by("problem").len().collect(engine="streaming")
    dropped.update({f"relations: {why}": n for why, n in counts.iter_rows() if why})
    kept = joined.filter(pl.col("problem").is_null()).join(labels.lazy(), on=_LABEL)
    edges = kept.select("head", "label", "tail")
    if add_inverses:
        edges = pl.concat([edges, kept.select(head="tail", label="inverse", tail="head")])
    distinct = edges.unique().sort("head", "label", "tail").collect(engine="streaming")
    texts = labels.select(
        pl.col(name).cast(pl.Enum(labels[name].unique().sort())) for name in _LABEL
    )
    return distinct.select("head", "tail").hstack(texts[distinct["label"]])


def _problem(filters: Filters) -> pl.Expr:
    """Say why a row of MRREL falls, or null."""
    checks = {
        "suppressed": pl.col("SUPPRESS").is_in(filters.suppress),
        "source": ~pl.col("SAB").is_in(filters.sources) if filters.sources else pl.lit(False),
        "concept not in the table": pl.col("head").is_null() | pl.col("tail").is_null(),
        "from a concept to itself": pl.col("head") == pl.col("tail"),
    }
    return pl.coalesce(pl.when(check).then(pl.lit(why)) for why, check in checks.items())


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
