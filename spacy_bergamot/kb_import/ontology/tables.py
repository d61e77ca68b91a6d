"""Tables with a header: translations, mappings, edges, what they are called, names, ATC, sources.

Translations are Babelon's, mappings those of SSSOM, names of any kind.
Which one a table is, its columns say. A tab-separated row is one line; quotes may stand around a
field. Comma-separated ones follow RFC 4180.
"""

import csv
from collections.abc import Callable, Iterator
from itertools import chain
from typing import IO

from spacy_bergamot.inputs import Malformed, decoded, decoded_lines, parsed
from spacy_bergamot.kb_import.errors import BergamotError, Errors
from spacy_bergamot.kb_import.ontology.classifications import is_atc
from spacy_bergamot.kb_import.ontology.records import PREFIXES, Records, accession_of, language_of

Row = dict[str, str]
Reader = Callable[[Row, Records], bool]

_EXACT = {"SKOS:exactMatch", "OWL:equivalentClass"}
_MOST_SHOWN = 120
_UNTRANSLATED = "NOT_TRANSLATED"
"""Status of rows whose translation is the English name again."""
_UNREVIEWED = {"CANDIDATE", "UNDER_REVIEW"}
_NO = {"", "n", "no", "0", "false"}
_RENAMED = {
    "source_id": "subject_id", "predicate": "predicate_id", "translation_text": "translation_value",
    "translation_lang": "translation_language", "status": "translation_status",
    "concept_id": "id", "canonical_name": "name", "label": "name", "aliases": "synonyms",
    "xref": "xrefs", "types": "type",
    "sab": "source", "prefix": "source", "license": "licence", "url": "address",
    "tty": "term_type", "suppressed": "suppress",
    "atc code": "atc_code", "atc-code": "atc_code", "atc_name": "name", "atc level name": "name",
}  # fmt: skip
"""Other names of the same columns."""


def read_table(stream: IO[bytes], where: str, delimiter: str, records: Records) -> bool:
    """Add a table's rows; return False for one whose columns say nothing to us.

    stream (IO): The open file. where (str): Its name, for messages.
    records (Records): Gets what is read.
    delimiter (str): Between columns.
    RAISES (BergamotError): T116 for a file that is not UTF-8.
    """
    try:
        lines = decoded_lines(stream, ends=True)
        rows = _rows(lines, delimiter)
        _, header = next(rows, (0, []))
        names = [name.strip().lower() for name in header]
        kind = _kind(set(names))
        columns = [_RENAMED.get(name, name) if kind is not _edge else name for name in names]
        if kind is None:
            records.columns[where] = ", ".join(names)[:_MOST_SHOWN]
            return False
        language = ""  # of a ROBOT template, said by its second line
        for number, fields in rows:
            if len(fields) < len(columns):
                fields = [*fields, *[""] * (len(columns) - len(fields))]
            row = dict(zip(columns, fields, strict=False))
            if kind is _synonyms and row["subject_id"] == "ID":
                language = (row["translation_value"].partition("@")[2].split() or [""])[0]
            elif not kind({"translation_language": language, **row}, records):
                records.malformed(f"{where}:{number}", "|".join(fields)[:120])
    except Malformed as reason:
        place = f"{where}:{reason.line}"
        raise BergamotError(Errors.T116, path=place, what="a table", reason=reason) from None
    return True


def read_jsonl(stream: IO[bytes], where: str, records: Records) -> None:
    """Add concepts, one JSON object a line: scispaCy's keys, or those of a table of names.

    stream (IO): The open file. where (str): Its name, for messages.
    records (Records): Gets what is read.
    """
    for number, line in enumerate(stream, 1):
        try:
            entry = parsed(decoded(line).removeprefix("\ufeff"))
            row = {
                _RENAMED.get(key, key): "\t".join(map(str, value))
                if isinstance(value, list)
                else str(value or "")
                for key, value in entry.items()
            }
            known = _names(row, records, separator="\t")
        except (ValueError, AttributeError):
            known = False
        if not known and line.strip():
            records.malformed(f"{where}:{number}", line.decode("utf8", "replace").strip()[:120])


