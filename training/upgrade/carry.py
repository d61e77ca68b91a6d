"""What a pipeline learned beside its index, taken over to an index of the next release, or not."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy_bergamot.index.changes import ChangeError, settle
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.storage.files import MANIFEST
from spacy_bergamot.storage.manifest import write_manifest
from spacy_bergamot.text import normalize

MOST_NEW = 0.2
"""Share of new names above which weights that were learned among the old ones are refused."""

_FACTS = ("name", "types", "definition")
CARRIED, NEEDLESS, REFUSED = "carried over", "no longer needed", "refused"
_SAYS_OF_ITSELF = ("kind", "format_version", "written_by", "files", "manifest_sha256")

Change = dict[str, Any]


@dataclass(frozen=True)
class Fate:
    """What became of one thing.

    what (str): The thing, such as "calibration" or a change as JSON.
    became (str): "carried over", "no longer needed" or "refused".
    why (str): Reason, for people.
    """

    what: str
    became: str
    why: str = ""


def carried_changes(
    changes: Sequence[Change],
    old: ConceptTable,
    new: ConceptTable,
    *,
    successors: Mapping[str, str],
) -> tuple[list[Change], list[Fate]]:
    """Return the changes of the old release that are to be made to the new one, and all fates.

    changes (list[dict]): Settled, as `Changes.entries` are.
    successors (dict[str, str]): Concept id now by the one before, of those that were merged.
    """
    judge = _Judge(changes, old, new, successors)
    kept: list[Change] = []
    places: list[int] = []
    fates: list[Fate] = []
    for change in changes:
        moved = {**change, "concept_id": successors.get(change["concept_id"], change["concept_id"])}
        became, why = judge(change, moved)
        if became == CARRIED:
            if moved["concept_id"] in new:
                moved = {key: of for key, of in moved.items() if key not in _FACTS}
            places.append(len(fates))
            kept.append(moved)
        fates.append(Fate(json.dumps(change, ensure_ascii=False), became, why))
    reasons = _refusals(kept, new)
    for number, reason in reasons.items():
        fates[places[number]] = Fate(fates[places[number]].what, REFUSED, reason)
    return settle([c for n, c in enumerate(kept) if n not in reasons], new), fates


def _refusals(changes: Sequence[Change], table: ConceptTable) -> dict[int, str]:
    """Return why changes cannot be made to a table, by their numbers from 0.

    A new concept of which one change is refused is refused whole: its facts may be in that one.
    """
    refused: list[ChangeError] = []
    settle(changes, table, refused=refused)
    reasons = {error.number - 1: error.reason for error in refused}
    lost = {changes[number]["concept_id"]: reason for number, reason in reasons.items()}
    for number, change in enumerate(changes):
        if change["concept_id"] in lost and change["concept_id"] not in table:
            reasons[number] = lost[change["concept_id"]]
    return reasons


class _Judge:
    """Says of a change what becomes of it, and why.

    local (dict[str, set[str]]): Normal forms that the changes add, by concept id.
    emptied (set[str]): Concepts that the changes remove whole.
    """

    def __init__(
        self,
        changes: Sequence[Change],
        old: ConceptTable,
        new: ConceptTable,
        successors: Mapping[str, str],
    ) -> None:
        self.old, self.new, self.successors = old, new, successors
        self.emptied = {c["concept_id"] for c in changes if "alias" not in c}
        self.local: dict[str, set[str]] = {}
        for change in changes:
            if change["action"] == "add":
                self.local.setdefault(change["concept_id"], set()).add(normalize(change["alias"]))

    def __call__(self, change: Change, moved: Change) -> tuple[str, str]:
        """Judge a change; `moved` is the same of the concept that its own was merged into."""
        before, now = change["concept_id"], moved["concept_id"]
        why = f"{before} is now {now}" if now != before else ""
        row = self.new.find(now)
        if row is None:
            if before not in self.old:
                return CARRIED, ""
            adds = change["action"] == "add"
            return REFUSED if adds else NEEDLESS, "the release has dropped the concept"
        aliases = self.new.rows_of("aliases", row)["alias"].to_pylist()
        names = set(map(normalize, aliases))
        if "alias" not in change:
            if why:
                return REFUSED, f"{why}, which has other names too: remove it if that is meant"
            return CARRIED, ""
        known = normalize(change["alias"]) in names
        if change["action"] == "remove":
            return (CARRIED, why) if known else (NEEDLESS, "the release does not have it")
        if before not in self.old and not names & self.local[before]:
            found = f"the release has another concept of this id, {self.new.name(row)!r}"
            return REFUSED, f"{found}: give yours another id"
        if known and before not in self.emptied:
            return NEEDLESS, "the release has it"
        return CARRIED, why


def refusal(*, new_share: float) -> str:
    """Return why what was learned among the old names is refused; empty if it is not."""
    if new_share <= MOST_NEW:
        return ""
    return f"{new_share:.0%} of the names are new, more than {MOST_NEW:.0%}: it has to learn anew"


def tie_to(index: str, source: Path, target: Path) -> None:
    """Copy what was learned and say in its manifest that it belongs to another index.

    index (str): Fingerprint of the index.
    source (Path): Folder of a calibration or a learned reranker. target (Path): The copy.
    """
    shutil.copytree(source, target)
    manifest = json.loads((target / MANIFEST).read_text(encoding="utf8"))
    facts = {key: of for key, of in manifest.items() if key not in _SAYS_OF_ITSELF}
    facts |= {"index": index} if "index" in facts else {}
    write_manifest(target, kind=manifest["kind"], version=manifest["format_version"], **facts)
