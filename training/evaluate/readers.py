"""Readers of dictionaries, queries and gold annotations into one shape.

- `CUI||name` lines (SapBERT); CUIs may be joined by `|` or `+`; queries may carry `||context`.
- `.concept` folders (medical_crossing, BioSyn): `id||start|end||type||mention||CUI`, a file a
  document, optionally with trailing bars.
- gold sentences: JSON lines {"language", "text", "entities": [{"start", "end", "concept_id"}]}.
"""

import json
import logging
import re
from dataclasses import dataclass
from pathlib import Path

from training.errors import BergamotError, Errors
from training.lines import numbered_lines

NIL = "NIL"
_SEPARATOR = re.compile(r"[|+]")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Query:
    """A mention with its gold concepts; a retriever is right if it finds any of them.

    group (str): What results are reported by: a language, or the name of the file.
    """

    mention: str
    concept_ids: frozenset[str]
    group: str


@dataclass
class QuerySet:
    """Queries of one set, and how many lines or annotations were skipped, by reason."""

    queries: list[Query]
    skipped: dict[str, int]


def read_dictionary(path: Path) -> list[tuple[str, str]]:
    """Read `CUI||name` lines as (concept ids joined by |, name).

    RAISES (BergamotError): T301 for a missing file, T302 naming the first malformed line.
    """
    entries = []
    for number, line in numbered_lines(path):
        concept_ids, bars, name = line.partition("||")
        if not bars or not concept_ids or not name.strip():
            raise BergamotError(Errors.T302.format(path=path, line=number, text=line[:80]))
        entries.append((concept_ids, name))
    return entries


def read_queries(path: Path) -> QuerySet:
    """Read one set of queries: a `.txt`, a `.jsonl` of gold sentences, or a `.concept` folder."""
    if path.is_dir():
        return _read_folder(path)
    reader = _read_gold if path.suffix == ".jsonl" else _read_lines
    return reader(path)


def _read_folder(path: Path) -> QuerySet:
    files = sorted(path.glob("*.concept"))
    if files:
        return _read_concept_files(files, group=path.name)
    files = sorted(path.glob("*.txt"))
    if not files:
        raise BergamotError(Errors.T303.format(path=path))
    whole = QuerySet([], {})
    for file in files:
        part = read_queries(file)
        whole.queries += part.queries
        for reason, count in part.skipped.items():
            whole.skipped[reason] = whole.skipped.get(reason, 0) + count
    return whole


def _read_lines(path: Path) -> QuerySet:
    result = QuerySet([], {})
    for number, line in numbered_lines(path):
        fields = line.split("||")
        if len(fields) < 2 or not fields[0] or not fields[1].strip():
            _skip(result, "malformed line", f"{path}:{number}")
            continue
        result.queries.append(Query(fields[1], _concepts(fields[0]), path.stem))
    return result


def _read_concept_files(files: list[Path], *, group: str) -> QuerySet:
    result = QuerySet([], {})
    for path in files:
        for number, line in numbered_lines(path):
            fields = line.split("||")
            if len(fields) < 5 or not fields[3].strip() or not fields[4]:
                _skip(result, "malformed line", f"{path}:{number}")
                continue
            result.queries.append(Query(fields[3], _concepts(fields[4]), group))
    return result


def _read_gold(path: Path) -> QuerySet:
    result = QuerySet([], {})
    for number, line in numbered_lines(path):
        try:
            record = json.loads(line)
            text, entities, language = record["text"], record["entities"], record["language"]
        except (ValueError, KeyError, TypeError):
            _skip(result, "malformed line", f"{path}:{number}")
            continue
        for entity in entities:
            mention = text[entity["start"] : entity["end"]]
            if mention != entity.get("text", mention) or not mention.strip():
                _skip(result, "offsets disagree with the text", f"{path}:{number}")
            elif entity["concept_id"] == NIL:
                result.skipped[NIL] = result.skipped.get(NIL, 0) + 1
            else:
                result.queries.append(Query(mention, _concepts(entity["concept_id"]), language))
    return result


def _concepts(field: str) -> frozenset[str]:
    return frozenset(filter(None, _SEPARATOR.split(field)))


def _skip(result: QuerySet, reason: str, place: str) -> None:
    if reason not in result.skipped:
        logger.warning("Skipping, %s: %s (and its like)", reason, place)
    result.skipped[reason] = result.skipped.get(reason, 0) + 1