def _rows(lines: Iterator[tuple[int, str]], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and fields of the rows that are neither empty nor SSSOM's comments."""
    if delimiter == ",":
        yield from _comma_separated(lines)
        return
    for number, line in lines:
        line = line.rstrip("\r\n")
        if line.strip() and not line.startswith("#"):
            yield number, [_unquoted(field) for field in line.split(delimiter)]


def _comma_separated(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    """Where decimals have commas, spreadsheets separate by semicolons: the header says which."""
    _, header = next(lines, (0, ""))
    delimiter = ";" if ";" in header and "," not in header else ","
    texts = chain([header], (line for _, line in lines))
    reader = csv.reader(texts, delimiter=delimiter, strict=True)
    try:
        for fields in reader:
            if any(fields):
                yield reader.line_num, fields
    except csv.Error as reason:
        raise Malformed(reader.line_num, str(reason)) from None


def _unquoted(field: str) -> str:
    quoted = len(field) > 1 and field[0] == field[-1] == '"'
    return field[1:-1].replace('""', '"') if quoted else field


def _kind(columns: set[str]) -> Reader | None:
    renamed = {_RENAMED.get(column, column) for column in columns}
    kinds: list[tuple[set[str], Reader]] = [
        ({"subject_id", "predicate_id", "object_id"}, _mapping),
        ({"subject_id", "predicate_id", "translation_value"}, _translation),
        ({"subject_id", "translation_value"}, _synonyms),
        ({"id", "name"}, _names),
        ({"atc_code", "name"}, _atc),
        ({"predicate_id", "rela"}, _relation_names),
        ({"source", "licence"}, _source),
        ({"source", "version"}, _source),
    ]
    if {"x", "p", "y"} <= columns or {"subject", "predicate", "object"} <= columns:
        return _edge
    return next((reader for needed, reader in kinds if needed <= renamed), None)


def _mapping(row: Row, records: Records) -> bool:
    """SSSOM: what is exactly the same, and the labels beside it."""
    subject, target = _term(row["subject_id"]), _term(row["object_id"])
    if not subject or not target or any(c.isspace() for c in subject + target):
        return False
    for accession, label in ((subject, "subject_label"), (target, "object_label")):
        if row.get(label):
            records.name(accession, row[label], "PT", suppressed=False)
    predicate = accession_of(row["predicate_id"])
    if predicate == "OWL:sameAs":
        records.same.append((subject, target))
    elif predicate in _EXACT:
        records.matches.append((subject, target))
    else:
        records.skipped["mappings that are not exact"] += 1
    return True


def _translation(row: Row, records: Records) -> bool:
    """Babelon: labels, synonyms and definitions."""
    accession, language = accession_of(row["subject_id"]), row.get("translation_language", "")
    predicate, text = row["predicate_id"], row["translation_value"]
    if not accession or not language:
        return False
    suppressed = records.suppresses(unreviewed=bool(_statuses(row) & _UNREVIEWED))
    if _UNTRANSLATED in _statuses(row) or not text.strip():
        records.skipped["untranslated rows"] += 1
    elif "synonym" in predicate.lower():
        scope = "related" if suppressed else predicate
        records.synonym(accession, text, scope, language=language_of(language))
    elif predicate == "rdfs:label":
        records.name(accession, text, "PT", language=language_of(language), suppressed=suppressed)
    else:
        records.skipped["translations of other than names"] += 1
    return True


def _synonyms(row: Row, records: Records) -> bool:
    """Rows of a ROBOT template, whose second line names the language."""
    accession, language = accession_of(row["subject_id"]), row["translation_language"]
    if not accession or not language:
        return False
    if _UNTRANSLATED in _statuses(row):
        records.skipped["untranslated rows"] += 1
        return True
    suppressed = records.suppresses(unreviewed=bool(_statuses(row) & _UNREVIEWED))
    for text in row["translation_value"].split("|"):
        scope = "related" if suppressed else "exact"
        records.synonym(accession, text, scope, language=language_of(language))
    return True


def _statuses(row: Row) -> set[str]:
    """Return what a translation's row says of it, in whichever column."""
    return {row.get(column, "").strip().upper() for column in ("translation_status", "comment")}


def _edge(row: Row, records: Records) -> bool:
    subject, predicate, target = (
        row.get(a) or row.get(b, "")
        for a, b in (("x", "subject"), ("p", "predicate"), ("y", "object"))
    )
    ends = _term(subject), _term(target)
    if not all(ends) or any(c.isspace() for end in ends for c in end) or not predicate:
        return False
    records.relations.append((ends[0], accession_of(predicate) or predicate, ends[1]))
    return True


def _relation_names(row: Row, records: Records) -> bool:
    """What MRREL calls a predicate of edges: predicate, rela; optional: rel (RO), inverse."""
    predicate, rel, rela, inverse = (
        row.get(column, "").strip() for column in ("predicate_id", "rel", "rela", "inverse")
    )
    if not predicate or not _are_fields(rel, rela, inverse):
        return False
    names = (rel.upper() or "RO", rela, inverse)
    records.relation_names[accession_of(predicate) or predicate] = names
    return True


def _source(row: Row, records: Records) -> bool:
    """Read a row of source (a prefix such as HP); optional: version, licence, name, address."""
    prefix = _vocabulary(row["source"])
    if not prefix:
        return False
    said = {key: row.get(key, "").strip() for key in ("version", "licence", "name", "address")}
    records.sources.stated[prefix] = {k: v for k, v in said.items() if v}
    return True


def _names(row: Row, records: Records, separator: str = "|") -> bool:
    """Read a row of id and name.

    Optional: language, synonyms, abbreviations, term_type (of the name), suppress (all names of
    the row), exclusive (other concepts lose these names in this language), type, parents, xrefs,
    definition, source and code; several by |.
    """

    def several(column: str) -> list[str]:
        return [part.strip() for part in row.get(column, "").split(separator) if part.strip()]

    accession, text = _term(row.get("id", "")), row.get("name", "")
    language = language_of(row.get("language") or "en")
    kind = row.get("term_type", "").strip() or "PT"
    source, code = _vocabulary(row.get("source", "")), row.get("code", "").strip()
    types = several("type")
    if not accession or not text.strip():
        return False
    if not _are_fields(accession, language, kind, source, code, *types):
        return False
    suppressed, exclusive = _is_yes(row, "suppress"), _is_yes(row, "exclusive")
    named = [(text, kind)]
    named += [(synonym, "SY") for synonym in several("synonyms")]
    named += [(short, "AB") for short in several("abbreviations")]
    for name, term_type in named:
        records.name(accession, name, term_type, language=language, suppressed=suppressed)
        if exclusive:
            records.exclude(accession, name, language)
    if source or code:
        records.codes.setdefault(accession, (source, code))
    records.types += [(accession, tui) for tui in types]
    records.relations += [(accession, "is_a", _term(parent)) for parent in several("parents")]
    records.xrefs += [(accession, xref) for xref in map(accession_of, several("xrefs")) if xref]
    if row.get("definition"):
        records.definition(accession, row["definition"])
    return True


def _atc(row: Row, records: Records) -> bool:
    """A code of ATC and its name, a row for every defined daily dose; optional: language."""
    code, text = row["atc_code"].strip(), row["name"]
    if not is_atc(code) or not text.strip():
        return False
    accession, language = f"ATC:{code}", language_of(row.get("language") or "en")
    records.name(accession, text, "PT", language=language, suppressed=False)
    records.codes.setdefault(accession, ("ATC", code))
    records.classified.setdefault(accession, "")
    return True


def _term(identifier: str) -> str:
    """Return an accession, or a plain id as it is."""
    return accession_of(identifier) or identifier.strip()


def _vocabulary(text: str) -> str:
    """Return a prefix, such as HP, in the one spelling that is used here."""
    prefix = text.strip().rstrip(":").upper()
    return PREFIXES.get(prefix, prefix)


def _is_yes(row: Row, column: str) -> bool:
    return row.get(column, "").strip().lower() not in _NO


def _are_fields(*values: str) -> bool:
    """Tell whether values fit into RRF, whose fields have neither bar nor line end."""
    return not any(separator in value for value in values for separator in "|\r\n")
