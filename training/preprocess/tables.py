"""RRF files to a concept table."""

import logging
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from spacy_bergamot.concepts import SCHEMAS, ConceptTable
from training.errors import BergamotError, Errors
from training.preprocess.filters import Filters, require_known
from training.preprocess.keys import combined, first_rows, is_first, sorted_ids
from training.preprocess.progress import timed
from training.preprocess.relations import relation_frame
from training.preprocess.rrf import COLUMNS, RrfTable, open_rrf
from training.preprocess.semantic_types import semantic_types

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
    max_malformed (float): Share of a file's lines that may be malformed; they are skipped.
    RETURNS (dict): The table's manifest.
    RAISES (BergamotError): T101 if MRCONSO is missing, T102 if it is empty, T103 if too much of a
        file is malformed, T104 if no concept is left, T110 for a filter that fits no row.
    """
    with timed("Checking the RRF files"):
        release = {name: open_rrf(meta, name, max_malformed=max_malformed) for name in COLUMNS}
    conso = release["MRCONSO"]
    if conso is None:
        raise BergamotError(Errors.T101.format(path=meta / "MRCONSO.RRF"))
    if not conso.read:
        raise BergamotError(Errors.T102.format(path=meta / "MRCONSO.RRF", reason="it is empty"))
    for name, table in release.items():
        if table is None:
            logger.warning("%s is missing; going on without it", meta / f"{name}.RRF")
    dropped: Counter[str] = Counter()
    with timed("Reading the names"):
        _check_filters(meta, conso, filters)
        types = _types(release["MRSTY"])
        names = _names(conso, release["MRRANK"], filters, dropped)
        names = _with_types(meta, names, types, filters, dropped)
    if not names.height:
        raise BergamotError(Errors.T104.format(path=meta, dropped=dict(dropped)))
    ids, rows = sorted_ids(names["CUI"])
    concepts = pl.DataFrame({"CUI": ids, "concept": np.arange(len(ids), dtype=np.int32)})
    names = _best_first(names.drop("CUI").with_columns(concept=rows), len(ids))
    with timed("Reading the relations"):
        relations = relation_frame(
            release["MRREL"], concepts, filters=filters, add_inverses=add_inverses, dropped=dropped
        )
    tables = {
        "concepts": _arrow(_concepts(concepts, names, release["MRDEF"], filters), "concepts"),
        "aliases": _arrow(_aliases(names), "aliases"),
        "types": _arrow(types.join(concepts, on="CUI").sort("concept", "type"), "types"),
        "codes": _arrow(_codes(names), "codes"),
        "relations": _arrow(relations, "relations"),
    }
    with timed("Writing the concept table"):
        return ConceptTable.write(
            output,
            tables,
            release=_release(release["MRSAB"]),
            sources=[table.file for table in release.values() if table is not None],
            missing=[f"{name}.RRF" for name, table in release.items() if table is None],
            options={**asdict(filters), "add_inverses": add_inverses},
            counts=_counts(release, dropped, tables),
            versions={"polars": pl.__version__, "pyarrow": pa.__version__},
        )


def _check_filters(meta: Path, conso: RrfTable, filters: Filters) -> None:
    wanted = {
        "LAT": ("language", filters.languages),
        "SAB": ("source", filters.sources),
        "TTY": ("term type", filters.term_types),
    }
    for column, (what, values) in wanted.items():
        if values:
            known = conso.rows.select(pl.col(column).unique()).collect(engine="streaming")
            path = meta / "MRCONSO.RRF"
            require_known(what, values, known=known[column].to_list(), path=path)


def _names(
    conso: RrfTable, rank: RrfTable | None, filters: Filters, dropped: Counter[str]
) -> pl.DataFrame:
    """Return the kept rows of MRCONSO with their merit, for which see `_best_first`."""
    place, places = pl.lit(0, pl.Int64), 1
    rows = conso.rows
    if rank is not None:
        numbers = rank.rows.select("SAB", "TTY", pl.col("RANK").cast(pl.Int64, strict=False))
        ranks = numbers.group_by("SAB", "TTY").agg(pl.col("RANK").max()).collect()
        places = ranks.height + 1
        best = pl.col("RANK").rank("dense", descending=True).cast(pl.Int64) - 1
        rows = rows.join(ranks.lazy().with_columns(place=best), on=["SAB", "TTY"], how="left")
        place = pl.col("place").fill_null(ranks.height)
    merit = (pl.col("LAT") != "ENG").cast(pl.Int64) * places + place
    for column, preferred in {"ISPREF": "Y", "TS": "P", "STT": "PF"}.items():
        merit = merit * 2 + (pl.col(column) != preferred)
    texts = pl.col("LAT", "SAB", "TTY").cast(pl.Categorical)
    problem = filters.name_problem().cast(pl.Categorical)
    read = rows.select("CUI", texts, "CODE", "STR", merit=merit, problem=problem)
    names = read.collect(engine="streaming")
    counts = names.group_by("problem").len()
    dropped.update({f"names: {why}": n for why, n in counts.iter_rows() if why})
    return names.filter(pl.col("problem").is_null()).drop("problem")


def _best_first(names: pl.DataFrame, concepts: int) -> pl.DataFrame:
    """Sort names by concept and from the preferred name downwards.

    English first, then MRRANK's rank, ISPREF = Y, TS = P, STT = PF, which are the merit; only
    rows that are alike in all that are compared by their strings.
    """
    columns = [names[column].to_numpy() for column in ("concept", "merit")]
    keys = combined(columns, [concepts, int(columns[1].max()) + 1])
    order = np.argsort(keys, kind="stable")
    first = is_first(keys[order])
    alike = np.flatnonzero(~(first & np.r_[first[1:], True]))
    rows = order[alike]
    texts = names[rows].select(pl.col("STR", "LAT", "SAB", "TTY", "CODE").cast(pl.String))
    texts = texts.with_columns(key=keys[rows], row=rows)
    order[alike] = texts.sort("key", "STR", "LAT", "SAB", "TTY", "CODE")["row"]
    return names.drop("merit")[order]


def _types(sty: RrfTable | None) -> pl.DataFrame:
    """Return CUI, type and group; an unknown type has the empty group."""
    if sty is None:
        return pl.DataFrame(schema={"CUI": pl.String, "type": pl.String, "group": pl.String})
    rows = sty.rows.select("CUI", type="TUI").unique().collect(engine="streaming")
    groups = {entry.tui: entry.group for entry in semantic_types()}
    return rows.with_columns(group=pl.col("type").replace_strict(groups, default=""))


def _with_types(
    meta: Path, names: pl.DataFrame, types: pl.DataFrame, filters: Filters, dropped: Counter[str]
) -> pl.DataFrame:
    """Keep the concepts that have a wanted semantic type or group."""
    if not filters.semantic_types and not filters.semantic_groups:
        return names
    path = meta / "MRSTY.RRF"
    for what, values in (("type", filters.semantic_types), ("group", filters.semantic_groups)):
        known = types[what].unique().to_list()
        require_known(f"semantic {what}", values, known=known, path=path)
    wanted = types.filter(
        pl.col("type").is_in(filters.semantic_types)
        | pl.col("group").is_in(filters.semantic_groups)
    )
    concepts = wanted.select("CUI").unique()
    kept = names.join(concepts, on="CUI", how="semi", maintain_order="left")
    dropped["names: semantic type"] += names.height - kept.height
    return kept


def _concepts(
    concepts: pl.DataFrame, names: pl.DataFrame, definitions: RrfTable | None, filters: Filters
) -> pl.DataFrame:
    """Return concept_id, name and definition: of several the first by source, then by text."""
    preferred = names["STR"].filter(pl.Series(is_first(names["concept"].to_numpy())))
    table = concepts.with_columns(name=preferred)
    if definitions is None:
        texts = pl.DataFrame(schema={"CUI": pl.String, "definition": pl.String})
    else:
        rows = definitions.rows.filter(~pl.col("SUPPRESS").is_in(filters.suppress))
        first = rows.sort("CUI", "SAB", "DEF").unique("CUI", keep="first", maintain_order=True)
        texts = first.select("CUI", definition="DEF").collect(engine="streaming")
    table = table.join(texts, on="CUI", how="left").sort("concept")
    return table.rename({"CUI": "concept_id"})


def _aliases(names: pl.DataFrame) -> pl.DataFrame:
    """Return one row per distinct (concept, language, string), from its first-ranking row."""
    first = first_rows(names.select("concept", "LAT", "STR"))
    distinct = names.filter(pl.Series(first == np.arange(len(names))))
    return distinct.select("concept", alias="STR", language="LAT", source="SAB", term_type="TTY")


def _codes(names: pl.DataFrame) -> pl.DataFrame:
    coded = names.filter(pl.col("CODE") != "").select("concept", source="SAB", code="CODE")
    sources = pl.Enum(coded["source"].unique().cast(pl.String).sort())
    coded = coded.with_columns(pl.col("source").cast(sources)).sort("concept", "source", "code")
    fresh = [pl.col(column).ne_missing(pl.col(column).shift()) for column in coded.columns]
    return coded.filter(pl.any_horizontal(fresh))


def _counts(
    release: dict[str, RrfTable | None], dropped: Counter[str], tables: dict[str, pa.Table]
) -> dict[str, Any]:
    read = {name: table for name, table in release.items() if table is not None}
    relations = tables["relations"].select(["rel", "rela"]).group_by(["rel", "rela"])
    labels = relations.aggregate([([], "count_all")]).to_pylist()
    labels.sort(key=lambda row: (-row["count_all"], row["rel"], row["rela"]))
    languages = pc.value_counts(tables["aliases"]["language"]).to_pylist()
    return {
        "read": {name: table.read for name, table in read.items()},
        "malformed": {name: table.malformed for name, table in read.items()},
        "dropped": dict(sorted(dropped.items())),
        "aliases_by_language": dict(sorted((row["values"], row["counts"]) for row in languages)),
        "relations_by_label": {
            f"{row['rel']}|{row['rela']}": row["count_all"] for row in labels[:50]
        },
    }


def _release(sab: RrfTable | None) -> list[dict[str, str]]:
    """Return the sources of the release with version, restriction level and name."""
    if sab is None:
        return []
    rows = sab.rows.select(source="RSAB", version="SVER", restriction="SRL", name="SON")
    return rows.unique().sort("source", "version", "name").collect().to_dicts()


def _arrow(table: pl.DataFrame, name: str) -> pa.Table:
    schema = SCHEMAS[name]
    columns = [_encoded(table[field.name], field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _encoded(column: pl.Series, kind: pa.DataType) -> pa.Array:
    """Return a column in its field's type; dictionaries are in order of first appearance."""
    if not pa.types.is_dictionary(kind):
        arrow = column.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(kind)
        # The bits of null after a column's end are anything until it is copied.
        return pa.concat_arrays([arrow]) if arrow.null_count else arrow
    categories = column if column.dtype == pl.Enum else column.cast(pl.Categorical)
    values = categories.unique(maintain_order=True)
    first, codes = values.to_physical().to_numpy(), categories.to_physical().to_numpy()
    places = np.zeros(int(first.max(initial=0)) + 1, dtype=kind.index_type.to_pandas_dtype())
    places[first] = np.arange(len(first))
    texts = pa.array(values.cast(pl.String).to_list(), type=kind.value_type)
    return pa.DictionaryArray.from_arrays(pa.array(places[codes]), texts)
