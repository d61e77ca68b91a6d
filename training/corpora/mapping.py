"""Gold ids of other vocabularies and retired CUIs to the concepts of a concept table.

MRCUI.RRF (UMLS Reference Manual, "Retired CUI Mapping"): CUI1|VER|REL|RELA|MAPREASON|CUI2|MAPIN|.
REL is SY where CUI1 was merged into CUI2, RB, RN or RO where CUI2 is broader, narrower or otherwise
related, DEL where there is no successor.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pyarrow as pa

from spacy_bergamot.folding import folded_words
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.text import normalize
from training.corpora.schema import MENTIONS, Corpus
from training.corpora.text import numbered
from training.errors import BergamotError, Errors
from training.tables import concepts_of, names_of

MERGED = ("SY",)
RELATED = ("SY", "RB", "RN", "RO")

# What vocabularies are called in corpora and in ontologies' ids: one name for each.
_SAME = {
    "MESH": "MSH", "MIM": "OMIM", "HPO": "HP", "DO": "DOID", "NCIT": "NCI", "ORPHANET": "ORPHA",
    "ORDO": "ORPHA", "SNOMED": "SNOMEDCT", "SNOMEDCT_US": "SNOMEDCT", "SNOMED_CT": "SNOMEDCT",
    "SNOMED-CT": "SNOMEDCT", "SNOMED-CT|AMT": "SNOMEDCT", "SCTSPA": "SNOMEDCT",
    "SCTID": "SNOMEDCT", "ICD10": "ICD10CM", "ICD-10": "ICD10CM", "ICD10-CM": "ICD10CM",
    "ICD10-PCS": "ICD10PCS", "MEDDRA": "MDR",
}  # fmt: skip

_CODED = re.compile(r"[\d:]")
_ID = re.compile(r"\w*:\S+|[A-Za-z]?[\d.]+")
"""An id or a code that no table has: HP:0001250, D999999, R50.9."""

logger = logging.getLogger(__name__)
Successors = dict[str, dict[str, list[str]]]


def map_concepts(
    corpus: Corpus,
    table: ConceptTable,
    *,
    vocabulary: str = "",
    codes: Path | None = None,
    mrcui: Path | None = None,
    related: bool = False,
) -> tuple[Corpus, dict[str, int]]:
    """Return the corpus with concepts of the table as gold ids, and counts of what became of ids.

    vocabulary (str): The one that ids without a prefix belong to, such as MSH; where not given
        they are looked up in all, and left alone if those disagree.
    codes (Path | None): `code<tab>concept` lines beside the table's own codes.
    mrcui (Path | None): MRCUI.RRF.
    related (bool): Follow retired CUIs to broader, narrower and related ones too.

    An id may be an English name too: of the concepts that are called so, else of those that have
    it as a name, else of the one that has a name of the same folded words ("osteoarthritis of the
    knee"). What has neither digit nor colon is a name before it is a code: atlases have codes such
    as HIP (of the hippocampus) and Heart. A code or name of several concepts gives all of them; in
    a composite mention the first alone, so that its parts stay as many. What cannot be mapped stays
    as it is: it is no NIL.
    """
    every = corpus.mentions["concepts"].to_pylist()
    distinct = {value for ids in every for value in ids}
    rows = {value: table.find(value) for value in distinct}
    known = {value: table.concept_id(row) for value, row in rows.items() if row is not None}
    left = distinct - known.keys()
    words = _by_name({value for value in left if not _CODED.search(value)}, table)
    by_code = _by_code(left - words.keys(), table, vocabulary=vocabulary, codes=codes)
    undecided = {value for value in left - words.keys() if not by_code.get(value)}
    by_name = words | _by_name(undecided, table)
    by_name |= _by_folded_name(undecided - by_name.keys(), table)
    successors = read_successors(mrcui, RELATED if related else MERGED) if mrcui else {}
    targets: dict[str, tuple[str, list[str]]] = {}
    for value in distinct:
        if value in known:
            targets[value] = ("already concepts", [known[value]])
        elif found := by_code.get(value):
            targets[value] = ("mapped by code", found)
        elif found := by_name.get(value):
            targets[value] = ("mapped by name", found)
        elif found := current(value, successors, table):
            targets[value] = ("retired, mapped", found)
        elif value in successors:
            targets[value] = ("retired, not in the table", [value])
        elif value in by_code:
            targets[value] = ("ambiguous, left", [value])
        else:
            targets[value] = ("unmapped", [value])
    counts = Counter(targets[value][0] for ids in every for value in ids)
    together = corpus.mentions["all_of"].to_pylist()
    mapped = [
        list(dict.fromkeys(c for v in ids for c in targets[v][1][: 1 if whole else None]))
        for ids, whole in zip(every, together, strict=True)
    ]
    column = MENTIONS.get_field_index("concepts")
    mentions = corpus.mentions.set_column(
        column, MENTIONS.field(column), pa.array(mapped, MENTIONS.field(column).type)
    )
    facts = {**corpus.facts, "mapping": dict(counts)}
    return replace(corpus, mentions=mentions, facts=facts), dict(counts)


def _by_code(
    ids: Iterable[str], table: ConceptTable, *, vocabulary: str, codes: Path | None
) -> dict[str, list[str]]:
    """Return the concepts of ids by their codes; none for what vocabularies disagree on."""
    parts = {value: _parts(value, vocabulary) for value in ids}
    local = [code for _, code in parts.values()]
    code = pl.col("code").cast(pl.String).str.to_uppercase()
    frame = (
        pl.DataFrame(pl.from_arrow(table.codes))
        .select("concept", pl.col("source").cast(pl.String), code=code)
        .filter(pl.col("code").str.split(":").list.last().is_in(local))
        .sort("concept")
    )
    found: dict[str, dict[str, list[str]]] = {}
    for row, source, value in frame.iter_rows():
        name, bare = _parts(value, source)
        found.setdefault(bare, {}).setdefault(name, []).append(table.concept_id(row))
    for number, line in numbered(codes) if codes else ():
        value, _, concept = line.partition("\t")
        row = table.find(concept)
        if row is None:
            logger.debug("%s:%d: %s is not in the table", codes, number, concept)
            continue
        name, bare = _parts(value, "")
        found.setdefault(bare, {}).setdefault(name, []).append(table.concept_id(row))
    return {
        value: _agreed(found[bare], name)
        for value, (name, bare) in parts.items()
        if bare in found and (not name or name in found[bare])
    }


def _by_name(ids: Iterable[str], table: ConceptTable) -> dict[str, list[str]]:
    """Return the concepts of ids that are English names of the table, in any case.

    Those that are called so, else those that have it as a name.
    """
    normal = {value: normalize(value) for value in ids}
    if not normal:
        return {}
    lower = pl.col("alias").str.to_lowercase()
    wanted = lower.is_in(list(normal.values()))
    names = names_of(table).filter(pl.col("language") == "ENG").with_columns(lower).filter(wanted)
    called = concepts_of(table).select("concept_id", alias=pl.col("name").str.to_lowercase())
    found: dict[str, list[str]] = {}
    # A concept may be called what means another alone, and is suppressed of it.
    called = called.join(names, on=["concept_id", "alias"], how="semi")
    for of in (names, called):  # the second takes the place of the first
        grouped = of.group_by("alias").agg(pl.col("concept_id").unique().sort())
        found |= dict(grouped.iter_rows())
    return {value: found[name] for value, name in normal.items() if name in found}


def _by_folded_name(ids: Iterable[str], table: ConceptTable) -> dict[str, list[str]]:
    """Return the concept of ids whose folded words are those of English names of it alone."""
    wanted: dict[tuple[str, ...], list[str]] = {}
    for value in ids:
        if (words := _folded(value)) and not _ID.fullmatch(value):
            wanted.setdefault(words, []).append(value)
    if not wanted:
        return {}
    found: dict[str, set[str]] = {}
    names = names_of(table).filter(pl.col("language") == "ENG").select("alias", "concept_id")
    for name, concept in names.iter_rows():
        for value in wanted.get(_folded(name), ()):
            found.setdefault(value, set()).add(concept)
    return {value: [*concepts] for value, concepts in found.items() if len(concepts) == 1}


def _folded(name: str) -> tuple[str, ...]:
    """Return the folded words of an English name, sorted."""
    return tuple(sorted(word.folded for word in folded_words(name, "ENG") if word.folded))


def _agreed(by_vocabulary: dict[str, list[str]], name: str) -> list[str]:
    """Return a vocabulary's concepts, or those that all vocabularies name."""
    if name:
        return list(dict.fromkeys(by_vocabulary[name]))
    sets = {frozenset(concepts) for concepts in by_vocabulary.values()}
    return sorted(sets.pop()) if len(sets) == 1 else []


def _parts(value: str, vocabulary: str) -> tuple[str, str]:
    """Return a vocabulary's one name and the code in upper case."""
    prefix, colon, code = value.upper().rpartition(":")
    name = (prefix if colon else vocabulary).upper()
    name = _SAME.get(name, name)
    if len(name) > 5 and name[:-3] in _SAME.values():  # a translation, such as MSHSPA
        name = name[:-3]
    return name, code.strip()


def read_successors(mrcui: Path, followed: tuple[str, ...]) -> Successors:
    """Return CUI1 to REL to CUI2 of the relations that are followed; deleted ones have none.

    RAISES (BergamotError): B057 for a line with too few fields.
    """
    found: Successors = {}
    for number, line in numbered(mrcui):
        fields = line.split("|")
        if len(fields) < 6:
            reason = f"no row of MRCUI: {len(fields)} fields where 6 belong"
            raise BergamotError(Errors.B057, path=mrcui, line=number, reason=reason)
        retired, _, rel, _, _, successor = fields[:6]
        by_rel = found.setdefault(retired, {})
        if rel in followed and successor:
            by_rel.setdefault(rel, []).append(successor)
    return found


def current(value: str, successors: Successors, table: ConceptTable) -> list[str]:
    """Return the concepts that a retired CUI became, by the closest relation that leads to any."""
    seen, front = {value}, [value]
    while front:
        following: list[str] = []
        for cui in front:
            by_rel = successors.get(cui, {})
            following += next((by_rel[rel] for rel in RELATED if rel in by_rel), [])
        fresh = [cui for cui in dict.fromkeys(following) if cui not in seen]
        seen.update(fresh)
        found = sorted(cui for cui in fresh if cui in table)
        if found:
            return found
        front = fresh
    return []
