"""Text files by numbered lines."""

from collections.abc import Iterator
from pathlib import Path

from spacy_bergamot.kb_import.errors import BergamotError, Errors


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number (from 1) and text of the lines that are not empty; only a line feed ends one.

    RAISES (BergamotError): T301 for a missing file, T256 for a folder, T304 for one that is
        not UTF-8.
    """
    if path.is_dir():
        raise BergamotError(Errors.T256.format(path=path))
    if not path.is_file():
        raise BergamotError(Errors.T301.format(path=path))
    with path.open(encoding="utf8", newline="\n") as stream:
        try:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
        except UnicodeDecodeError as reason:
            raise BergamotError(Errors.T304.format(path=path, reason=reason)) from None
