"""One schema for every corpus: a table of mentions and a table of documents."""

from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from spacy_bergamot.concepts import read_arrow, write_arrow
from spacy_bergamot.files import atomic_folder, read_manifest, write_manifest

KIND = "corpus"
VERSION = 1

MENTIONS = pa.schema(
    [
        ("id", pa.large_string()),
        ("document", pa.large_string()),
        ("language", pa.string()),
        ("mention", pa.large_string()),
        ("starts", pa.list_(pa.int32())),
        ("ends", pa.list_(pa.int32())),
        ("context", pa.large_string()),
        ("type", pa.string()),
        ("concepts", pa.list_(pa.large_string())),
        ("all_of", pa.bool_()),
    ]
)
DOCUMENTS = pa.schema(
    [("document", pa.large_string()), ("language", pa.string()), ("text", pa.large_string())]
)


@dataclass(frozen=True)
class Corpus:
    """Documents with mentions and their gold concepts; a mention without any is NIL."""

    name: str
    documents: pa.Table
    mentions: pa.Table
    skipped: dict[str, int] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write the corpus as a folder of Arrow files with a manifest."""
        with atomic_folder(folder) as path:
            write_arrow(path / "documents.arrow", self.documents.cast(DOCUMENTS))
            write_arrow(path / "mentions.arrow", self.mentions.cast(MENTIONS))
            facts = {"name": self.name, "skipped": self.skipped}
            write_manifest(path, kind=KIND, version=VERSION, **facts)

    @classmethod
    def open(cls, folder: Path) -> "Corpus":
        """Open a folder that `write` made."""
        manifest = read_manifest(folder, kind=KIND, version=VERSION)
        documents, mentions = (read_arrow(folder / f"{n}.arrow") for n in ("documents", "mentions"))
        return cls(manifest["name"], documents, mentions, manifest["skipped"])
