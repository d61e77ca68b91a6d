"""Find the files of a folder, unpack them and give each to its reader."""

from pathlib import Path
from typing import IO

from tqdm import tqdm

from spacy_bergamot.kb_import.archives import BROKEN, members
from spacy_bergamot.kb_import.errors import BergamotError, Errors
from spacy_bergamot.kb_import.ontology.classifications import read_classification
from spacy_bergamot.kb_import.ontology.obo import read_obo
from spacy_bergamot.kb_import.ontology.obographs import read_obographs
from spacy_bergamot.kb_import.ontology.records import Records
from spacy_bergamot.kb_import.ontology.tables import read_jsonl, read_table
from spacy_bergamot.kb_import.ontology.xml_files import read_xml


def read_sources(sources: list[Path], records: Records) -> dict[Path, bool]:
    """Read files, and every file of folders, into `records`; return which are of a known form.

    sources (Sequence[Path]): Files and folders.
    records (Records): Gets what is read.
    RAISES (BergamotError): T116 for a broken file, B001 for a missing one, T238 for one that
        unpacks to too much, T158 for XML that declares entities.
    """
    files = []
    for source in sources:
        if not source.exists():
            remedy = "Give a file, or a folder of ontologies and tables."
            raise BergamotError(Errors.B001, path=source, remedy=remedy)
        files += (
            [source] if source.is_file() else sorted(f for f in source.rglob("*") if f.is_file())
        )
    read = {}
    for file in tqdm(files, desc="Reading", unit=" files"):
        known = False
        try:
            for name, stream in members(file):
                known |= _read(name, stream, records)
        except BROKEN as e:
            reason = str(e) or type(e).__name__
            raise BergamotError(Errors.T116, path=file, what="a file", reason=reason) from None
        read[file] = known
    return read


def _read(name: str, stream: IO[bytes], records: Records) -> bool:
    readers = {
        ".obo": read_obo, ".json": read_obographs, ".xml": read_xml, ".jsonl": read_jsonl,
    }  # fmt: skip
    ending = Path(name).suffix.lower()
    if ending in readers:
        readers[ending](stream, name, records)
        return True
    if read_classification(stream, name, records):
        return True
    if ending in (".tsv", ".csv"):
        return read_table(stream, name, "\t" if ending == ".tsv" else ",", records)
    return False
