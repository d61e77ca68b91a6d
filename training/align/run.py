"""Two vocabularies in; mappings, doubtful ones and a page to look through them out."""

import logging
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from spacy_bergamot.kb.concept_table import Concept, ConceptTable
from spacy_bergamot.output.pages import templates
from spacy_bergamot.storage.files import atomic_file
from spacy_bergamot.storage.scratch import Scratch
from training.align.confidence import Confidence, by_rule, learned, one_to_one, reason
from training.align.measure import measured
from training.align.pairs import Pairs, find_pairs
from training.align.sides import Side, check_ids, curie, open_side, searchable
from training.align.sssom import CLOSE, COLUMNS, EXACT, Seeds, read_seeds, write_mappings

SURE = 0.9
"""Confidence below which a pair that was taken is shown for review."""

_WORTH = 0.3  # share of the threshold from which one that was not taken is
_CANDIDATES = 5
_NAMES = 6
_ON_PAGE = 1000

logger = logging.getLogger(__name__)


class Method(str, Enum):
    """What pairs are weighed by: names, OntoEA, or names and its similarity."""

    NAMES, ONTOEA, BOTH = "names", "ontoea", "both"


@dataclass(frozen=True)
class Alignment:
    """What was matched.

    left, right (ConceptTable): The sides.
    pairs (Pairs), confidence (Confidence): What was weighed. taken (bool (n,)): What was chosen.
    """

    left: ConceptTable
    right: ConceptTable
    pairs: Pairs
    confidence: Confidence
    taken: np.ndarray

    def row(self, pair: int, predicate: str) -> dict[str, object]:
        """Return a pair as a line of SSSOM."""
        one, other = int(self.pairs.left[pair]), int(self.pairs.right[pair])
        values = (
            curie(self.left.concept_id(one)), self.left.name(one), predicate,
            curie(self.right.concept_id(other)), self.right.name(other),
            reason(self.pairs, pair), float(self.confidence.values[pair]),
        )  # fmt: skip
        return dict(zip(COLUMNS, values, strict=True))

    def mappings(self) -> Iterator[dict[str, object]]:
        """Yield what was chosen, in the order of the left side."""
        for pair in np.flatnonzero(self.taken).tolist():
            yield self.row(pair, EXACT)

    def doubtful(self) -> list[list[int]]:
        """Return the pairs of every left concept that somebody should look at, the best first.

        A concept is doubtful if its choice is unsure, or it has none, and a candidate all the same.
        """
        values, found = self.confidence.values, []
        worth = _WORTH * self.confidence.threshold
        starts = np.flatnonzero(np.append(True, np.diff(self.pairs.left) > 0))
        for members in np.split(np.arange(len(values)), starts[1:]) if len(values) else ():
            chosen = members[self.taken[members]]
            if len(chosen) and values[chosen[0]] >= SURE:
                continue
            ranked = members[np.lexsort((members, -values[members], ~self.taken[members]))]
            kept = ranked[(values[ranked] >= worth) | self.taken[ranked]][:_CANDIDATES]
            if len(kept):
                found.append(kept.tolist())
        return sorted(found, key=lambda pairs: -values[pairs[0]])


