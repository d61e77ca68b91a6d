"""Records to RRF files."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from spacy_bergamot.kb_import.ontology.records import UMLS, Records, prefix_of
from spacy_bergamot.kb_import.ontology.types import IS_A, types_of
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
        rows = {name: _write(folder / f"{name}.RRF", lines) for name, lines in tables.items()}
        write_terms(folder / TERMS, _terms(records))
        write_manifest(folder, kind="release", version=1, rows=rows, skipped=records.skipped)
    return rows


def _write(path: Path, rows: Iterable[tuple[str, ...]]) -> int:
    count = 0
    with path.open("w", encoding="utf8", newline="\n") as stream:
        for count, row in enumerate(rows, 1):  # noqa: B007
            stream.write("|".join(row) + "|\n")
    return count


def _source(accession: str, language: str = "ENG") -> str:
    """Return the source's abbreviation in UMLS's manner: HP, HPGER; LOCAL for a plain id."""
    return (prefix_of(accession) or "LOCAL") + ("" if language == "ENG" else language)


def _conso(records: Records, ids: dict[str, str]) -> Iterator[tuple[str, ...]]:
    number = 0
    shown: dict[str, str] = {}
    strings: dict[str, int] = {}

    def row(
        concept: str, accession: str, language: str, text: str, kind: str, suppress: str
    ) -> tuple[str, ...]:
        nonlocal number
        number += 1
        string = strings.setdefault(text, len(strings) + 1)
        best, label = ("P", "Y") if kind == "PT" else ("S", "N")
        atom, term = f"A{number:08d}", f"{string:08d}"
        source = _source(accession, language)
        return (
            concept, language, best, f"L{term}", "PF", f"S{term}", label, atom, "",
            accession, "", source, kind, accession, text, "0", suppress, "",
        )  # fmt: skip

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


def _rel(records: Records, ids: dict[str, str]) -> Iterator[tuple[str, ...]]:
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
            yield (
                first, "", "SCUI", rel, second, "", "SCUI", rela, f"R{number:08d}", "", source,
                source, "", "", "N", "",
            )  # fmt: skip


def _def(records: Records, ids: dict[str, str]) -> Iterator[tuple[str, ...]]:
    for number, (accession, text) in enumerate(dict.fromkeys(records.definitions), 1):
        if accession in ids:
            yield ids[accession], "", f"AT{number:08d}", "", _source(accession), text, "N", ""


def _sty(records: Records, ids: dict[str, str]) -> Iterator[tuple[str, ...]]:
    given = {(ids[a], tui) for a, tui in records.types if a in ids}
    typed = {concept for concept, _ in given}
    ours = types_of(records.relations, {name.accession for name in records.names})
    given |= {(ids[term], tui) for term, tui in ours.items() if ids[term] not in typed}
    for number, (concept, tui) in enumerate(sorted(given), 1):
        yield concept, tui, "", "", f"AT{number:08d}", ""


def _used(records: Records) -> list[str]:
    return sorted({prefix_of(name.accession) for name in records.names})


def _sab(records: Records) -> Iterator[tuple[str, ...]]:
    for prefix in _used(records):
        said = {k: v.replace("|", "/") for k, v in records.sources.of(prefix).items()}
        row = [""] * 25
        row[2] = row[3] = _source(prefix + ":")
        row[4], row[6], row[13] = said.get("name", row[3]), said.get("version", ""), "0"
        yield tuple(row)


def _terms(records: Records) -> Iterator[dict[str, str]]:
    """Yield what is known of the sources whose licence or address is known."""
    for prefix in _used(records):
        said = records.sources.of(prefix)
        if "licence" in said or "address" in said:
            yield {"source": _source(prefix + ":"), **said}
