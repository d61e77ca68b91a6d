"""Text files by numbered lines."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from spacy_bergamot.inputs import Malformed, decoded, decoded_lines
from spacy_bergamot.kb_import.errors import BergamotError, Errors


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number (from 1) and text of the lines that are not empty; only a line feed ends one.

    path (Path): The file.
    RAISES (BergamotError): As `opened` does, T304 for a file that is not UTF-8.
    """
    with opened(path) as stream:
        try:
            for number, line in decoded_lines(stream):
                if line.strip():
                    yield number, line
        except Malformed as reason:
            raise not_utf8(path, reason) from None


def whole_text(path: Path) -> str:
    """Return the text of a file.

    path (Path): The file.
    RAISES (BergamotError): As `numbered_lines` does.
    """
    with opened(path) as stream:
        try:
            return decoded(stream.read()).removeprefix("\ufeff")
        except Malformed as reason:
            raise not_utf8(path, reason) from None


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file.

    path (Path): The file.
    RAISES (BergamotError): T301 for a missing one, T256 for a folder, T239 if it cannot be read.
    """
    if path.is_dir():
        raise BergamotError(Errors.T256, path=path)
    if not path.exists():
        raise BergamotError(Errors.T301, path=path)
    try:
        with path.open("rb") as stream:
            yield stream
    except OSError as reason:
        raise BergamotError(Errors.T239, path=path, reason=reason.strerror) from None


def not_utf8(path: Path, reason: Malformed) -> BergamotError:
    """Return T304 with the line.

    path (Path): The file.
    reason (Malformed): The line, and what is wrong with it.
    """
    return BergamotError(Errors.T304, path=f"{path}:{reason.line}", reason=reason)
