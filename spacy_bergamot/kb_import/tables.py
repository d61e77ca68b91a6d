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

from spacy_bergamot.kb.concept_table import SCHEMAS, ConceptTable
from spacy_bergamot.kb_import.atoms import read_atoms
from spacy_bergamot.kb_import.concept_types import read_types, wanted_concepts
from spacy_bergamot.kb_import.errors import BergamotError, Errors
from spacy_bergamot.kb_import.filters import Filters
from spacy_bergamot.kb_import.keys import combined, first_rows, is_first, sorted_rows
from spacy_bergamot.kb_import.progress import timed
from spacy_bergamot.kb_import.relations import relation_table
from spacy_bergamot.kb_import.release import TABLES
from spacy_bergamot.kb_import.rrf import RrfTable, open_release
from spacy_bergamot.kb_import.sources import release_sources, terms_of

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

    meta (Path): Folder with MRCONSO.RRF or .gz, or a release's archive; MRREL, MRSTY, MRDEF,
        MRRANK and MRSAB are optional, and so is MRSAB.tsv (see `sources`).
    add_inverses (bool): Add the inverse of every relation, for sources that store one direction.
    max_malformed (float): Share of a file's lines that may be malformed; they are skipped.
    RETURNS (dict): The table's manifest.
    RAISES (BergamotError): T101 if MRCONSO is missing, T102 if it is empty, T103 if too much of a
        file is malformed, T104 if no concept is left, T110 for a filter that fits no row.
    """
    release = open_release(meta, max_malformed=max_malformed)
    missing = [name for name in TABLES if name not in release]
    for name in missing:
        logger.warning("%s is missing; going on without it", meta / f"{name}.RRF")
    dropped: Counter[str] = Counter()
    with timed("Reading the names"):
        ids, names = read_atoms(release["MRCONSO"], release.get("MRRANK"), filters, dropped)
        types, known = read_types(release.get("MRSTY"), ids)
    if filters.semantic_types or filters.semantic_groups:
        wanted = wanted_concepts(types, known, filters, path=meta / "MRSTY.RRF")
        before = names.height
        ids, names, types = _only(wanted, ids, names, types)
        dropped["names: semantic type"] += before - names.height
    if not names.height:
        raise BergamotError(Errors.T104, path=meta, dropped=dict(dropped))
    codes = _arrow(_codes(names, len(ids)), "codes")
    names = _best_first(names, len(ids))
    concepts = _arrow(_concepts(ids, names, release.get("MRDEF"), filters), "concepts")
    aliases = _arrow(_aliases(names), "aliases")
    del names
    with timed("Reading the relations"):
        relations = relation_table(
            release.get("MRREL"), ids, filters=filters, add_inverses=add_inverses, dropped=dropped
        )
    tables = {
        "concepts": concepts,
        "aliases": aliases,
        "types": _arrow(types, "types"),
        "codes": codes,
        "relations": relations,
    }
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


def _only(
    wanted: pl.Series, ids: pl.Series, names: pl.DataFrame, types: pl.DataFrame
) -> tuple[pl.Series, pl.DataFrame, pl.DataFrame]:
    """Return the ids, names and types of these concepts alone, numbered anew."""
    kept = np.zeros(len(ids), dtype=bool)
    kept[wanted.to_numpy()] = True
    number = np.cumsum(kept, dtype=np.int32) - 1
    frames = []
    for frame in (names, types):
        concepts = frame["concept"].to_numpy()
        rows = kept[concepts]
        frames.append(frame.filter(pl.Series(rows)).with_columns(concept=number[concepts[rows]]))
    return ids.filter(pl.Series(kept)), frames[0], frames[1]


def _best_first(names: pl.DataFrame, concepts: int) -> pl.DataFrame:
    """Sort names by concept and from the preferred name downwards; without codes and merits.

    Only names that are alike in both are compared by their strings.
    """
    merit = names["merit"].to_numpy()
    keys = combined((names["concept"].to_numpy(), merit), (concepts, int(merit.max()) + 1))
    ties = names.select("STR", "LAT", "SAB", "TTY")
    order = sorted_rows(keys, ties)
    return names.select("concept", "STR", "LAT", "SAB", "TTY")[order]


def _concepts(
    ids: pl.Series, names: pl.DataFrame, definitions: RrfTable | None, filters: Filters
) -> pl.DataFrame:
    """Return concept_id, name and definition: of several the first by source, then by text."""
    preferred = names["STR"].filter(pl.Series(is_first(names["concept"].to_numpy())))
    table = pl.DataFrame({"concept_id": ids, "name": preferred})
    if definitions is None:
        return table.with_columns(definition=pl.lit(None, pl.String))
    rows = definitions.frame("CUI", "SAB", "DEF", "SUPPRESS")
    rows = rows.filter(~pl.col("SUPPRESS").is_in(filters.suppress)).sort("CUI", "SAB", "DEF")
    first = rows.unique("CUI", keep="first").select(concept_id="CUI", definition="DEF")
    return table.join(first, on="concept_id", how="left", maintain_order="left")


def _aliases(names: pl.DataFrame) -> pl.DataFrame:
    """Return one row per distinct (concept, language, string), from its first-ranking row."""
    first = first_rows(names.select("concept", "LAT", "STR"))
    distinct = names.filter(pl.Series(first == np.arange(len(names))))
    return distinct.select("concept", alias="STR", language="LAT", source="SAB", term_type="TTY")


def _codes(names: pl.DataFrame, concepts: int) -> pl.DataFrame:
    """Return concept, source and code: distinct and sorted."""
    coded = names.filter(pl.col("CODE") != "").select("concept", "CODE", source="SAB")
    sources = pl.Enum(coded["source"].unique().cast(pl.String).sort())
    coded = coded.with_columns(pl.col("source").cast(sources))
    numbers = [coded[column].to_physical().to_numpy() for column in ("concept", "source")]
    keys = combined(numbers, (concepts, len(sources.categories)))
    order = sorted_rows(keys, coded.select("CODE"))
    coded, fresh = coded[order], is_first(keys[order])
    code = pl.col("CODE")
    return coded.filter(pl.lit(pl.Series(fresh)) | code.ne_missing(code.shift())).rename(
        {"CODE": "code"}
    )


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
    """Return a column in its field's type; dictionaries are in order of first appearance."""
    if not pa.types.is_dictionary(kind):
        arrow = column.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(kind)
        # The bits of null after a column's end are anything until it is copied.
        return pa.concat_arrays([arrow]) if arrow.null_count else arrow
    categories = column if column.dtype == pl.Enum else column.cast(pl.Categorical)
    values = categories.unique(maintain_order=True)
    first, codes = values.to_physical().to_numpy(), categories.to_physical().to_numpy()
    places = np.zeros(int(first.max(initial=0)) + 1, dtype=f"int{kind.index_type.bit_width}")
    places[first] = np.arange(len(first))
    texts = pa.array(values.cast(pl.String).to_list(), type=kind.value_type)
    return pa.DictionaryArray.from_arrays(pa.array(places[codes]), texts)
