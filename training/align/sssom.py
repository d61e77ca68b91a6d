"""Mappings as tables in SSSOM (Matentzoglu et al. 2022): read as seeds, written as results."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spacy_bergamot import __version__
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.storage.files import atomic_file
from training.align.sides import rows_of_ids
from training.corpora.text import numbered
from training.errors import BergamotError, Errors

COLUMNS = (
    "subject_id", "subject_label", "predicate_id", "object_id", "object_label",
    "mapping_justification", "confidence",
)  # fmt: skip
EXACT, CLOSE = "skos:exactMatch", "skos:closeMatch"
_SAME = (EXACT, "owl:equivalentClass", "owl:sameAs")
_NEEDED = ("subject_id", "predicate_id", "object_id")


class Seeds(NamedTuple):
    """Known pairs.

    rows (int64 (n, 2)): Left and right rows.
    skipped (dict[str, int]): Lines that were left out, by reason.
    first (str): What is wrong with the first of these.
    """

    rows: np.ndarray
    skipped: Mapping[str, int]
    first: str = ""


def read_seeds(path: Path, left: ConceptTable, right: ConceptTable) -> Seeds:
    """Read known pairs.

    Lines that name a concept which its side does not have, or contradict another line, are counted
    and left out: of a concept with two partners no line is taken. Ids may be codes of the sides'
    concepts, and a line may have the sides in the other order.

    RAISES (BergamotError): T128 for a file without the columns, T321 if no line is left.
    """
    lines = [(number, line) for number, line in numbered(path) if not line.startswith("#")]
    header = [name.strip() for name in lines[0][1].split("\t")] if lines else []
    missing = [name for name in _NEEDED if name not in header]
    if missing:
        raise BergamotError(
            Errors.T128, path=path, column=", ".join(missing), columns=", ".join(header) or "none"
        )
    skipped: Counter[str] = Counter()
    problems: list[str] = []
    given = []
    for number, line in lines[1:]:
        fields = dict(zip(header, line.split("\t"), strict=False))
        subject, predicate, target = (fields.get(name, "").strip() for name in _NEEDED)
        if predicate not in _SAME:
            skipped["not exact"] += 1
        else:
            given.append((number, subject, target))
    ids = sorted({one for _, subject, target in given for one in (subject, target)})
    lefts, rights = rows_of_ids(left, ids), rows_of_ids(right, ids)
    pairs: dict[tuple[int, int], int] = {}
    for number, subject, target in given:
        if subject in lefts and target in rights:
            pairs.setdefault((lefts[subject], rights[target]), number)
        elif subject in rights and target in lefts:
            pairs.setdefault((lefts[target], rights[subject]), number)
        else:
            skipped["unknown concept"] += 1
            problems.append(f"{path}:{number}: {subject} or {target} is in neither side")
    partners = [Counter(pair[side] for pair in pairs) for side in (0, 1)]
    kept = []
    for pair, number in pairs.items():
        if partners[0][pair[0]] > 1 or partners[1][pair[1]] > 1:
            skipped["contradicts another"] += 1
            problems.append(f"{path}:{number}: a concept of it has another partner elsewhere")
        else:
            kept.append(pair)
    if not kept:
        facts = {"skipped": dict(skipped), "first": problems[0] if problems else "it is empty"}
        raise BergamotError(Errors.T321, path=path, **facts)
    return Seeds(np.array(kept, dtype=np.int64), skipped, problems[0] if problems else "")


def write_mappings(path: Path, rows: Iterable[Mapping[str, object]], *, what: str) -> int:
    """Write mappings, whole or not at all; return how many.

    rows (Iterable[dict]): By `COLUMNS`. what (str): What they are, for the head.
    """
    count = 0
    head = {
        "mapping_set_id": path.name,
        "mapping_set_description": what,
        "mapping_tool": "spacy_bergamot",
        "mapping_tool_version": __version__,
    }
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf8", newline="\n") as out:
        out.writelines(f"# {key}: {value}\n" for key, value in head.items())
        out.write("\t".join(COLUMNS) + "\n")
        for row in rows:
            out.write("\t".join(_plain(row[name]) for name in COLUMNS) + "\n")
            count += 1
    return count


def _plain(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else " ".join(str(value).split())
