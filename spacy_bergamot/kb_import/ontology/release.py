"""Records to RRF files."""

from collections.abc import Iterator
from pathlib import Path

from spacy_bergamot.kb.semantic_types import semantic_types
from spacy_bergamot.kb_import.ontology.records import UMLS, Name, Records, prefix_of
from spacy_bergamot.kb_import.ontology.types import IS_A, types_of
from spacy_bergamot.kb_import.relations import INVERSE_REL
from spacy_bergamot.kb_import.rrf_writer import Row, write_rrf
from spacy_bergamot.kb_import.sources import TERMS, write_terms
from spacy_bergamot.storage.files import atomic_folder
from spacy_bergamot.storage.manifest import write_manifest
from spacy_bergamot.text import normalize

_WRITTEN_IN = {"ICD10GM": "GER", "OPS": "GER"}
"""Languages of sources that are not written in English."""


def write_release(output: Path, records: Records, ids: dict[str, str]) -> dict[str, int]:
    """Write MRCONSO, MRREL, MRDEF, MRSTY and MRSAB; return their numbers of rows.

    MRSAB has no column for licences: they stand in MRSAB.tsv, which `preprocess` reads too. A
    relation is written in both directions. A code of another vocabulary that a term refers to
    is a row of MRCONSO with the concept's name and the term type XR.

    records (Records): All that was read. ids (Mapping): Concept ids, by accession.
    output (Path): The folder.
    """
    tables = {
        "MRCONSO": _conso(records, ids),
        "MRREL": _rel(records, ids),
        "MRDEF": _def(records, ids),
        "MRSTY": _sty(records, ids),
        "MRSAB": _sab(records),
    }
    with atomic_folder(output) as folder:
        rows = write_rrf(folder, tables)
        write_terms(folder / TERMS, _terms(records))
        write_manifest(folder, kind="release", version=1, rows=rows, skipped=records.skipped)
    return rows


def _source(records: Records, accession: str, language: str = "ENG") -> str:
    """Return the source's abbreviation in UMLS's manner: HP, and HPGER of a translation."""
    source = records.source_of(accession)
    return source + ("" if language in ("ENG", _WRITTEN_IN.get(source)) else language)


def _conso(records: Records, ids: dict[str, str]) -> Iterator[Row]:
    number = 0
    shown: dict[str, str] = {}
    strings: dict[str, int] = {}

    def row(
        concept: str, accession: str, language: str, text: str, kind: str, suppress: str
    ) -> Row:
        nonlocal number
        number += 1
        string = strings.setdefault(text, len(strings) + 1)
        code = records.code_of(accession)
        best, label = ("P", "Y") if kind == "PT" else ("S", "N")
        return {
            "CUI": concept, "LAT": language, "TS": best, "LUI": f"L{string:08d}", "STT": "PF",
            "SUI": f"S{string:08d}", "ISPREF": label, "AUI": f"A{number:08d}", "SCUI": code,
            "SAB": _source(records, accession, language), "TTY": kind, "CODE": code, "STR": text,
            "SRL": "0", "SUPPRESS": suppress,
        }  # fmt: skip

    for name in records.names:
        concept = ids[name.accession]
        if name.kind == "PT" and name.language == "ENG" and not name.suppressed:
            shown.setdefault(concept, name.text)
        taken = _is_taken(records, ids, name)
        records.skipped["names that mean another concept alone: suppressed"] += taken
        suppress = "Y" if name.suppressed or taken else "N"
        yield row(concept, name.accession, name.language, name.text, name.kind, suppress)
    named = {name.accession for name in records.names}
    codes = {(ids[a], code) for a, code in records.xrefs if a in named}
    codes |= {(concept, code) for code, concept in ids.items()}
    for concept, code in sorted(codes):
        if code not in named and prefix_of(code) not in ("", UMLS) and concept in shown:
            yield row(concept, code, "ENG", shown[concept], "XR", "N")


def _is_taken(records: Records, ids: dict[str, str], name: Name) -> bool:
    """Tell whether a table says that a name means other concepts alone."""
    if not records.exclusive:
        return False
    owners = records.exclusive.get((name.language, normalize(name.text)), set())
    concepts = {ids[owner] for owner in owners if owner in ids}
    return bool(concepts) and ids[name.accession] not in concepts


def _rel(records: Records, ids: dict[str, str]) -> Iterator[Row]:
    number = 0
    known = {name.accession for name in records.names}
    for subject, predicate, target in dict.fromkeys(records.relations):
        if subject not in known or target not in known or ids[subject] == ids[target]:
            records.skipped["relations to unknown terms or to itself"] += 1
            continue
        ends = (ids[subject], ids[target])
        rel, rela, inverse = _relation_names(records, predicate)
        # CUI2 stands in the relation RELA to CUI1.
        for kind, name, (first, second) in (
            (INVERSE_REL.get(rel, rel), inverse, ends),
            (rel, rela, ends[::-1]),
        ):
            number += 1
            source = _source(records, subject)
            yield {
                "CUI1": first, "STYPE1": "SCUI", "REL": kind, "CUI2": second, "STYPE2": "SCUI",
                "RELA": name, "RUI": f"R{number:08d}", "SAB": source, "SL": source,
                "SUPPRESS": "N",
            }  # fmt: skip


def _relation_names(records: Records, predicate: str) -> tuple[str, str, str]:
    """Return REL and RELA of a predicate, and RELA the other way round."""
    if predicate in records.relation_names:
        return records.relation_names[predicate]
    label = "isa" if predicate in IS_A else records.labels.get(predicate, predicate)
    label = "_".join(label.replace("|", " ").split())
    return ("CHD" if label == "isa" else "RO"), label, f"inverse_{label}"


def _def(records: Records, ids: dict[str, str]) -> Iterator[Row]:
    for number, (accession, text) in enumerate(dict.fromkeys(records.definitions), 1):
        if accession in ids:
            yield {
                "CUI": ids[accession], "ATUI": f"AT{number:08d}",
                "SAB": records.source_of(accession), "DEF": text, "SUPPRESS": "N",
            }  # fmt: skip


def _sty(records: Records, ids: dict[str, str]) -> Iterator[Row]:
    given = {(ids[a], tui) for a, tui in records.types if a in ids}
    typed = {concept for concept, _ in given}
    ours = types_of(records.relations, {name.accession for name in records.names})
    given |= {(ids[term], tui) for term, tui in ours.items() if ids[term] not in typed}
    network = {kind.tui: kind for kind in semantic_types()}
    for number, (concept, tui) in enumerate(sorted(given), 1):
        kind = network.get(tui)
        names = {"STN": kind.tree_number, "STY": kind.name} if kind else {}
        yield {"CUI": concept, "TUI": tui, "ATUI": f"AT{number:08d}", **names}


def _used(records: Records) -> list[str]:
    return sorted({records.source_of(name.accession) for name in records.names})


def _sab(records: Records) -> Iterator[Row]:
    for source in _used(records):
        said = records.sources.of(source)
        yield {
            "VSAB": source, "RSAB": source, "SON": _field(said.get("name", source)),
            "SVER": _field(said.get("version", "")), "SRL": "0",
        }  # fmt: skip


def _field(text: str) -> str:
    """Return a text on one line and without RRF's separator."""
    return " ".join(text.replace("|", "/").split())


def _terms(records: Records) -> Iterator[dict[str, str]]:
    """Yield what is known of the sources whose licence or address is known."""
    for source in _used(records):
        said = records.sources.of(source)
        if "licence" in said or "address" in said:
            yield {"source": source, **said}
