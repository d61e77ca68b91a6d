"""RRF files to a concept table."""

import logging
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from spacy_bergamot.concepts import ConceptTable
from spacy_bergamot.files import sha256
from training.errors import BergamotError, Errors
from training.preprocess.filters import Filters
from training.preprocess.rrf import COLUMNS, RrfTable, open_rrf
from training.preprocess.semantic_types import semantic_types

INVERSE_REL = {"PAR": "CHD", "CHD": "PAR", "RB": "RN", "RN": "RB"}

logger = logging.getLogger(__name__)


def build_concept_table(
    meta: Path,
    output: Path,
    *,
    filters: Filters,
    add_inverses: bool = False,
    max_malformed: float = 0.001,
) -> dict[str, Any]:
    """Read a release's RRF files and write them as a concept table.

    meta (Path): Folder with MRCONSO.RRF; MRREL, MRSTY, MRDEF, MRRANK and MRSAB are optional.
    add_inverses (bool): Add the inverse of every relation, for sources that store one direction.
    RETURNS (dict): The table's manifest.
    RAISES (BergamotError): T101 if MRCONSO is missing, T104 if no concept is left.
    """
    release = {name: open_rrf(meta, name, max_malformed=max_malformed) for name in COLUMNS}
    if release["MRCONSO"] is None:
        raise BergamotError(Errors.T101.format(path=meta / "MRCONSO.RRF"))
    for name, table in release.items():
        if table is None:
            logger.warning("%s is missing; going on without it", meta / f"{name}.RRF")
    dropped: Counter[str] = Counter()
    names = _names(release["MRCONSO"], release["MRRANK"], filters, dropped)
    types = _types(release["MRSTY"])
    names, types = _with_types(names, types, filters, dropped)
    if not names.height:
        raise BergamotError(Errors.T104.format(path=meta, dropped=dict(dropped)))
    concepts = names.select("CUI").unique().sort("CUI").with_row_index("concept")
    concepts = concepts.with_columns(pl.col("concept").cast(pl.Int32))
    names = names.join(concepts, on="CUI").sort("concept", "order")
    tables = {
        "concepts": _concepts(concepts, names, release["MRDEF"], filters),
        "aliases": _aliases(names),
        "types": types.join(concepts, on="CUI").sort("concept", "type"),
        "codes": names.filter(pl.col("CODE") != "")
        .select("concept", source="SAB", code="CODE")
        .unique()
        .sort("concept", "source", "code"),
        "relations": _relations(release["MRREL"], concepts, filters, dropped, add_inverses),
    }
    counts = _counts(release, dropped, tables)
    return ConceptTable.write(
        output,
        {name: _arrow(table, name) for name, table in tables.items()},
        release=_release(release["MRSAB"]),
        sources=_sources(meta),
        options={**asdict(filters), "add_inverses": add_inverses},
        counts=counts,
        versions={"polars": pl.__version__, "pyarrow": pa.__version__},
    )


def _names(
    conso: RrfTable, rank: RrfTable | None, filters: Filters, dropped: Counter[str]
) -> pl.DataFrame:
    """Return the kept rows of MRCONSO with `order`, their rank as a concept's preferred name.

    English first, then MRRANK's rank, ISPREF = Y, TS = P, STT = PF, then the string itself.
    """
    columns = ["CUI", "LAT", "TS", "STT", "ISPREF", "SAB", "TTY", "CODE", "STR", "SUPPRESS"]
    rows = conso.rows.select(columns).with_columns(problem=filters.name_problem())
    counts = rows.group_by("problem").len().collect(engine="streaming")
    dropped.update({f"names, {why}": n for why, n in counts.iter_rows() if why})
    kept = rows.filter(pl.col("problem").is_null()).drop("problem", "SUPPRESS")
    if rank is not None:
        ranks = rank.rows.select("SAB", "TTY", pl.col("RANK").cast(pl.Int64, strict=False))
        ranks = ranks.group_by("SAB", "TTY").agg(pl.col("RANK").max())
        kept = kept.join(ranks, on=["SAB", "TTY"], how="left")
    else:
        kept = kept.with_columns(RANK=pl.lit(0, dtype=pl.Int64))
    best_first = [
        pl.col("LAT") != "ENG",
        -pl.col("RANK").fill_null(-1),
        pl.col("ISPREF") != "Y",
        pl.col("TS") != "P",
        pl.col("STT") != "PF",
        *map(pl.col, ("STR", "LAT", "SAB", "TTY", "CODE")),
    ]
    frame = kept.sort("CUI", *best_first).collect(engine="streaming")
    return frame.with_row_index("order").drop("RANK", "TS", "STT", "ISPREF")


