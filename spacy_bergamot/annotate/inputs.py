"""The rows that a job annotates: Parquet, by parts of it, and whatever else `link` reads."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from spacy.vocab import Vocab

from spacy_bergamot.annotate.documents import problem_of
from spacy_bergamot.annotate.sources import Entry, Kind, Source
from spacy_bergamot.annotate.store import located
from spacy_bergamot.errors import BergamotError, Errors

PROBLEM = "__problem__"
"""Column that says why a row has no text, where the source says it."""
_AT_ONCE = 256
_CHANGED = ("mtime", "ETag", "etag", "LastModified", "last_modified", "updated", "created")


class Input(ABC):
    """Rows in an order. name (str): What messages and the plan call it. rows (int): How many."""

    name: str
    rows: int
    schema: pa.Schema

    def __init__(self) -> None:
        self._at = 0
        self._tables: Iterator[pa.Table] | None = None
        self._rest: pa.Table | None = None

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return what tells whether the input has changed."""

    @abstractmethod
    def tables(
        self, first: int = 0, columns: Sequence[str] | None = None
    ) -> tuple[int, Iterator[pa.Table]]:
        """Return tables of all rows from a row before `first` on, and the number of that row.

        first (int): Row, from 0.
        columns (Sequence[str] | None): Those that are wanted; None for all.
        """

    def read(self, first: int, rows: int, columns: Sequence[str]) -> pa.Table:
        """Return columns of rows; those after the last ones that were read cost no search.

        first, rows (int): The first row, from 0, and how many.
        columns (Sequence[str]): Always the same.
        RAISES (BergamotError): B002 or B091 if they cannot be read.
        """
        if self._tables is None or first != self._at:
            self._at, self._tables = self.tables(first, columns)
            self._rest = None
        found: list[pa.Table] = []
        tables, self._tables = self._tables, None  # a stream that failed is not gone on with
        end = first + rows
        while self._at < end:
            table = self._rest if self._rest is not None else next(tables, None)
            if table is None:
                reason = f"it ends at row {self._at}"
                raise BergamotError(Errors.B002, path=self.name, what="whole", reason=reason)
            skipped = max(0, first - self._at)
            taken = table.slice(skipped, end - self._at - skipped)
            used = min(table.num_rows, end - self._at)
            self._rest = table.slice(used) if used < table.num_rows else None
            self._at += used
            if taken.num_rows:
                found.append(taken)
        self._tables = tables
        return pa.concat_tables(found)


class ParquetInput(Input):
    """A Parquet file; only the row groups that are wanted are read."""

    def __init__(self, files: Any, path: str) -> None:
        super().__init__()
        self.name = files.unstrip_protocol(path) if "file" not in files.protocol else path
        self._files, self._path = files, path
        with _readable(self.name), self._opened() as file:
            self.rows = file.metadata.num_rows
            self.schema = file.schema_arrow

    def facts(self) -> dict[str, Any]:
        """Return size, time of the last change, rows and a hash of the schema."""
        with _readable(self.name):
            known = self._files.info(self._path)
        changed = next((str(known[key]) for key in _CHANGED if key in known), "")
        schema = hashlib.sha256(str(self.schema.remove_metadata()).encode()).hexdigest()
        size = {"bytes": known["size"], "changed": changed}
        return {"path": self.name, "rows": self.rows, **size, "schema": schema}

    def tables(
        self, first: int = 0, columns: Sequence[str] | None = None
    ) -> tuple[int, Iterator[pa.Table]]:
        """Return tables from the beginning of the row group with `first`; see `Input.tables`."""
        with _readable(self.name), self._opened() as file:
            begin, group = 0, 0
            while group < file.num_row_groups:
                rows = file.metadata.row_group(group).num_rows
                if first < begin + rows:
                    break
                begin, group = begin + rows, group + 1
        return begin, self._stream(group, columns)

    def _stream(self, group: int, columns: Sequence[str] | None) -> Iterator[pa.Table]:
        with _readable(self.name), self._opened() as file:
            for number in range(group, file.num_row_groups):  # one alone: it may be damaged
                for batch in file.iter_batches(_AT_ONCE, row_groups=[number], columns=columns):
                    yield pa.Table.from_batches([batch])

    @contextmanager
    def _opened(self) -> Iterator[pq.ParquetFile]:
        with self._files.open(self._path, "rb") as stream, pq.ParquetFile(stream) as file:
            yield file


