"""How often the gold concept is found, from the figures of an evaluation."""

import json
from pathlib import Path
from typing import Any

from training.errors import BergamotError, Errors
from training.evaluate.systems import EXACT_SEARCH

BY_HEART = 95.0
"""Percent of the mentions that a pipeline has as names, from which its recall says little."""

_KS = (1, 5)
_FIGURES = "the figures that `python -m training evaluate` writes"


def read_recall(path: Path, *, lm: str, index: str) -> dict[str, Any]:
    """Read the JSON of an evaluation; see `recall_facts`.

    RAISES (BergamotError): B002 if it is none.
    """
    try:
        figures = json.loads(path.read_text(encoding="utf8"))
        return recall_facts(figures, lm=lm, index=index)
    except (KeyError, TypeError, AttributeError) as reason:
        raise BergamotError(Errors.B002, path=path, what=_FIGURES, reason=f"{reason!r}") from None
    except (OSError, ValueError) as reason:
        raise BergamotError(Errors.B002, path=path, what=_FIGURES, reason=reason) from None


def recall_facts(figures: dict[str, Any], *, lm: str, index: str) -> dict[str, Any]:
    """Return recall@1 and @5 as shares of 1, by group, of the system that a pipeline is.

    That is the pipeline itself where it was measured on names that are new to it, else its
    language model; an empty dict if neither was measured.

    lm, index (str): Fingerprints of the pipeline's language model and index.
    RAISES (KeyError): If a figure is missing.
    """
    system, kind = _system(figures, lm=lm, index=index)
    if not system:
        return {}
    facts: dict[str, Any] = {"system": system, "kind": kind}
    if kind == "pipeline":
        about = figures["pipelines"][system]
        facts |= {"own_names": round(about["own"] / 100, 6), "hidden": about.get("hidden", 0)}
    others = [n for n in figures["systems"] if n != system and not n.endswith(EXACT_SEARCH)]
    return {
        **facts,
        "protocol": figures["protocol"],
        "mentions": figures["mentions"],
        "dictionary": figures["dictionary"],
        "groups": {group: _row(row) for group, row in figures["systems"][system].items()},
        "beside": {
            name: {
                group: _row(row, bounds=False) for group, row in figures["systems"][name].items()
            }
            for name in others
        },
    }


def _system(figures: dict[str, Any], *, lm: str, index: str) -> tuple[str, str]:
    """Return name and kind of the system that a pipeline is; both empty if there is none."""
    pipelines = figures.get("pipelines", {})  # earlier files have none
    mine = {name: about["own"] for name, about in pipelines.items() if about["index"] == index}
    models = [name for name, mark in figures["lms"].items() if mark == lm]
    fresh = [name for name, own in mine.items() if own < BY_HEART]
    if fresh or (mine and not models):
        return min(fresh or mine, key=lambda name: mine[name]), "pipeline"
    return (models[0], "language model") if models else ("", "")


def _row(row: dict[str, float], *, bounds: bool = True) -> dict[str, float]:
    """Return n, recall@k and, where they were computed, the bounds of its 95 % interval."""
    found: dict[str, float] = {"n": int(row["n"])}
    for k in _KS:
        for end in ("", "_low", "_high") if bounds else ("",):
            if f"acc@{k}{end}" in row:
                found[f"recall@{k}{end}"] = round(row[f"acc@{k}{end}"] / 100, 6)
    return found
