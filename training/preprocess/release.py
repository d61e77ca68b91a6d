"""A release's files as plain RRF, whether they lie in a folder, gzipped or still in the archive."""

import gzip
import logging
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from spacy_bergamot.files import explained_write_errors
from training.errors import BergamotError, Errors
from training.preprocess.progress import timed
from training.preprocess.rrf import COLUMNS

_PIECE = 1 << 22

logger = logging.getLogger(__name__)


@contextmanager
def plain_release(meta: Path, workplace: Path) -> Iterator[Path]:
    """Yield a folder of plain RRF files.

    meta (Path): A folder with MRCONSO.RRF or MRCONSO.RRF.gz and its like, or a release's archive.
        Plain files are read where they are; the tables in use of the others are unpacked, piece
        by piece, into a temporary folder in `workplace`.
    RAISES (BergamotError): T101 if there is no MRCONSO, T102 for a broken archive, T114 if the
        disk is too small.
    """
    packed = _packed(meta)
    if not packed:
        yield meta
        return
    workplace.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".unpacked-", dir=workplace) as name:
        folder = Path(name)
        _check_space(packed, folder)
        for table in COLUMNS:
            plain = meta / f"{table}.RRF"
            if plain.is_file():
                (folder / plain.name).symlink_to(plain.resolve())
            elif table in packed:
                with timed(f"Unpacking {table}"):
                    target = folder / f"{table}.RRF"
                    with explained_write_errors(target):
                        _unpack(packed[table], target)
        yield folder


def _packed(meta: Path) -> dict[str, tuple[Path, str | None]]:
    """Return {table: (file, member of the archive or None)} of the tables to unpack."""
    if meta.is_dir():
        files = {table: meta / f"{table}.RRF.gz" for table in COLUMNS}
        present = {t: (f, None) for t, f in files.items() if f.is_file()}
        return {t: v for t, v in present.items() if not (meta / f"{t}.RRF").is_file()}
    if not meta.is_file():
        raise BergamotError(Errors.T101.format(path=meta / "MRCONSO.RRF"))
    try:
        with zipfile.ZipFile(meta) as archive:
            members = archive.namelist()
    except (zipfile.BadZipFile, OSError) as reason:
        raise BergamotError(Errors.T102.format(path=meta, reason=reason)) from None
    found: dict[str, tuple[Path, str | None]] = {}
    for table in COLUMNS:
        for member in members:
            if member.rpartition("/")[2] in (f"{table}.RRF", f"{table}.RRF.gz"):
                found[table] = (meta, member)
    if "MRCONSO" not in found:
        raise BergamotError(Errors.T101.format(path=f"{meta} (MRCONSO.RRF in the archive)"))
    return found


def _unpack(source: tuple[Path, str | None], target: Path) -> None:
    path, member = source
    try:
        with _opened(path, member) as stream, target.open("wb") as out:
            shutil.copyfileobj(stream, out, _PIECE)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as reason:
        if isinstance(reason, OSError) and not isinstance(reason, gzip.BadGzipFile):
            raise
        where = f"{path} ({member})" if member else str(path)
        raise BergamotError(Errors.T102.format(path=where, reason=reason)) from None


@contextmanager
def _opened(path: Path, member: str | None) -> Iterator[IO[bytes] | gzip.GzipFile]:
    if member is None:
        with gzip.open(path) as stream:
            yield stream
        return
    with zipfile.ZipFile(path) as archive, archive.open(member) as inside:
        if member.endswith(".gz"):
            with gzip.open(inside) as stream:
                yield stream
        else:
            yield inside


def _check_space(packed: dict[str, tuple[Path, str | None]], folder: Path) -> None:
    """Raise unless the disk can take the unpacked files: their size, or 8 times the gzipped."""
    needed = 0
    for path, member in packed.values():
        size = path.stat().st_size
        if member is not None:
            with zipfile.ZipFile(path) as archive:
                size = archive.getinfo(member).file_size
        gzipped = (member or path.name).endswith(".gz")
        needed += size * (8 if gzipped else 1)
    free = shutil.disk_usage(folder).free
    if needed > free:
        message = Errors.T114.format(path=folder.parent, needed=needed >> 20, free=free >> 20)
        raise BergamotError(message)