class SourceInput(Input):
    """Notes, JSON lines or a table of text: columns of strings; what is no string is JSON."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self.name = str(source.paths[0] if len(source.paths) == 1 else source.root)
        self._source = source
        names: dict[str, None] = {}
        self.rows = 0
        for entry in self._entries():  # the one way to know the rows is to read them
            names.update(dict.fromkeys(entry.facts))
            self.rows += 1
        columns = [*(n for n in names if n != source.text_column), source.text_column, PROBLEM]
        self.schema = pa.schema([(name, pa.large_string()) for name in columns])

    def facts(self) -> dict[str, Any]:
        """Return size, a hash of names and times of the files, rows and columns."""
        digest, size = hashlib.sha256(), 0
        for path in self._source.paths:
            known = path.stat()
            size += known.st_size
            name = path.relative_to(self._source.root).as_posix()
            digest.update(f"{name}\0{known.st_size}\0{known.st_mtime_ns}\n".encode())
        known_by = {"bytes": size, "changed": digest.hexdigest()}
        return {"path": self.name, "rows": self.rows, **known_by, "schema": self.schema.names}

    def tables(
        self, first: int = 0, columns: Sequence[str] | None = None
    ) -> tuple[int, Iterator[pa.Table]]:
        """Return tables from the beginning; see `Input.tables`."""
        schema = self.schema if columns is None else pa.schema(map(self.schema.field, columns))
        return 0, self._stream(schema)

    def _stream(self, schema: pa.Schema) -> Iterator[pa.Table]:
        entries = self._entries()
        while rows := [self._row(entry) for entry in islice(entries, _AT_ONCE)]:
            yield pa.Table.from_pylist(rows, schema=schema)

    def _entries(self) -> Iterator[Entry]:
        return self._source.read(Vocab())

    def _row(self, entry: Entry) -> dict[str, str | None]:
        row = {name: _as_string(value) for name, value in entry.facts.items()}
        text = entry.text if isinstance(entry.text, str) else None
        # Half of a surrogate pair, which no column can hold.
        problem = entry.problem or problem_of(text, len(text or ""))
        texts = {self._source.text_column: None if problem else text, PROBLEM: problem or None}
        return {**row, **texts}


def inputs_at(
    url: str, *, kind: Kind | None = None, text_column: str = "text", lines: bool = False
) -> list[Input]:
    """Return what is at a path or URL: a file, a folder, or a pattern such as notes/*.parquet.

    A folder's Parquet files are read, those of its folders too; without any, its notes. One input
    is a Parquet file; other files are one input together, and on this machine.

    url (str): Where; a pattern has *, ? or [.
    kind (Kind | None): What is read; None for what the ending says.
    text_column (str), lines (bool): As `Source` has them.
    RAISES (BergamotError): B001, B002, B049, B057, B102 or B172.
    """
    files, path = located(url)
    local = "file" in files.protocol
    if kind in (None, Kind.parquet):
        found = _parquet_files(files, path, any_ending=kind is Kind.parquet)
        if found:
            return [ParquetInput(files, one) for one in found]
    if kind in (Kind.parquet, Kind.spacy) or not local:
        known = "Parquet everywhere; on this machine also .txt, .jsonl, .csv, .tsv and .gz of these"
        reason = "no Parquet file is there" if kind is not Kind.spacy else "it is linked by `link`"
        raise BergamotError(Errors.B102, path=url, reason=reason, known=known)
    source = Source.at(Path(path), kind=kind, text_column=text_column, lines=lines)
    if source.kind is Kind.spacy:
        return inputs_at(url, kind=Kind.spacy)
    return [SourceInput(source)]


def _parquet_files(files: Any, path: str, *, any_ending: bool) -> list[str]:
    """Return Parquet files in order, without those of hidden folders or of a job's own."""
    with _readable(path):
        if any(character in path for character in "*?["):
            return sorted(one for one in files.glob(path) if one.endswith(".parquet"))
        if files.isfile(path):
            return [path] if any_ending or path.lower().endswith(".parquet") else []
        found = files.find(path) if files.isdir(path) else []
    inside = ((one, one[len(path) :].strip("/").split("/")) for one in found)
    return sorted(
        one for one, parts in inside
        if one.lower().endswith(".parquet") and not any(part[0] in "._" for part in parts)
    )  # fmt: skip


@contextmanager
def _readable(path: str) -> Iterator[None]:
    """Raise B002 for what is not readable as Parquet, B091 for what cannot be reached."""
    try:
        yield
    except (pa.ArrowException, OSError) as reason:
        if getattr(reason, "errno", None) is not None:
            raise BergamotError(Errors.B091, path=path, reason=reason) from None
        raise BergamotError(Errors.B002, path=path, what="Parquet", reason=reason) from None


def _as_string(value: Any) -> str | None:
    """Return a value as a string that a column can hold."""
    if value is None:
        return None
    if isinstance(value, str) and not problem_of(value, len(value)):
        return value
    return json.dumps(value, default=str)
