"""Packed files: read to the end, where their checksums are, and not beyond what they can hold."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from spacy_bergamot.kb_import.errors import BergamotError, Errors

BROKEN = (
    OSError, EOFError, RuntimeError, MemoryError, zlib.error, lzma.LZMAError, tarfile.TarError,
    zipfile.BadZipFile,
)  # fmt: skip
"""What reading a damaged file raises."""

_OPENERS: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.open, ".tgz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open,
}  # fmt: skip
_TARS = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
_PIECE = 1 << 20
_TIMES = 50  # tables and ontologies shrink to a tenth or a thirtieth
_ALWAYS = 64 << 20  # bytes that any file may unpack to


def members(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield name and stream of a file, or of the members of an archive, one open at a time.

    The name of a packed file loses `.gz` and the like. What is read of a file, or of a member of
    a .zip, is read to its end on going on.

    path (Path): File or archive.
    RAISES (BergamotError): T238 for a file that unpacks to too much; one of `BROKEN`.
    """
    name = path.name.lower()
    if name.endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if not entry.is_dir():
                    with archive.open(entry) as inside:
                        yield f"{path}:{entry.filename}", _bounded(inside, path)
                        if inside.tell():
                            _drain(inside, path)
    elif name.endswith(_TARS):
        with unpacked(path) as stream, tarfile.open(fileobj=stream, mode="r:") as tar:
            for member in tar:
                if member.isfile():
                    yield f"{path}:{member.name}", cast(IO[bytes], tar.extractfile(member))
            # After the last member are zeros alone; tarfile takes a broken header for the end too.
            stream.seek(tar.offset)
            if any(any(piece) for piece in iter(lambda: stream.read(_PIECE), b"")):
                raise tarfile.ReadError(f"the entry at byte {tar.offset} is damaged")
    else:
        with unpacked(path) as stream:
            packed = path.suffix.lower() in _OPENERS
            yield str(path.with_suffix("") if packed else path), stream


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, unpacked where its ending says so, and read it to its end on leaving.

    path (Path): The file.
    RAISES (BergamotError): T238 for a file that unpacks to too much; one of `BROKEN`.
    """
    opener = _OPENERS.get(path.suffix.lower())
    if opener is None:
        with path.open("rb") as plain:
            yield plain
        return
    with opener(path) as inside:
        yield _bounded(inside, path)
        _drain(inside, path)


def _drain(inside: Any, path: Path) -> None:
    """Read to the end, for only there the checksum is compared.

    Whoever read may have closed the stream that was given out, and not what is below it.
    """
    stream = _bounded(inside, path)
    while stream.read(_PIECE):
        pass


def _bounded(inside: Any, path: Path) -> IO[bytes]:
    return cast(IO[bytes], io.BufferedReader(_Bounded(inside, path), _PIECE))


class _Bounded(io.RawIOBase):
    """A stream that ends with an error where a file has unpacked to too much."""

    def __init__(self, inside: Any, path: Path) -> None:
        self.inside = inside
        self.path = path
        self.most = max(_ALWAYS, _TIMES * path.stat().st_size)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.inside.read(len(buffer))
        buffer[: len(data)] = data
        self._check(self.inside.tell())
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_SET:
            self._check(offset)
        return int(self.inside.seek(offset, whence))

    def tell(self) -> int:
        return int(self.inside.tell())

    def _check(self, place: int) -> None:
        if place > self.most:
            raise BergamotError(Errors.T238, path=self.path, most=self.most >> 20)
