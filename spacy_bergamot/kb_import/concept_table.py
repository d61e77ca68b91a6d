"""RRF files to a concept table."""

import logging
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb.schemas import SCHEMAS
from spacy_bergamot.kb.semantic_types import semantic_types
from spacy_bergamot.kb_import.errors import BergamotError, Errors
from spacy_bergamot.kb_import.filters import Filters, require_few, require_known
from spacy_bergamot.kb_import.names import read_names
from spacy_bergamot.kb_import.progress import timed
from spacy_bergamot.kb_import.relations import read_relations, rows_of
from spacy_bergamot.kb_import.release import TABLES
from spacy_bergamot.kb_import.rrf import RrfTable, open_release
from spacy_bergamot.kb_import.sources import release_sources, terms_of

_GROUPS = {entry.tui: entry.group for entry in semantic_types()}

logger = logging.getLogger(__name__)


def build_concept_table(
    meta: Path,
    output: Path,
    *,
    filters: Filters,
    add_inverses: bool = False,
    max_malformed: float = 0.001,
    is_imported: bool = False,
) -> dict[str, Any]:
    """Read a release's RRF files and write them as a concept table.

    meta (Path): Folder with MRCONSO.RRF or .gz, or a release's archive; MRREL, MRSTY, MRDEF,
        MRRANK and MRSAB are optional, and so is MRSAB.tsv (see `sources`).
    add_inverses (bool): Add the inverse of every relation, for sources that store one direction.
    max_malformed (float): Share of a file's lines that may be malformed; they are skipped.
    is_imported (bool): Do not warn of files that are missing, as `import` makes what it needs.
    RETURNS (dict): The table's manifest.
    RAISES (BergamotError): B001 if MRCONSO is missing, T102 if it is empty, T103 if too much of a
        file is malformed, T104 if no concept is left, T110 for a filter that fits no row, T114 if
        sources, labels or the like are too many.
    """
    release = open_release(meta, max_malformed=max_malformed)
    missing = [name for name in TABLES if name not in release]
    for name in missing:
        level = logging.DEBUG if is_imported else logging.WARNING  # `import` makes no MRRANK
        logger.log(level, "%s is missing; going on without it", meta / f"{name}.RRF")
    dropped: Counter[str] = Counter()
    with timed("Reading the names"):
        names = read_names(release["MRCONSO"], release.get("MRRANK"), filters, dropped)
        types = _read_types(release.get("MRSTY"))
    if filters.semantic_types or filters.semantic_groups:
        kept = names.join(_wanted(types, filters, meta / "MRSTY.RRF"), on="CUI", how="semi")
        dropped["names: semantic type"] += names.height - kept.height
        names = kept
    if not names.height:
        raise BergamotError(Errors.T104, path=meta, dropped=dict(dropped))
    concepts = names["CUI"].unique().sort()
    find = rows_of(concepts)
    names = names.select(pl.all().exclude("CUI"), concept=find(names["CUI"]))
    with timed("Sorting the names"):
        codes = _arrow(_codes(names), "codes")
        types = types.with_columns(concept=find(types["CUI"])).filter(pl.col("concept") >= 0)
        order = ("concept", "preference", "STR", "LAT", "SAB", "TTY")
        names = names.select(order).sort(order)
        tables = {
            "concepts": _arrow(
                _concepts(concepts, names, release.get("MRDEF"), filters), "concepts"
            ),
            "aliases": _arrow(_aliases(names), "aliases"),
            "types": _arrow(types.sort("concept", pl.col("type").cast(pl.String)), "types"),
            "codes": codes,
        }
        del names
    with timed("Reading the relations"):
        relations = read_relations(
            release.get("MRREL"),
            concepts,
            filters=filters,
            add_inverses=add_inverses,
            dropped=dropped,
        )
        tables["relations"] = _arrow(relations, "relations")
        del relations
    terms, file = terms_of(meta)
    sources = release_sources(release.get("MRSAB"), terms)
    with timed("Writing the concept table"):
        return ConceptTable.write(
            output,
            tables,
            release=sources,
            sources=[release[name].file for name in TABLES if name in release] + file,
            missing=[f"{name}.RRF" for name in missing],
            options={**asdict(filters), "add_inverses": add_inverses},
            counts=_counts(release, dropped, tables),
            versions={"polars": pl.__version__, "pyarrow": pa.__version__},
        )


