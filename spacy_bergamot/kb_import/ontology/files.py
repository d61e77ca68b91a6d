"""Find the files of a folder, unpack them and give each to its reader."""

import gzip
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from tqdm import tqdm

from spacy_bergamot.kb_import.errors import BergamotError, Errors
from spacy_bergamot.kb_import.ontology.obo import read_obo
from spacy_bergamot.kb_import.ontology.obographs import read_obographs
from spacy_bergamot.kb_import.ontology.orphadata import read_orphadata
from spacy_bergamot.kb_import.ontology.records import Records
from spacy_bergamot.kb_import.ontology.tables import read_jsonl, read_table

_TARS = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")


def read_sources(sources: list[Path], records: Records) -> list[Path]:
    """Read files, and every file of folders, into `records`; return those that were not read.

    RAISES (BergamotError): T116 for a broken file, T117 for a missing one.
    """
    files = []
    for source in sources:
        if not source.exists():
            raise BergamotError(Errors.T117.format(path=source))
        files += (
            [source] if source.is_file() else sorted(f for f in source.rglob("*") if f.is_file())
        )
    unread = []
    for file in tqdm(files, desc="Reading", unit=" files"):
        known = False
        try:
            for name, stream in _members(file):
                known |= _read(name, stream, records)
        except (
            OSError,
            EOFError,
            zlib.error,
            lzma.LZMAError,
            tarfile.TarError,
            zipfile.BadZipFile,
        ) as e:
            raise BergamotError(Errors.T116.format(path=file, what="a file", reason=e)) from None
        if not known:
            unread.append(file)
    return unread


def _members(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield name and stream of a file, or of an archive's members."""
    name = path.name.lower()
    if name.endswith(_TARS):
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isfile():
                    inside = archive.extractfile(member)
                    assert inside is not None
                    yield f"{path}:{member.name}", inside
    elif name.endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if not entry.is_dir():
                    with archive.open(entry) as inside:
                        yield f"{path}:{entry.filename}", inside
    elif name.endswith(".gz"):
        with gzip.open(path) as stream:
            yield str(path).removesuffix(".gz"), cast(IO[bytes], stream)
    else:
        with path.open("rb") as stream:
            yield str(path), stream


def _read(name: str, stream: IO[bytes], records: Records) -> bool:
    readers = {
        ".obo": read_obo, ".json": read_obographs, ".xml": read_orphadata, ".jsonl": read_jsonl,
    }  # fmt: skip
    ending = Path(name).suffix.lower()
    if ending in readers:
        readers[ending](stream, name, records)
        return True
    if ending in (".tsv", ".csv"):
        return read_table(stream, name, "\t" if ending == ".tsv" else ",", records)
    return False
