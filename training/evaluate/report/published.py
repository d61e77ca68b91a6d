"""Published figures beside ours: `published.json`, with the address that each was read at."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from training.evaluate.report.blocks import Block, Heading, Table, Text

PATH = Path(__file__).parents[1] / "published.json"


def published_section(
    figures: dict[str, Any], *, release: str = "", sets: Mapping[str, str] | None = None
) -> Iterator[Block]:
    """Print the published figures of every set that was run, and whether ours compare with them.

    release (str): What our dictionary is, in the file's words; empty: not said.
    sets (Mapping[str, str] | None): Our name of a set to the published one; without it a set is
        known by its name, case and punctuation aside.
    """
    known = json.loads(PATH.read_text(encoding="utf8"))
    chosen = {_key(name): group for group, name in (sets or {}).items()}
    groups = {_key(group): group for group in next(iter(figures["systems"].values()), {})} | chosen
    parts = {figures["protocol"]: figures, **figures["further_protocols"]}
    rows = []
    for entry in known["figures"]:
        group = groups.get(_key(entry["set"]))
        if group is None:
            continue
        part = parts.get(entry["protocol"])
        ours, mentions = "protocol not run" if part is None else "set without mentions", None
        if part is not None and group in next(iter(part["systems"].values())):
            mentions = next(iter(part["systems"].values()))[group]["n"]
            ours = ", ".join(
                f"{system} {table[group][entry['metric']]:.1f}"
                for system, table in part["systems"].items()
                if entry["metric"] in table[group]
            )
            ours = ours or "metric not computed"
        label = f"{entry['paper']}: {entry['system']}" + " (second-hand)" * entry["secondary"]
        why = comparable(entry, release, mentions, golds=figures.get("golds", "any"))
        rows.append(
            (group, label, entry["metric"], f"{entry['value']:.1f}", ours, why, entry["source"])
        )
    if not rows:
        return
    yield Heading("Published figures")
    columns = ("set", "published", "metric", "theirs", "ours", "comparable", "read at")
    yield Table(columns, rows)
    yield Text(f"Not in the file, as no source was at hand: {'; '.join(known['not_found'])}.")


def comparable(
    entry: Mapping[str, Any], release: str, mentions: int | None, *, golds: str = "any"
) -> str:
    """Return "yes", or why our figure does not compare with a published one."""
    reasons = []
    if entry.get("trained"):
        reasons.append("theirs is trained on the set's own training part")
    if entry["dictionary"] != release:
        reasons.append(f"their dictionary is {entry['dictionary']}, ours {release or 'not said'}")
    if mentions is not None and entry.get("mentions", mentions) != mentions:
        reasons.append(f"theirs are {entry['mentions']} mentions, ours {mentions}")
    if entry.get("golds", golds) != golds:
        reasons.append(f"of several golds theirs count {entry['golds']}, ours {golds}")
    return f"no: {'; '.join(reasons)}" if reasons else "yes"


def _key(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
