"""Compare the sample's concepts with an open knowledge base in RRF form.

    python assets/sample/verify.py [--open-kb DIR|TAR] [--sample DIR]

Concept identifiers of the sample were written by hand. Where the open knowledge base has a
concept or an English name too, this tells whether both give it the same identifier.
"""

import argparse
import io
import json
import re
import sys
import tarfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
TABLE = "MRCONSO.RRF"
ENGLISH = "ENG"
ABBREVIATION = "AB"
_CUI = re.compile(r"C\d{7}")


class Row(NamedTuple):
    """An English name of a concept."""

    cui: str
    name: str
    is_abbreviation: bool


@dataclass
class Names:
    """English names, in normal form, and concepts of a knowledge base."""

    of_concept: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    concepts_of: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    @classmethod
    def from_rows(cls, rows: Iterable[Row]) -> "Names":
        """Index rows in both directions."""
        names = cls()
        for row in rows:
            names.of_concept[row.cui].add(normalize(row.name))
            names.concepts_of[normalize(row.name)].add(row.cui)
        return names


@dataclass
class Report:
    """What the comparison found. Names stand with their CUI in the sample."""

    confirmed: list[str] = field(default_factory=list)
    unconfirmed: list[str] = field(default_factory=list)
    agreeing: list[Row] = field(default_factory=list)
    homonyms: list[Row] = field(default_factory=list)
    contradicting: list[Row] = field(default_factory=list)
    contradicting_abbreviations: list[Row] = field(default_factory=list)


def main() -> int:
    """Run the command line; return the exit status."""
    args = _parse_args()
    if not args.open_kb.exists():
        print(f"open knowledge base not present, skipped: {args.open_kb}")
        return 0
    if not (args.sample / TABLE).exists():
        print(f"no sample to compare: {args.sample / TABLE}", file=sys.stderr)
        return 1
    sample = read_english(args.sample)
    known = Names.from_rows(read_english(args.open_kb))
    report = compare(sample, known)
    print_report(report, sample, known)
    return 1 if report.contradicting else 0


def _parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Compare the sample's concepts with an open knowledge base in RRF form."
    )
    parser.add_argument(
        "--open-kb",
        type=Path,
        default=HERE.parents[1] / "../shared/data/open_kb.tar.xz",
        help=f"folder with {TABLE}, or a tar archive of it",
    )
    parser.add_argument(
        "--sample", type=Path, default=HERE / "META", help=f"folder with the sample's {TABLE}"
    )
    return parser.parse_args()


def normalize(name: str) -> str:
    """Return a name in lower case with single spaces."""
    return " ".join(name.lower().split())


def read_english(path: Path) -> list[Row]:
    """Read the unsuppressed English names of concepts that have a CUI of UMLS."""
    rows = []
    with _open_table(path) as lines:
        for line in lines:
            columns = line.split("|")
            cui, language, term_type, name = columns[0], columns[1], columns[12], columns[14]
            if language == ENGLISH and columns[16] == "N" and _CUI.fullmatch(cui):
                rows.append(Row(cui, name, term_type == ABBREVIATION))
    return rows


@contextmanager
def _open_table(path: Path) -> Iterator[Iterable[str]]:
    """Open MRCONSO in a folder, or inside a tar archive; only line feeds end its lines."""
    if path.is_dir():
        with (path / TABLE).open(encoding="utf-8", newline="\n") as lines:
            yield lines
        return
    with tarfile.open(path) as archive:
        member = next((member for member in archive if Path(member.name).name == TABLE), None)
        stream = archive.extractfile(member) if member else None
        if stream is None:
            raise FileNotFoundError(f"no {TABLE} in {path}")
        with io.TextIOWrapper(stream, encoding="utf-8", newline="\n") as lines:
            yield lines


def compare(sample: list[Row], known: Names) -> Report:
    """Look every concept and every English name of the sample up in a knowledge base."""
    report = Report()
    own = Names.from_rows(sample)
    for cui, names in sorted(own.of_concept.items()):
        if cui in known.of_concept:
            confirmed = names & known.of_concept[cui]
            (report.confirmed if confirmed else report.unconfirmed).append(cui)
    for row in sample:
        cuis = known.concepts_of.get(normalize(row.name))
        if cuis:
            _judge(row, cuis, own, report)
    return report


def _judge(row: Row, cuis: set[str], own: Names, report: Report) -> None:
    """File a name under agreeing or contradicting, given its CUIs in the knowledge base.

    A name that the sample also gives to one of those CUIs only has a sense more in the sample.
    """
    if row.cui in cuis:
        report.agreeing.append(row)
    elif cuis & own.concepts_of[normalize(row.name)]:
        report.homonyms.append(row)
    elif row.is_abbreviation:
        report.contradicting_abbreviations.append(row)
    else:
        report.contradicting.append(row)


def print_report(report: Report, sample: list[Row], known: Names) -> None:
    """Print the findings, and as the last line a summary in JSON."""
    preferred = {row.cui: row.name for row in reversed(sample)}
    for cui in report.unconfirmed:
        print(f"no shared name: {cui} {preferred[cui]!r}, there {_some(known.of_concept[cui])}")
    for label, rows in (
        ("other sense there", report.homonyms),
        ("abbreviation of another concept there", report.contradicting_abbreviations),
        ("contradiction", report.contradicting),
    ):
        for row in rows:
            cuis = ", ".join(sorted(known.concepts_of[normalize(row.name)]))
            print(f"{label}: {row.name!r} is {row.cui} here, {cuis} there")
    counts = summarize(report, sample)
    print(f"CUIs known there: {_share(counts['cuis_known'], counts['cuis'])}")
    print(f"  confirmed by a shared name: {_share(counts['confirmed'], counts['cuis_known'])}")
    print(f"English names known there: {_share(counts['names_known'], counts['names'])}")
    print(f"  of the same concept: {_share(counts['agreeing'], counts['names_known'])}")
    print(f"  contradicting: {_share(counts['contradicting'], counts['names_known'])}")
    print(json.dumps(counts))


def summarize(report: Report, sample: list[Row]) -> dict[str, int]:
    """Return the counts of a report."""
    judged = (
        report.agreeing,
        report.homonyms,
        report.contradicting_abbreviations,
        report.contradicting,
    )
    return {
        "cuis": len({row.cui for row in sample}),
        "cuis_known": len(report.confirmed) + len(report.unconfirmed),
        "confirmed": len(report.confirmed),
        "unconfirmed": len(report.unconfirmed),
        "names": len(sample),
        "names_known": sum(map(len, judged)),
        "agreeing": len(report.agreeing),
        "other_sense": len(report.homonyms),
        "contradicting_abbreviations": len(report.contradicting_abbreviations),
        "contradicting": len(report.contradicting),
    }


def _some(names: set[str], limit: int = 3) -> str:
    listed = [repr(name) for name in sorted(names)[:limit]]
    return ", ".join(listed + ["..."] * (len(names) > limit))


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / max(whole, 1):.1%})"


if __name__ == "__main__":
    sys.exit(main())
