"""Records of question answering and entailment: two texts and a label.

- pubmedqa: {id: {"QUESTION", "CONTEXTS": [...], "final_decision": yes, no or maybe}}
- bioasq: {"questions": [{"type": "yesno", "body", "exact_answer", "snippets": [{"text"}]}]}
- mednli, scitail: JSON lines {"sentence1", "sentence2", "gold_label"}
- scitail: also lines of premise, hypothesis and label between tabs
"""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from spacy_bergamot.inputs import Malformed, parsed
from spacy_bergamot.text_files import numbered_lines, whole_text
from training.errors import BergamotError, Errors, check_choice

FORMATS = ("pubmedqa", "bioasq", "mednli", "scitail")

logger = logging.getLogger(__name__)


class Record(NamedTuple):
    """A question or hypothesis, the text beside it, and the label."""

    first: str
    second: str
    label: str


def read_records(path: Path, form: str) -> tuple[list[Record], int]:
    """Return records, and how many were skipped: of another type, without label, or malformed.

    RAISES (BergamotError): B001 for a missing file, B091, B049, B014 for an unknown format, B002 if
        nothing is left or the file is no JSON.
    """
    check_choice("format", form, FORMATS)
    records, skipped = [], 0
    for record in _entries(path, form):
        if record is not None and record.label and record.first.strip() and record.second.strip():
            records.append(record)
        else:
            skipped += 1
    if not records:
        reason = f"{skipped} entries, none with two texts and a label"
        raise BergamotError(Errors.B002, path=path, what=f"{form} records", reason=reason)
    if skipped:
        logger.warning("Skipped %d entries of %s", skipped, path)
    return records, skipped


def _entries(path: Path, form: str) -> Iterator[Record | None]:
    if form in ("mednli", "scitail"):
        for _, line in numbered_lines(path):
            yield _tabbed(line) if "\t" in line and not line.startswith("{") else _pair(line)
        return
    text = whole_text(path)
    try:
        content = parsed(text)
        entries = content.values() if form == "pubmedqa" else content["questions"]
    except (ValueError, KeyError, TypeError, AttributeError) as reason:
        place = f"{path}:{reason.line}" if isinstance(reason, Malformed) else path
        raise BergamotError(
            Errors.B002, path=place, what=f"{form} records", reason=reason
        ) from None
    for entry in entries:
        try:
            yield _pubmedqa(entry) if form == "pubmedqa" else _bioasq(entry)
        except (KeyError, TypeError, IndexError, AttributeError):
            yield None


def _pubmedqa(entry: dict[str, Any]) -> Record:
    return Record(entry["QUESTION"], " ".join(entry["CONTEXTS"]), entry["final_decision"].lower())


def _bioasq(entry: dict[str, Any]) -> Record | None:
    if entry["type"] != "yesno":
        return None
    answer = entry["exact_answer"]
    label = (answer[0] if isinstance(answer, list) else answer).strip().lower()
    text = " ".join(snippet["text"] for snippet in entry["snippets"])
    return Record(entry["body"], text, label) if label in ("yes", "no") else None


def _pair(line: str) -> Record | None:
    try:
        entry = parsed(line)
        label = entry["gold_label"]
        return Record(entry["sentence1"], entry["sentence2"], "" if label == "-" else label)
    except (ValueError, KeyError, TypeError):
        return None


def _tabbed(line: str) -> Record | None:
    fields = line.split("\t")
    return Record(fields[0], fields[1], fields[2].strip()) if len(fields) == 3 else None