def align(
    left: Path,
    right: Path,
    output: Path,
    *,
    lm: str,
    seeds: Path | None = None,
    reference: Path | None = None,
    method: Method = Method.NAMES,
    k: int = 20,
    device: str = "cpu",
    precision: str = "fp32",
    vectors: Path | None = None,
) -> dict[str, Any]:
    """Match two vocabularies; write OUTPUT, OUTPUT.review and a page; return counts and figures.

    method (Method): Of those that are not names an interrupted run goes on behind OUTPUT.ontoea.
    RAISES (BergamotError): As `check_ids`, `read_seeds`, `learned`, as reading the sides does, and
        as `Task.of` and `weigh` for other methods than names.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    with Scratch(output.parent, prefix=".align") as scratch:
        mine = open_side(left, scratch / "left").table
        side = open_side(right, scratch / "right", device=device)
        check_ids(mine, side.table)
        known, gold = (_read(path, mine, side) for path in (seeds, reference))
        rows = known.rows if known else np.zeros((0, 2), dtype=np.int64)
        wanted = gold.rows[~np.isin(gold.rows[:, 0], rows[:, 0])] if gold else None
        task = None
        if method is not Method.NAMES:
            from training.align.ontoea.similarity import Task, weigh

            task = Task.of(mine, side.table, rows)
        side = searchable(side, scratch, lm=lm, device=device, precision=precision, vectors=vectors)
        figures: dict[str, Any] = {}
        named = None if method is Method.ONTOEA else find_pairs(mine, side, k=k, progress=True)
        if task is not None:
            checkpoint = beside(output, "ontoea")
            weighed = weigh(task, mine, side, checkpoint, named=named, k=k, device=device)
            pairs, confidence = weighed.pairs, weighed.confidence
            if wanted is not None:
                figures["ontoea"] = weighed.ranked(wanted)
        else:
            assert named is not None
            pairs, confidence = named, learned(named, rows) if known else by_rule(named)
        made = Alignment(mine, side.table, pairs, confidence, one_to_one(pairs, confidence))
        doubtful = made.doubtful()
        what = f"{left.name} matched with {right.name}"
        taken = write_mappings(output, made.mappings(), what=what)
        shown = (made.row(pair, CLOSE) for group in doubtful for pair in group)
        write_mappings(beside(output, "review.sssom.tsv"), shown, what=f"{what}: for review")
        _write_page(beside(output, "html"), made, doubtful, title=what)
        if wanted is not None:
            figures["reference"] = measured(pairs, confidence, wanted, left_out=rows[:, 0])
        if task is not None:
            shutil.rmtree(checkpoint)
        return {
            "left": len(mine),
            "right": len(side.table),
            "pairs": len(pairs.left),
            "conflicting": pairs.conflicting,
            "taken": taken,
            "doubtful": len(doubtful),
            "threshold": confidence.threshold,
            "seeds": len(rows),
            "seeds_left_out": dict(known.skipped) if known else {},
            "figures": figures,
        }


def _read(path: Path | None, left: ConceptTable, right: Side) -> Seeds | None:
    """Read known pairs, and say which lines are left out."""
    known = read_seeds(path, left, right.table) if path else None
    if known and known.skipped:
        logger.warning("Left out of %s: %s; %s", path, dict(known.skipped), known.first)
    return known


def beside(output: Path, ending: str) -> Path:
    """Return the path of another file beside OUT.sssom.tsv: OUT.review.sssom.tsv, OUT.html."""
    name = output.name.removesuffix(".tsv").removesuffix(".sssom")
    return output.with_name(f"{name}.{ending}")


def _write_page(path: Path, made: Alignment, doubtful: list[list[int]], *, title: str) -> None:
    named = made.pairs.same_name
    shown = [
        {
            "subject": _shown(made.left.concept(int(made.pairs.left[group[0]]))),
            "candidates": [
                {
                    **_shown(made.right.concept(int(made.pairs.right[pair]))),
                    "confidence": f"{made.confidence.values[pair]:.2f}",
                    "taken": bool(made.taken[pair]),
                    "same": bool(named[pair]),
                }
                for pair in group
            ],
        }
        for group in doubtful[:_ON_PAGE]
    ]
    page = templates("training.align").get_template("review.html")
    facts = {"matched": int(made.taken.sum()), "doubtful": len(doubtful), "concepts": shown}
    with atomic_file(path) as temporary:
        temporary.write_text(page.render(title=title, **facts), encoding="utf8")


def _shown(concept: Concept) -> dict[str, Any]:
    others = [name for name in concept.aliases if name != concept.canonical_name]
    return {
        "id": curie(concept.concept_id),
        "name": concept.canonical_name,
        "names": others[:_NAMES],
        "groups": concept.groups,
        "definition": concept.definition or "",
    }
