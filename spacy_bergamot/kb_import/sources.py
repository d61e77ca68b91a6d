"""The sources of a release.

Version, restriction level and name are those of MRSAB.RRF; licence and address, for which it has no
column, those of MRSAB.tsv.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from spacy_bergamot.kb_import.errors import BergamotError, Errors
from spacy_bergamot.kb_import.rrf import RrfTable
from spacy_bergamot.storage.files import sha256
from spacy_bergamot.text_files import numbered_lines

TERMS = "MRSAB.tsv"
_COLUMNS = {
    "source": "SAB", "version": "version", "licence": "licence", "name": "name",
    "address": "address",
}  # fmt: skip
"""Our keys, and how the columns of MRSAB.tsv are called."""

_SPELLED = {
    "sab": "source", "rsab": "source", "prefix": "source", "license": "licence", "url": "address",
    "sver": "version", "son": "name",
}  # fmt: skip
"""Other names of the columns, in small letters."""


def release_sources(sab: RrfTable | None, terms: Path | None) -> list[dict[str, str]]:
    """Return the sources of a release: source, version, restriction, name; licence, address.

    sab (RrfTable | None): MRSAB.RRF. terms (Path | None): MRSAB.tsv, whose licences and addresses
        are added; a version and a name count where MRSAB.RRF says none.
    RAISES (BergamotError): T128 if MRSAB.tsv has no column SAB, B049 if it is not UTF-8.
    """
    rows = _of_sab(sab)
    for source, said in (read_terms(terms) if terms is not None else {}).items():
        entries = [row for row in rows if row["source"] == source]
        if not entries:
            entries = [{"source": source, "version": "", "restriction": "", "name": ""}]
            rows += entries
        for row in entries:
            row |= {key: value for key, value in said.items() if not row.get(key)}
    return sorted(rows, key=lambda row: (row["source"], row["version"], row["name"]))


def _of_sab(sab: RrfTable | None) -> list[dict[str, str]]:
    if sab is None:
        return []
    columns = {"RSAB": "source", "SVER": "version", "SRL": "restriction", "SON": "name"}
    return sab.frame(*columns).rename(columns).unique().to_dicts()


def terms_of(meta: Path) -> tuple[Path | None, list[dict[str, Any]]]:
    """Return a release folder's MRSAB.tsv, if it has one, and its name, bytes and SHA-256.

    meta (Path): The folder.
    """
    path = meta / TERMS
    if not path.is_file():
        return None, []
    return path, [{"name": TERMS, "bytes": path.stat().st_size, "sha256": sha256(path)}]


def read_terms(path: Path) -> dict[str, dict[str, str]]:
    """Return what a table of sources says, by source; empty fields are left out.

    path (Path): MRSAB.tsv.
    """
    found: dict[str, dict[str, str]] = {}
    columns: list[str] = []
    for _, line in numbered_lines(path):
        fields = [field.strip() for field in line.split("\t")]
        if not columns:
            names = [name.lower().lstrip("\ufeff") for name in fields]
            columns = [_SPELLED.get(name, name) for name in names]
            if "source" not in columns:
                raise BergamotError(Errors.T128, path=path, column="SAB", columns=", ".join(fields))
            continue
        row = {key: value for key, value in zip(columns, fields, strict=False) if value}
        if "source" in row:
            source = row.pop("source")
            found[source] = {key: row[key] for key in _COLUMNS if key in row}
    return found


def write_terms(path: Path, rows: Iterable[dict[str, str]]) -> None:
    """Write a table of sources; none where there are no rows.

    path (Path): The file.
    rows: Our keys and their values, of every source.
    """
    rows = list(rows)
    if not rows:
        return
    lines = [list(_COLUMNS.values())]
    lines += [[" ".join(row.get(key, "").split()) for key in _COLUMNS] for row in rows]
    text = "".join("\t".join(line) + "\n" for line in lines)
    path.write_text(text, encoding="utf8", newline="\n")
