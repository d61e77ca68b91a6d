"""The tables of a release, whether they lie in a folder, gzipped or still in the archive."""

import gzip
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from spacy_bergamot.kb_import.errors import BergamotError, Errors

WANTED = (
    "Give the META folder of a knowledge base in RRF form; MRCONSO.RRF is needed, the other files "
    "are optional."
)
TABLES = ("MRCONSO", "MRREL", "MRSTY", "MRDEF", "MRRANK", "MRSAB")
_GZIPPED = b"\x1f\x8b"
_SHRUNK = 8  # times that gzip makes RRF smaller, about
_DEFLATED = 1032  # times that it makes anything smaller, at most


@dataclass(frozen=True)
class Source:
    """Where a table is.

    path (Path): Its file, or the archive that it is in.
    member (str | None): Its name in the archive.
    """

    path: Path
    member: str | None = None

    def __str__(self) -> str:
        return f"{self.path} ({self.member})" if self.member else str(self.path)

    @property
    def size(self) -> int:
        """Bytes of the table as it is read; about, where it is gzipped."""
        return self._size * (_SHRUNK if self._is_packed else 1)

    @property
    def most(self) -> int:
        """Bytes that the table can have at most: what deflate can pack into a file of this size."""
        return self._size * (_DEFLATED if self._is_packed else 1)

    @property
    def _size(self) -> int:
        if self.member is None:
            return self.path.stat().st_size
        with zipfile.ZipFile(self.path) as archive:
            return archive.getinfo(self.member).file_size

    @property
    def _is_packed(self) -> bool:
        with self._raw() as raw:
            return bool(raw.read(len(_GZIPPED)) == _GZIPPED)

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the table for reading; what is gzipped is told by its content."""
        packed = self._is_packed
        with self._raw() as raw:
            if not packed:
                yield raw
                return
            with gzip.GzipFile(fileobj=raw) as stream:
                yield stream  # type: ignore[misc]

    @contextmanager
    def _raw(self) -> Iterator[IO[bytes]]:
        if self.member is None:
            with self.path.open("rb") as stream:
                yield stream
            return
        with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as inside:
            yield inside


def find_tables(meta: Path) -> dict[str, Source]:
    """Return the tables of a release that are there.

    meta (Path): A folder with MRCONSO.RRF or MRCONSO.RRF.gz and its like, or a release's archive.
    RAISES (BergamotError): B001 if there is no MRCONSO, T102 for a broken archive.
    """
    if meta.is_dir():
        found = {table: find_table(meta, table) for table in TABLES}
        tables = {table: source for table, source in found.items() if source}
    else:
        tables = tables_in(meta)
    if "MRCONSO" not in tables:
        inside = f"{meta} (MRCONSO.RRF in the archive)"
        path = inside if meta.is_file() else meta / "MRCONSO.RRF"
        raise BergamotError(Errors.B001, path=path, remedy=WANTED)
    return tables


def find_table(meta: Path, table: str) -> Source | None:
    """Return one table of a release, such as MRCUI, or None if it is not there.

    meta (Path): As in `find_tables`.
    table (str): Its name.
    RAISES (BergamotError): T102 for a broken archive.
    """
    if not meta.is_dir():
        return tables_in(meta, (table,)).get(table)
    files = (meta / f"{table}.RRF", meta / f"{table}.RRF.gz")
    return next((Source(file) for file in files if file.is_file()), None)


def tables_in(path: Path, names: tuple[str, ...] = TABLES) -> dict[str, Source]:
    """Return the tables of a release that are in an archive.

    path (Path): The archive.
    names (tuple[str, ...]): Of the tables.
    RAISES (BergamotError): T102.
    """
    if not path.is_file():
        return {}
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.namelist()
    except (zipfile.BadZipFile, OSError) as reason:
        raise BergamotError(Errors.T102, path=path, reason=reason) from None
    return {
        table: Source(path, member)
        for member in members
        for table in names
        if member.rpartition("/")[2] in (f"{table}.RRF", f"{table}.RRF.gz")
    }
