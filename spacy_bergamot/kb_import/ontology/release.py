"""Records to RRF files."""

from collections.abc import Iterator
from pathlib import Path

from spacy_bergamot.kb_import.ontology.records import UMLS, Records, prefix_of
from spacy_bergamot.kb_import.ontology.types import IS_A, types_of
from spacy_bergamot.kb_import.rrf_writer import Row, write_rrf
from spacy_bergamot.kb_import.sources import TERMS, write_terms
from spacy_bergamot.storage.files import atomic_folder
from spacy_bergamot.storage.manifest import write_manifest


def write_release(output: Path, records: Records, ids: dict[str, str]) -> dict[str, int]:
    """Write MRCONSO, MRREL, MRDEF, MRSTY and MRSAB; return their numbers of rows.

    MRSAB has no column for licences: they stand in MRSAB.tsv, which `preprocess` reads too. A
    relation is written in both directions. A code of another vocabulary that a term refers to
    is a row of MRCONSO with the concept's name and the term type XR.
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


def _source(accession: str, language: str = "ENG") -> str:
    """Return the source's abbreviation in UMLS's manner: HP, HPGER; LOCAL for a plain id."""
    return (prefix_of(accession) or "LOCAL") + ("" if language == "ENG" else language)


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
        best, label = ("P", "Y") if kind == "PT" else ("S", "N")
        return {
            "CUI": concept, "LAT": language, "TS": best, "LUI": f"L{string:08d}", "STT": "PF",
            "SUI": f"S{string:08d}", "ISPREF": label, "AUI": f"A{number:08d}", "SCUI": accession,
            "SAB": _source(accession, language), "TTY": kind, "CODE": accession, "STR": text,
            "SRL": "0", "SUPPRESS": suppress,
        }  # fmt: skip

    for name in records.names:
        concept = ids[name.accession]
        if name.kind == "PT" and name.language == "ENG":
            shown.setdefault(concept, name.text)
        suppress = "Y" if name.suppressed else "N"
        yield row(concept, name.accession, name.language, name.text, name.kind, suppress)
    named = {name.accession for name in records.names}
    codes = {(ids[a], code) for a, code in records.xrefs if a in named}
    codes |= {(concept, code) for code, concept in ids.items()}
    for concept, code in sorted(codes):
        if code not in named and prefix_of(code) not in ("", UMLS) and concept in shown:
            yield row(concept, code, "ENG", shown[concept], "XR", "N")


def _rel(records: Records, ids: dict[str, str]) -> Iterator[Row]:
    number = 0
    known = {name.accession for name in records.names}
    for subject, predicate, target in dict.fromkeys(records.relations):
        if subject not in known or target not in known or ids[subject] == ids[target]:
            records.skipped["relations to unknown terms or to itself"] += 1
            continue
        label = "isa" if predicate in IS_A else records.labels.get(predicate, predicate)
        label = "_".join(label.replace("|", " ").split())
        up, down = ("PAR", "CHD") if label == "isa" else ("RO", "RO")
        ends = (ids[subject], ids[target])
        # CUI2 stands in the relation RELA to CUI1.
        for rel, rela, (first, second) in (
            (up, f"inverse_{label}", ends),
            (down, label, ends[::-1]),
        ):
            number += 1
            source = _source(subject)
            yield {
                "CUI1": first, "STYPE1": "SCUI", "REL": rel, "CUI2": second, "STYPE2": "SCUI",
                "RELA": rela, "RUI": f"R{number:08d}", "SAB": source, "SL": source,
                "SUPPRESS": "N",
            }  # fmt: skip


def _def(records: Records, ids: dict[str, str]) -> Iterator[Row]:
    for number, (accession, text) in enumerate(dict.fromkeys(records.definitions), 1):
        if accession in ids:
            yield {
                "CUI": ids[accession], "ATUI": f"AT{number:08d}", "SAB": _source(accession),
                "DEF": text, "SUPPRESS": "N",
            }  # fmt: skip


def _sty(records: Records, ids: dict[str, str]) -> Iterator[Row]:
    given = {(ids[a], tui) for a, tui in records.types if a in ids}
    typed = {concept for concept, _ in given}
    ours = types_of(records.relations, {name.accession for name in records.names})
    given |= {(ids[term], tui) for term, tui in ours.items() if ids[term] not in typed}
    for number, (concept, tui) in enumerate(sorted(given), 1):
        yield {"CUI": concept, "TUI": tui, "ATUI": f"AT{number:08d}"}


def _used(records: Records) -> list[str]:
    return sorted({prefix_of(name.accession) for name in records.names})


def _sab(records: Records) -> Iterator[Row]:
    for prefix in _used(records):
        said = {k: v.replace("|", "/") for k, v in records.sources.of(prefix).items()}
        source = _source(prefix + ":")
        yield {
            "VSAB": source, "RSAB": source, "SON": said.get("name", source),
            "SVER": said.get("version", ""), "SRL": "0",
        }  # fmt: skip


def _terms(records: Records) -> Iterator[dict[str, str]]:
    """Yield what is known of the sources whose licence or address is known."""
    for prefix in _used(records):
        said = records.sources.of(prefix)
        if "licence" in said or "address" in said:
            yield {"source": _source(prefix + ":"), **said}