def _types(sty: RrfTable | None) -> pl.DataFrame:
    """Return CUI, type and group; an unknown type has the empty group."""
    if sty is None:
        return pl.DataFrame(schema={"CUI": pl.String, "type": pl.String, "group": pl.String})
    rows = sty.rows.select("CUI", type="TUI").unique().collect(engine="streaming")
    groups = {entry.tui: entry.group for entry in semantic_types()}
    return rows.with_columns(group=pl.col("type").replace_strict(groups, default=""))


def _with_types(
    names: pl.DataFrame, types: pl.DataFrame, filters: Filters, dropped: Counter[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Keep the concepts that have a wanted semantic type or group."""
    if not filters.semantic_types and not filters.semantic_groups:
        return names, types
    wanted = types.filter(
        pl.col("type").is_in(filters.semantic_types)
        | pl.col("group").is_in(filters.semantic_groups)
    )
    kept = names.join(wanted.select("CUI").unique(), on="CUI", how="semi")
    dropped["names, semantic type"] += names.height - kept.height
    return kept, types


def _concepts(
    concepts: pl.DataFrame, names: pl.DataFrame, definitions: RrfTable | None, filters: Filters
) -> pl.DataFrame:
    preferred = names.unique("concept", keep="first", maintain_order=True)
    table = concepts.join(preferred.select("concept", name="STR"), on="concept")
    if definitions is None:
        return table.sort("concept").with_columns(definition=pl.lit(None, dtype=pl.String))
    rows = definitions.rows.filter(~pl.col("SUPPRESS").is_in(filters.suppress))
    first = rows.sort("CUI", "SAB", "DEF").unique("CUI", keep="first", maintain_order=True)
    texts = first.select("CUI", definition="DEF").collect(engine="streaming")
    return table.join(texts, on="CUI", how="left").sort("concept")


def _aliases(names: pl.DataFrame) -> pl.DataFrame:
    """Return one row per distinct (concept, language, string), from its first-ranking row."""
    distinct = names.unique(["concept", "LAT", "STR"], keep="first", maintain_order=True)
    columns = {"alias": "STR", "language": "LAT", "source": "SAB", "term_type": "TTY"}
    return distinct.select("concept", **{new: pl.col(old) for new, old in columns.items()})


def _relations(
    rel: RrfTable | None,
    concepts: pl.DataFrame,
    filters: Filters,
    dropped: Counter[str],
    add_inverses: bool,
) -> pl.DataFrame:
    """Return head, rel, rela, tail, source; head is CUI1, and rel says what the tail is to it."""
    if rel is None:
        text = dict.fromkeys(("rel", "rela", "source"), pl.String)
        return pl.DataFrame(schema={"head": pl.Int32, "tail": pl.Int32, **text})
    rows = rel.rows.select("CUI1", "REL", "CUI2", "RELA", "SAB", "SUPPRESS")
    heads = concepts.lazy().select(CUI1="CUI", head="concept")
    tails = concepts.lazy().select(CUI2="CUI", tail="concept")
    joined = rows.join(heads, on="CUI1", how="left").join(tails, on="CUI2", how="left")
    checks = [
        (pl.col("SUPPRESS").is_in(filters.suppress), "suppressed"),
        (~pl.col("SAB").is_in(filters.sources) if filters.sources else pl.lit(False), "source"),
        (pl.col("head").is_null() | pl.col("tail").is_null(), "concept not in the table"),
        (pl.col("head") == pl.col("tail"), "from a concept to itself"),
    ]
    why = pl.coalesce(pl.when(check).then(pl.lit(reason)) for check, reason in checks)
    joined = joined.with_columns(problem=why)
    counts = joined.group_by("problem").len().collect(engine="streaming")
    dropped.update({f"relations, {why}": n for why, n in counts.iter_rows() if why})
    kept = joined.filter(pl.col("problem").is_null()).select(
        "head", "tail", rel="REL", rela="RELA", source="SAB"
    )
    if add_inverses:
        kept = pl.concat([kept, _inverse(kept)])
    return kept.unique().sort("head", "rel", "rela", "tail", "source").collect(engine="streaming")


def _inverse(relations: pl.LazyFrame) -> pl.LazyFrame:
    """Return every relation the other way round; a RELA becomes inverse_RELA, or loses that."""
    rela = pl.col("rela")
    turned = (
        pl.when(rela == "")
        .then(rela)
        .when(rela.str.starts_with("inverse_"))
        .then(rela.str.strip_prefix("inverse_"))
        .otherwise(pl.concat_str(pl.lit("inverse_"), rela))
    )
    return relations.select(
        head="tail",
        tail="head",
        rel=pl.col("rel").replace(INVERSE_REL),
        rela=turned,
        source="source",
    )


def _counts(
    release: dict[str, RrfTable | None], dropped: Counter[str], tables: dict[str, pl.DataFrame]
) -> dict[str, Any]:
    languages = tables["aliases"].group_by("language").len().sort("language")
    labels = tables["relations"].group_by("rel", "rela").len()
    common = labels.sort(["len", "rel", "rela"], descending=[True, False, False]).head(50)
    return {
        "read": {name: table.read for name, table in release.items() if table},
        "malformed": {name: table.malformed for name, table in release.items() if table},
        "dropped": dict(sorted(dropped.items())),
        "aliases_by_language": dict(languages.iter_rows()),
        "relations_by_label": {f"{rel}|{rela}": n for rel, rela, n in common.iter_rows()},
    }


def _release(sab: RrfTable | None) -> list[dict[str, str]]:
    """Return the sources of the release with version, restriction level and citation name."""
    if sab is None:
        return []
    columns = {"source": "RSAB", "version": "SVER", "restriction": "SRL", "name": "SON"}
    rows = sab.rows.select(**{new: pl.col(old) for new, old in columns.items()})
    return rows.unique().sort("source", "version").collect().to_dicts()


def _sources(meta: Path) -> list[dict[str, Any]]:
    files = [meta / f"{name}.RRF" for name in COLUMNS]
    return [
        {"name": file.name, "bytes": file.stat().st_size, "sha256": sha256(file)}
        for file in files
        if file.is_file()
    ]


def _arrow(table: pl.DataFrame, name: str) -> pa.Table:
    from spacy_bergamot.concepts import SCHEMAS

    schema = SCHEMAS[name]
    renamed = table.rename({"CUI": "concept_id"}) if name == "concepts" else table
    arrow = renamed.select(schema.names).to_arrow(compat_level=pl.CompatLevel.oldest())
    columns = [_encoded(arrow.column(field.name), field) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _encoded(column: pa.ChunkedArray, field: pa.Field) -> pa.Array:
    """Return a column in its field's type; dictionaries are sorted, so that files are stable."""
    column = column.combine_chunks()
    if not pa.types.is_dictionary(field.type):
        return column.cast(field.type)
    values = pa.compute.unique(column).sort()
    indices = pa.compute.index_in(column, values).cast(field.type.index_type)
    return pa.DictionaryArray.from_arrays(indices, values.cast(field.type.value_type))
