"""The one shape of gold corpora: documents, and the mentions in them with their concepts.

A corpus folder holds documents.arrow, mentions.arrow (Arrow IPC, one record batch) and a manifest.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from spacy_bergamot.kb.schemas import filled
from spacy_bergamot.storage.arrow_files import read_arrow, write_arrow
from spacy_bergamot.storage.files import atomic_folder
from spacy_bergamot.storage.manifest import read_manifest, write_manifest
from training.corpora.marks import marked

KIND = "corpus"
VERSION = 1
_FIELDS = {"name": str, "skipped": dict, "facts": dict}
CONTEXT = 200  # characters on either side of a mention

_TEXT, _OFFSETS = pa.large_string(), pa.list_(pa.int32())
DOCUMENTS = pa.schema(filled(document=_TEXT, language=pa.string(), text=_TEXT))
MENTIONS = pa.schema(
    filled(
        id=_TEXT, document=_TEXT, language=pa.string(), mention=_TEXT, starts=_OFFSETS,
        ends=_OFFSETS, context=_TEXT, type=pa.string(), concepts=pa.list_(_TEXT), all_of=pa.bool_(),
    )
)  # fmt: skip


@dataclass(frozen=True)
class GoldMention:
    """A row of a corpus's mentions, as it is asked for.

    mention (str): As the annotation writes it.
    concepts (frozenset[str]): The gold ids, none for NIL.
    group (str): What results are reported by: the name of the corpus.
    type, language, document (str): Where they are known.
    context (str): Text around the mention, which `<tgt>mention</tgt>` may mark.
    all_of (bool): The concepts are right together, else any of them is.
    """

    mention: str
    concepts: frozenset[str]
    group: str
    type: str = ""
    language: str = ""
    document: str = ""
    context: str = ""
    all_of: bool = False


@dataclass(frozen=True)
class Corpus:
    """A gold corpus.

    name (str): What it is called: the name of its file or folder.
    documents (pa.Table): In the schema DOCUMENTS; empty where the set has mentions alone.
    mentions (pa.Table): In the schema MENTIONS. `id` is the document and a running number; `starts`
        and `ends` are offsets in characters of the document's text, several for a discontinuous
        mention, none without a text; `context` is the text around the mention, or what the set
        gives; `concepts` are the gold ids, none for NIL; `all_of` says that they are right
        together, else any of them is.
    skipped (dict[str, int]): What was left out, by reason.
    facts (dict): What else the manifest says, such as how ids were mapped.
    """

    name: str
    documents: pa.Table
    mentions: pa.Table
    skipped: dict[str, int]
    facts: dict[str, Any] = field(default_factory=dict)

    def rows(self) -> list[GoldMention]:
        """Return the mentions, each marked in its context where its place in it is known."""
        return [
            GoldMention(
                row["mention"],
                frozenset(row["concepts"]),
                self.name,
                type=row["type"],
                language=row["language"],
                document=row["document"],
                context=_marked(row),
                all_of=row["all_of"],
            )
            for row in self.mentions.to_pylist()
        ]

    def write(self, folder: Path | str) -> dict[str, Any]:
        """Write the corpus as a folder, whole or not at all; return its manifest."""
        with atomic_folder(Path(folder)) as target:
            write_arrow(target / "documents.arrow", self.documents)
            write_arrow(target / "mentions.arrow", self.mentions)
            return write_manifest(
                target,
                kind=KIND,
                version=VERSION,
                name=self.name,
                documents=self.documents.num_rows,
                mentions=self.mentions.num_rows,
                skipped=self.skipped,
                facts=self.facts,
            )

    @classmethod
    def open(cls, folder: Path | str) -> "Corpus":
        """Open a folder that `write` made.

        RAISES (BergamotError): If a file is missing, truncated, changed or of another version.
        """
        path = Path(folder)
        manifest = read_manifest(path, kind=KIND, version=VERSION, fields=_FIELDS)
        return cls(
            name=manifest["name"],
            documents=read_arrow(path / "documents.arrow"),
            mentions=read_arrow(path / "mentions.arrow"),
            skipped=manifest["skipped"],
            facts=manifest["facts"],
        )


def _marked(row: dict[str, Any]) -> str:
    context: str = row["context"]
    start = min(next(iter(row["starts"]), 0), CONTEXT)
    end = start + len(row["mention"])
    known = context and context[start:end] == row["mention"]
    return marked(context, start, end) if known else context