def _read_types(sty: RrfTable | None) -> pl.DataFrame:
    """Return CUI, type and group, distinct; an unknown type has the empty group."""
    parts = [pl.DataFrame(schema={"CUI": pl.Categorical, "TUI": pl.Categorical})]
    for rows in sty.batches("CUI", "TUI") if sty else ():
        parts.append(rows.cast(pl.Categorical))
    types = pl.concat(parts).unique().rename({"TUI": "type"})
    require_few(f"TUI of {sty.source if sty else 'MRSTY'}", types["type"].n_unique())
    group = pl.col("type").cast(pl.String).replace_strict(_GROUPS, default="")
    return types.with_columns(group=group.cast(pl.Categorical))


def _wanted(types: pl.DataFrame, filters: Filters, path: Path) -> pl.DataFrame:
    """Return the types that are wanted, or whose group is.

    RAISES (BergamotError): T110 for a type or group that is not in MRSTY, which `path` names.
    """
    known = {column: types[column].unique().to_list() for column in ("type", "group")}
    require_known("semantic type", filters.semantic_types, known=known["type"], path=path)
    require_known("semantic group", filters.semantic_groups, known=known["group"], path=path)
    return types.filter(
        pl.col("type").cast(pl.String).is_in(filters.semantic_types)
        | pl.col("group").cast(pl.String).is_in(filters.semantic_groups)
    )


def _codes(names: pl.DataFrame) -> pl.DataFrame:
    """Return concept, source and code: distinct and sorted."""
    coded = names.filter(pl.col("CODE") != "").select("concept", source="SAB", code="CODE")
    return coded.unique().sort(coded.columns)


def _concepts(
    ids: pl.Series, names: pl.DataFrame, definitions: RrfTable | None, filters: Filters
) -> pl.DataFrame:
    """Return concept_id, name and definition: of several the first by source, then by text."""
    preferred = names.filter(pl.col("concept").is_first_distinct())["STR"]
    table = pl.DataFrame({"concept_id": ids.cast(pl.String), "name": preferred})
    if definitions is None:
        return table.with_columns(definition=pl.lit(None, pl.String))
    rows = definitions.frame("CUI", "SAB", "DEF", "SUPPRESS")
    rows = rows.filter(~pl.col("SUPPRESS").is_in(filters.suppress)).sort("CUI", "SAB", "DEF")
    first = rows.unique("CUI", keep="first").select(concept_id="CUI", definition="DEF")
    return table.join(first, on="concept_id", how="left", maintain_order="left")


def _aliases(names: pl.DataFrame) -> pl.DataFrame:
    """Return one row per distinct (concept, language, string), from its most preferred row."""
    names = names.unique(["concept", "LAT", "STR"], keep="first", maintain_order=True)
    return names.select("concept", alias="STR", language="LAT", source="SAB", term_type="TTY")


def _counts(
    release: dict[str, RrfTable], dropped: Counter[str], tables: dict[str, pa.Table]
) -> dict[str, Any]:
    read = {name: release[name] for name in TABLES if name in release}
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


def _arrow(table: pl.DataFrame, name: str) -> pa.Table:
    schema = SCHEMAS[name]
    columns = [_encoded(table[field.name], field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _encoded(column: pl.Series, kind: pa.DataType) -> pa.Array:
    """Return a column in its field's type; dictionaries are sorted."""
    if pa.types.is_dictionary(kind):
        values = column.unique().cast(pl.String).sort()
        codes = column.cast(pl.Enum(values)).to_physical().cast(pl.Int16)
        return pa.DictionaryArray.from_arrays(codes.to_arrow(), values.to_list())
    arrow = column.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest()).cast(kind)
    # The bits of null after a column's end are anything until it is copied.
    return pa.concat_arrays([arrow]) if arrow.null_count else arrow
