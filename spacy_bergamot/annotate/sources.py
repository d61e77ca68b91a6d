"""Documents in: notes, JSON lines, tables and DocBins; text may be gzipped or come from stdin."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.inputs import parsed
from spacy_bergamot.text_files import STDIN, check_file, numbered_lines, open_text

Facts = dict[str, Any]
_LONGEST_CELL = 2**31 - 1  # csv's own limit is 131,072 characters, less than some notes


class Kind(str, Enum):
    """What documents are read from."""

    txt = "txt"
    jsonl = "jsonl"
    csv = "csv"
    tsv = "tsv"
    parquet = "parquet"
    spacy = "spacy"


class Entry(NamedTuple):
    """A document to link: its text, or why there is none, and what else is known of it."""

    text: str | Doc | None
    facts: Facts
    problem: str = ""


@dataclass(frozen=True)
class Source:
    """Where documents come from; make it with `Source.at`, which looks whether it is there.

    paths (tuple[Path, ...]): Files.
    kind (Kind): What they are.
    root (Path): Folder that ids of notes are relative to.
    text_column (str): Key or column of the text.
    lines (bool): A line of a .txt is a document, not the whole file.
    """

    paths: tuple[Path, ...]
    kind: Kind
    root: Path
    text_column: str = "text"
    lines: bool = False

    @classmethod
    def at(
        cls, path: Path, *, kind: Kind | None = None, text_column: str = "text", lines: bool = False
    ) -> "Source":
        """Return the documents at a path: a file, a folder of notes, or stdin (-).

        path (Path): Where they are.
        kind (Kind | None): None is what the path's ending says, and text of stdin.
        text_column (str): Key or column of the text.
        lines (bool): A line of a .txt is a document, not the whole file.
        RAISES (BergamotError): B001 if nothing is there, B102 if nothing of it can be read.
        """
        known = {f".{each.value}": each for each in Kind}
        if path == STDIN:
            return cls((path,), kind or Kind.txt, path, text_column, lines)
        if not path.exists():
            raise BergamotError(Errors.B001, path=path, remedy="Correct the path.")
        if path.is_dir():
            kind = kind or Kind.txt
            paths = tuple(file for file in sorted(path.rglob("*")) if _is(file, kind))
            root = path
        else:
            kind, paths, root = kind or known.get(_ending(path)), (path,), path.parent
        if kind is None or not paths:
            reason = f"it has no .{kind.value} file" if kind else "its ending is not known"
            names = ", ".join(f"{ending}, {ending}.gz" for ending in (".txt", ".jsonl", ".csv"))
            facts = {"reason": reason, "known": f"{names}, .tsv, .parquet, .spacy, a folder, -"}
            raise BergamotError(Errors.B102, path=path, **facts)
        return cls(paths, kind, root, text_column, lines)

    def count(self) -> int | None:
        """Return the number of documents, or None of stdin."""
        if STDIN in self.paths:
            return None
        if self.kind is Kind.spacy:
            return sum(map(len, self._stores))
        if self.kind is Kind.parquet:
            return sum(_parquet(path).metadata.num_rows for path in self.paths)
        return sum(1 for path in self.paths for _ in self._entries(path))

    def read(self, vocab: Vocab) -> Iterator[Entry]:
        """Yield the documents.

        vocab (Vocab): Of the documents of a .spacy file.
        RAISES (BergamotError): B002, B049, B057 or B102 for a file that is not what it should
            be. A note that cannot be read is an entry with a problem.
        """
        if self.kind is Kind.spacy:
            for path, store in zip(self.paths, self._stores, strict=True):
                for doc in _docs(store, path, vocab):
                    identifier = doc.user_data.get("id")
                    yield Entry(doc, {} if identifier is None else {"id": identifier})
            return
        for path in self.paths:
            yield from self._entries(path)

    @cached_property
    def _stores(self) -> list[DocBin]:
        return [read_docbin(path) for path in self.paths]

    def _entries(self, path: Path) -> Iterator[Entry]:
        if self.kind is Kind.parquet:
            yield from self._of_rows(_parquet_rows(path, self.text_column))
        elif self.kind in (Kind.csv, Kind.tsv):
            yield from self._of_rows(_table_rows(path, self.kind, self.text_column))
        elif self.kind is Kind.jsonl:
            for number, line in numbered_lines(path):
                entry = parse_entry(path, number, line, key=self.text_column, halves=True)
                yield Entry(entry.pop(self.text_column), entry)
        elif self.lines:
            for _, line in numbered_lines(path, blank=True):
                yield Entry(line, {})
        else:
            yield self._note(path)

    def _of_rows(self, rows: Iterator[Facts]) -> Iterator[Entry]:
        for row in rows:
            text = row.pop(self.text_column)
            if isinstance(text, str):
                yield Entry(text, row)
            else:
                yield Entry(None, row, f"'{self.text_column}' holds no text")

    def _note(self, path: Path) -> Entry:
        """Return a file's whole text; its path is its id."""
        if path == STDIN:
            facts = {}
        else:
            name = path.relative_to(self.root).as_posix()
            facts = {"id": name.removesuffix(".gz").removesuffix(".txt")}
        try:
            with open_text(path, newline="") as stream:
                return Entry(stream.read(), facts)
        except BergamotError as error:
            return Entry(None, facts, str(error))


