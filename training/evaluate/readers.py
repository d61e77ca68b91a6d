"""Readers of queries and gold annotations into one shape.

- `CUI||name` lines (SapBERT); CUIs may be joined by `|` or `+`; queries may carry `||context`.
- `.concept` folders, and gold sentences in JSON lines, by `training.corpora`.
- corpora that `training.corpora` wrote.
"""

import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy_bergamot.kb_import.lines import numbered_lines
from spacy_bergamot.languages import NAMES
from training.corpora.registry import read_corpus
from training.corpora.schema import CONTEXT, Corpus
from training.errors import BergamotError, Errors

NIL = "NIL"
_OPEN, _CLOSE = "<tgt>", "</tgt>"
_SEPARATOR = re.compile(r"[|+]")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Query:
    """A mention with its gold concepts; without any it is NIL.

    group (str): What results are reported by: a language, a corpus, or the name of the file.
    type (str): Entity type of the annotation. language, document (str): Where they are known.
        A file of `CUI||name` lines that is called as a language of MRCONSO.RRF is in that language.
    context (str): Text around the mention, which `<tgt>mention</tgt>` may mark.
    all_of (bool): The annotation means all of its concepts (a composite mention), not any.
    """

    mention: str
    concept_ids: frozenset[str]
    group: str
    type: str = ""
    language: str = ""
    document: str = ""
    context: str = ""
    all_of: bool = False


@dataclass
class QuerySet:
    """Queries of one set, and how many lines or annotations were skipped, by reason."""

    queries: list[Query]
    skipped: dict[str, int]

    def add(self, other: "QuerySet") -> None:
        """Append another set, and add its counts."""
        self.queries += other.queries
        for reason, count in other.skipped.items():
            self.skipped[reason] = self.skipped.get(reason, 0) + count


def read_queries(path: Path, *, nil: bool = False) -> QuerySet:
    """Read one set: a `.txt`, a `.jsonl` of gold sentences, a `.concept` folder or a corpus.

    nil (bool): Keep mentions that are annotated as NIL; otherwise they are skipped and counted.
    """
    read = _read_folder(path) if path.is_dir() else _read_file(path)
    if not nil:
        linked = [query for query in read.queries if query.concept_ids]
        if len(linked) < len(read.queries):
            read.skipped[NIL] = len(read.queries) - len(linked)
        read.queries = linked
    return read


def _read_file(path: Path) -> QuerySet:
    if path.suffix == ".jsonl":
        return _of_corpus(read_corpus(path, "gold"), by_language=True)
    return _read_lines(path)


def _read_folder(path: Path) -> QuerySet:
    if (path / "mentions.arrow").is_file():
        return _of_corpus(Corpus.open(path))
    if any(path.glob("*.concept")):
        return _of_corpus(read_corpus(path, "concept"))
    files = sorted(path.glob("*.txt"))
    if not files:
        raise BergamotError(Errors.T303, path=path)
    whole = QuerySet([], {})
    for file in files:
        whole.add(_read_file(file))
    return whole


def _of_corpus(corpus: Corpus, *, by_language: bool = False) -> QuerySet:
    queries = [
        Query(
            row["mention"],
            frozenset(row["concepts"]),
            row["language"] if by_language else corpus.name,
            type=row["type"] or "",
            language=row["language"] or "",
            document=row["document"] or "",
            context=_marked(row),
            all_of=bool(row["all_of"]),
        )
        for row in corpus.mentions.to_pylist()
    ]
    return QuerySet(queries, dict(corpus.skipped))


def _marked(row: dict[str, Any]) -> str:
    """Return the context with the mention in it marked; as it is where its place is not known."""
    context: str = row["context"] or ""
    start = min(next(iter(row["starts"]), 0), CONTEXT)
    end = start + len(row["mention"])
    if not context or context[start:end] != row["mention"]:
        return context
    return f"{context[:start]}{_OPEN}{row['mention']}{_CLOSE}{context[end:]}"


def split_marked(context: str) -> list[str]:
    """Return text and marked mentions in turn, without the marks: at odd places are the mentions.

    A mark without an end stays in the text.
    """
    pieces, place = [], 0
    while (start := context.find(_OPEN, place)) >= 0:
        end = context.find(_CLOSE, start)
        if end < 0:
            break  # and none of the marks that follow has an end
        pieces += [context[place:start], context[start + len(_OPEN) : end]]
        place = end + len(_CLOSE)
    return [*pieces, context[place:]]


def _read_lines(path: Path) -> QuerySet:
    result = QuerySet([], {})
    language = path.stem if path.stem in NAMES else ""
    for number, line in numbered_lines(path):
        fields = line.split("||")
        if len(fields) < 2 or not fields[0] or not fields[1].strip():
            _skip(result, "malformed line", f"{path}:{number}")
            continue
        context = fields[2] if len(fields) > 2 else ""
        result.queries.append(
            Query(fields[1], _concepts(fields[0]), path.stem, language=language, context=context)
        )
    return result


def _concepts(field: str) -> frozenset[str]:
    return frozenset(filter(None, _SEPARATOR.split(field))) - {NIL}


def _skip(result: QuerySet, reason: str, place: str) -> None:
    if reason not in result.skipped:
        logger.warning("Skipping, %s: %s (and its like)", reason, place)
    result.skipped[reason] = result.skipped.get(reason, 0) + 1
