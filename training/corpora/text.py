"""Text of corpora from files that may be gzipped; line ends are left as they are."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

from spacy_bergamot.kb_import.archives import BROKEN, unpacked
from spacy_bergamot.languages import LANGUAGES
from training.errors import BergamotError, Errors

_HEAD = 4096  # bytes that tell a format
_FOLDERS = {"english": "en", "french": "fr", "german": "de", "dutch": "nl", "spanish": "es"}
_ENDING = re.compile(r"\d_([a-z]{2})(?![a-z])")


def read_text(path: Path, *, fallback: str | None = None) -> str:
    """Return a file's text, in UTF-8 or else in the encoding `fallback`.

    RAISES (BergamotError): T102 for a file that cannot be read, B049 naming the first line that
        is not UTF-8, T238 for one that unpacks to too much.
    """
    try:
        with unpacked(path) as stream:
            data = stream.read()
    except BROKEN as reason:
        raise BergamotError(Errors.T102, path=path, reason=reason) from None
    try:
        return data.decode("utf8")
    except UnicodeDecodeError as reason:
        if fallback is not None:
            return data.decode(fallback)
        line = data.count(b"\n", 0, reason.start) + 1
        where, byte = f"{path}:{line}", f"byte 0x{data[reason.start]:02x}"
        raise BergamotError(Errors.B049, path=where, reason=byte) from None


def numbered(path: Path, *, fallback: str | None = None) -> Iterator[tuple[int, str]]:
    """Yield number (from 1) and text of the lines that are not blank; a line feed ends one."""
    text = read_text(path, fallback=fallback).removeprefix("\ufeff")
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line.rstrip("\r")


def language_of(path: Path) -> str:
    """Return the language of MRCONSO.RRF that a path says, or nothing.

    Mantra GSC has a folder a language, such as German; NEREL-BIO ends a document's name with it,
    such as 25823273_ru.
    """
    said = [_FOLDERS[part.lower()] for part in path.parts if part.lower() in _FOLDERS]
    ending = _ENDING.search(path.name)
    return LANGUAGES.get(ending[1] if ending else said[-1] if said else "", "")


def head(path: Path) -> str:
    """Return the first characters of a file, whatever their encoding; nothing of an odd file."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            data = stream.read(_HEAD)
    except BROKEN:
        return ""
    return data.decode("utf8", errors="replace").removeprefix("\ufeff").lstrip()