def parse_entry(
    path: Path, number: int, line: str, *, key: str = "text", halves: bool = False
) -> Facts:
    """Return a JSON object that has a text.

    path (Path): The file, for errors.
    number (int): Of the line, from 1.
    line (str): The line.
    key (str): Of the text.
    halves (bool): Let half a surrogate pair pass, so that one document fails and no other.
    RAISES (BergamotError): B057 for anything else.
    """
    try:
        entry = parsed(line, halves=halves)
        if not isinstance(entry, dict) or not isinstance(entry.get(key), str):
            raise ValueError("it has none")
    except ValueError as reason:
        said = f'no JSON object with a "{key}" ({reason}): {line[:80]}'
        raise BergamotError(Errors.B057, path=path, line=number, reason=said) from None
    return entry


def read_docbin(path: Path) -> DocBin:
    """Return the documents of a .spacy file.

    path (Path): The file.
    RAISES (BergamotError): B001 if it is missing, B108 if it is a folder, B002 if it is no DocBin.
    """
    check_file(path)
    try:
        return DocBin().from_disk(path)
    except Exception as reason:  # zlib, msgpack and KeyError, whatever breaks first
        raise BergamotError(Errors.B002, path=path, what="a DocBin", reason=repr(reason)) from None


def docs_of(path: Path, vocab: Vocab) -> Iterator[Doc]:
    """Yield the documents of a .spacy file.

    path (Path): The file.
    vocab (Vocab): Of the documents.
    RAISES (BergamotError): As `read_docbin`.
    """
    yield from _docs(read_docbin(path), path, vocab)


def _docs(store: DocBin, path: Path, vocab: Vocab) -> Iterator[Doc]:
    try:
        yield from store.get_docs(vocab)
    except Exception as reason:
        raise BergamotError(Errors.B002, path=path, what="a DocBin", reason=repr(reason)) from None


def _ending(path: Path) -> str:
    """Return a path's ending in lower case, without .gz."""
    name = path.name.lower()
    return Path(name.removesuffix(".gz")).suffix


def _is(path: Path, kind: Kind) -> bool:
    return path.is_file() and not path.name.startswith(".") and _ending(path) == f".{kind.value}"


def _table_rows(path: Path, kind: Kind, column: str) -> Iterator[Facts]:
    before = csv.field_size_limit(_LONGEST_CELL)
    with open_text(path, newline="") as stream:
        rows = csv.DictReader(stream, dialect="excel-tab" if kind is Kind.tsv else "excel")
        try:
            _check_column(path, column, rows.fieldnames or ())
            for row in rows:
                row.pop(None, None)  # cells beyond the header
                yield dict(row)
        except csv.Error as reason:
            raise BergamotError(Errors.B057, path=path, line=rows.line_num, reason=reason) from None
        finally:
            csv.field_size_limit(before)  # it is the whole process's


def _parquet(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path)
    except pa.ArrowInvalid as reason:
        raise BergamotError(Errors.B002, path=path, what="Parquet", reason=reason) from None


def _parquet_rows(path: Path, column: str) -> Iterator[Facts]:
    file = _parquet(path)
    _check_column(path, column, file.schema_arrow.names)
    for batch in file.iter_batches(batch_size=1000):
        yield from batch.to_pylist()


def _check_column(path: Path, column: str, columns: Any) -> None:
    if column not in columns:
        reason = f"it has no column '{column}' (--text-column)"
        names = f"columns {', '.join(columns)}" if columns else "no columns"
        raise BergamotError(Errors.B102, path=path, reason=reason, known=names)
