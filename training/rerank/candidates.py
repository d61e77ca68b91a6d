"""Candidates of gold mentions, asked for once and kept in a file.

A `.arrow` file (Arrow IPC, one record batch) with a row per mention, in the order of the documents:

- document (name), context (its whole text), language, label
- start, end (characters of the context), text (what was looked up), long_form
- golds: concept ids, any of which is right; none for NIL
- known: whether the knowledge base has one of them, and hidden: whether they were hidden from it
- candidates, best first: concept_id, score, alias, language, source, generator, and scores by
  generator

The schema's metadata has `facts` in JSON: what the rows came from, and what was left out of them.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from spacy_bergamot.kb.concept_table import read_arrow, write_arrow
from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.mention import Mention
from spacy_bergamot.storage.files import atomic_file
from training.errors import BergamotError, Errors

_TEXT = pa.large_string()
_CANDIDATE = pa.struct(
    [
        *((name, _TEXT) for name in ("concept_id", "alias", "language", "source", "generator")),
        ("score", pa.float64()),
        ("scores", pa.map_(pa.string(), pa.float64())),
    ]
)
SCHEMA = pa.schema({
    "document": _TEXT, "context": pa.dictionary(pa.int32(), _TEXT),
    "language": pa.string(), "label": pa.string(), "start": pa.int32(), "end": pa.int32(),
    "text": _TEXT, "long_form": _TEXT, "golds": pa.list_(_TEXT),
    "known": pa.bool_(), "hidden": pa.bool_(), "candidates": pa.list_(_CANDIDATE),
})  # fmt: skip


class Gold(NamedTuple):
    """What is right of a mention.

    concepts (frozenset[str]): Any of them; none for NIL.
    is_known (bool): The knowledge base has one of them, and it was not hidden.
    """

    concepts: frozenset[str]
    is_known: bool
    is_hidden: bool = False


@dataclass(frozen=True)
class Document:
    """A document's mentions, the candidates of each, best first, and its gold."""

    name: str
    mentions: list[Mention]
    candidates: list[list[Candidate]]
    golds: list[Gold]


@dataclass(frozen=True)
class Asked:
    """Documents with candidates, and what they came from: index, generator, k, corpus and so on."""

    documents: list[Document]
    facts: dict[str, Any]

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        rows = [row for document in self.documents for row in _rows(document)]
        facts = {"facts": json.dumps(self.facts, ensure_ascii=False)}
        table = pa.Table.from_pylist(rows, schema=SCHEMA.with_metadata(facts))
        with atomic_file(path) as part:
            write_arrow(part, table)

    @classmethod
    def read(cls, path: Path) -> "Asked":
        """Read a file. RAISES (BergamotError): T370 for one that `write` did not make."""
        table = read_arrow(path)
        facts = (table.schema.metadata or {}).get(b"facts")
        if facts is None or table.schema.remove_metadata() != SCHEMA:
            raise BergamotError(Errors.T370, path=path)
        by_document = groupby(table.to_pylist(), key=lambda row: row["document"])
        return cls([_document(name, list(of)) for name, of in by_document], json.loads(facts))


def _rows(document: Document) -> Iterator[dict[str, Any]]:
    for mention, found, gold in zip(
        document.mentions, document.candidates, document.golds, strict=True
    ):
        candidates = [{**one.to_dict(), "scores": list(one.scores.items())} for one in found]
        yield {
            **mention._asdict(),
            "document": document.name,
            "golds": sorted(gold.concepts),
            "known": gold.is_known,
            "hidden": gold.is_hidden,
            "candidates": candidates,
        }


def _document(name: str, rows: list[dict[str, Any]]) -> Document:
    return Document(
        name,
        [Mention(**{name: row[name] for name in Mention._fields if name in row}) for row in rows],
        [[Candidate(**{**one, "scores": dict(one["scores"])}) for one in row["candidates"]]
         for row in rows],
        [Gold(frozenset(row["golds"]), row["known"], row["hidden"]) for row in rows],
    )  # fmt: skip
