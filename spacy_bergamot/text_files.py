"""Text files that are read: plain, gzipped or stdin, and as UTF-8 or not at all."""

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TextIO, cast

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.inputs import Malformed, decoded, decoded_lines

STDIN = Path("-")


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that may be gzipped, or stdin.

    path (Path): The file, or - for stdin.
    RAISES (BergamotError): B001, B108, B002 for a broken .gz, B091 if it cannot be read.
    """
    if path == STDIN:
        yield sys.stdin.buffer
        return
    check_file(path)
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            yield cast(IO[bytes], stream)
    except (gzip.BadGzipFile, EOFError, zlib.error) as reason:
        raise BergamotError(Errors.B002, path=path, what="gzip", reason=reason) from None
    except OSError as reason:
        raise BergamotError(Errors.B091, path=path, reason=reason.strerror) from None


@contextmanager
def open_text(path: Path, *, newline: str | None = None) -> Iterator[TextIO]:
    """Open a text that may be gzipped, or stdin; a mark of the byte order is not part of it.

    path (Path): The file, or - for stdin.
    newline (str | None): As of `open`.
    RAISES (BergamotError): As `open_bytes`, B049 if it is not UTF-8.
    """
    with open_bytes(path) as stream:
        text = io.TextIOWrapper(cast(Any, stream), encoding="utf-8-sig", newline=newline)
        try:
            yield text
        except UnicodeDecodeError as reason:
            raise BergamotError(Errors.B049, path=path, reason=reason) from None
        finally:
            text.detach()


def numbered_lines(path: Path, *, blank: bool = False) -> Iterator[tuple[int, str]]:
    """Yield number (from 1) and text of the lines of a text; only a line feed ends one.

    path (Path): The file, or - for stdin.
    blank (bool): Those with nothing but white space too.
    RAISES (BergamotError): As `open_bytes`, B049 naming the first line that is not UTF-8.
    """
    with open_bytes(path) as stream, _utf8(path):
        for number, line in decoded_lines(stream):
            if blank or line.strip():
                yield number, line


def whole_text(path: Path) -> str:
    """Return the text of a file, as it is.

    path (Path): The file, or - for stdin.
    RAISES (BergamotError): As `numbered_lines`.
    """
    with open_bytes(path) as stream, _utf8(path):
        return decoded(stream.read()).removeprefix("\ufeff")


@contextmanager
def _utf8(path: Path) -> Iterator[None]:
    try:
        yield
    except Malformed as reason:
        raise BergamotError(Errors.B049, path=f"{path}:{reason.line}", reason=reason) from None


def check_file(path: Path) -> None:
    """Raise B001 if there is no such file, B108 if it is a folder.

    path (Path): Where a file should be.
    """
    if path.is_dir():
        raise BergamotError(Errors.B108, path=path)
    if not path.is_file():
        raise BergamotError(Errors.B001, path=path, remedy="Correct the path.")
