"""The two vocabularies that are matched."""

from pathlib import Path
from typing import NamedTuple

import polars as pl
from spacy.util import is_package

from spacy_bergamot.encoder.text_encoder import TextEncoder, fingerprint
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.kb.concept_table import PREFIXED_ID, ConceptTable
from spacy_bergamot.kb_import.ontology.records import accession_of
from spacy_bergamot.linking import generators
from spacy_bergamot.linking.candidates import CandidateGenerator
from spacy_bergamot.linking.filters import CandidateFilter
from spacy_bergamot.pipeline.build import lm_folder
from spacy_bergamot.pipeline.loaders import language_model
from spacy_bergamot.pipeline.pipelines import linker_of, load_pipeline
from training.errors import BergamotError, Errors
from training.tables import concept_table_of, with_a_name_in_common

_CUI = "UMLS:"


class Side(NamedTuple):
    """A vocabulary.

    table (ConceptTable): Its concepts.
    generator (CandidateGenerator | None): Finds them by name; of a pipeline, or where one was made.
    """

    table: ConceptTable
    generator: CandidateGenerator | None = None


def open_side(path: Path, scratch: Path, *, device: str = "cpu") -> Side:
    """Open a pipeline, a concept table, or what one is made of.

    path (Path): One of these; of a pipeline a folder or the name of an installed package.
    scratch (Path): Where a concept table is made. device (str): Of a pipeline's language model.
    """
    if not ((path / "config.cfg").is_file() or (not path.exists() and is_package(str(path)))):
        return Side(ConceptTable.open(concept_table_of(path, scratch)))
    parts = linker_of(load_pipeline(str(path), device=device))[0].parts
    return Side(parts.index.table, _generator(parts.encoder, parts.index))


def searchable(
    side: Side,
    scratch: Path,
    *,
    lm: str | Path,
    device: str = "cpu",
    precision: str = "fp32",
    vectors: Path | None = None,
) -> Side:
    """Return a side with an index: a pipeline has one, for others it is made.

    scratch (Path): Folder that it is made in.
    lm (str | Path), device (str), precision (str): Its language model.
    vectors (Path | None): Folder that keeps its vectors, to go on after an interruption.
    """
    if side.generator is not None:
        return side
    with lm_folder(lm) as folder:
        language_model(str(folder))(scratch / "lm")
    encoder = TextEncoder.open(scratch / "lm", device=device, precision=precision)
    AliasIndex.build(
        scratch / "index",
        side.table.path,
        encoder,
        lm_fingerprint=fingerprint(scratch / "lm"),
        engine="exact",
        vectors=vectors,
        progress=True,
    )
    index = AliasIndex.open(scratch / "index", checksums=False)
    return Side(index.table, _generator(encoder, index))


def check_ids(left: ConceptTable, right: ConceptTable) -> None:
    """Refuse two tables with the same ids for other things.

    RAISES (BergamotError): T318 if most concepts of the same id have no name in common.
    """
    same = [one for one in left if one in right]
    like = set(with_a_name_in_common(left, right))
    unlike = [one for one in same if one not in like]
    if len(unlike) > len(same) / 2:
        first = unlike[0]
        raise BergamotError(
            Errors.T318,
            count=len(unlike),
            all=len(same),
            concept_id=first,
            left=left.name(left.row(first)),
            right=right.name(right.row(first)),
        )


def curie(concept_id: str) -> str:
    """Return a concept id as SSSOM has it; one without a prefix stays, unless it is a CUI."""
    if PREFIXED_ID.fullmatch(concept_id):
        return concept_id.replace("_", ":", 1)
    return accession_of(_CUI + concept_id) or concept_id


def rows_of_ids(table: ConceptTable, ids: list[str]) -> dict[str, int]:
    """Return the rows of ids, or of codes that one concept has; others are left out."""
    found: dict[str, int] = {}
    for one in ids:
        accession = accession_of(one) or one
        for spelt in (one, accession, accession.removeprefix(_CUI)):
            if (row := table.find(spelt)) is not None:
                found[one] = row
                break
    missing = {accession_of(one) or one: one for one in ids if one not in found}
    codes = pl.DataFrame(pl.from_arrow(table.codes)).select("concept", pl.col("code"))
    codes = codes.filter(pl.col("code").is_in(list(missing))).unique()
    single = codes.filter(pl.len().over("code") == 1)
    return found | {missing[code]: row for row, code in single.iter_rows()}


def _generator(encoder: TextEncoder, index: AliasIndex) -> CandidateGenerator:
    parts: dict[str, generators.Generator] = {
        "exact": generators.ExactGenerator(),
        "lexical": generators.LexicalGenerator(),
        "dense": generators.DenseGenerator(),
    }
    mix = generators.EnsembleGenerator(
        parts, {"lexical": 0.1, "dense": 0.9}, combine="rescored", stop_at_exact=False
    )
    return CandidateGenerator(encoder, index, CandidateFilter(), generator=mix)


def conflict(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two concepts have semantic groups, and none in common."""
    return bool(one and other) and one.isdisjoint(other)


def groups_of(table: ConceptTable) -> list[frozenset[str]]:
    """Return the semantic groups of every concept; empty where none is known."""
    found: list[set[str]] = [set() for _ in range(len(table))]
    groups = table.types.column("group").to_pylist()
    for row, group in zip(table.keys("types").tolist(), groups, strict=True):
        if group:
            found[row].add(group)
    return [frozenset(one) for one in found]
