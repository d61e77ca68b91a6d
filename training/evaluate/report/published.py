"""Published figures beside ours: `published.json`, with the address that each was read at."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from training.evaluate.report.blocks import Block, Heading, Table, Text

PATH = Path(__file__).parents[1] / "published.json"

_COLUMNS = ("published", "theirs", "comparable with ours", "read at")


def published_figures() -> list[dict[str, Any]]:
    """Return every figure of the file by itself.

    What the rows of a table share stands once at its head, and a row has the values of all its
    metrics; here each has "paper", "system", "set", "protocol", "metric", "value", "dictionary",
    "source", "trained" (on the set's own training part) and "secondary" (quoted there from
    elsewhere), and where they are known "table", "mentions", "golds" and "note".
    """
    figures = []
    for head in _read()["tables"]:
        for row in head["rows"]:
            entry = {**head, **row}
            del entry["rows"], entry["values"]
            figures += [
                {**entry, "metric": metric, "value": value}
                for metric, value in row["values"].items()
            ]
    return figures


def published_section(
    figures: dict[str, Any], *, release: str = "", sets: Mapping[str, str] | None = None
) -> Iterator[Block]:
    """Print all published figures of every set that was run, and whether ours compare with them.

    release (str): What our dictionary is, in the file's words; empty: not said.
    sets (Mapping[str, str] | None): Our name of a set to the published one; without it a set is
        known by its name, case and punctuation aside.
    """
    chosen = {_key(name): group for group, name in (sets or {}).items()}
    groups = {_key(group): group for group in next(iter(figures["systems"].values()), {})} | chosen
    known = published_figures()
    found = [(groups[key], entry) for entry in known if (key := _key(entry["set"])) in groups]
    if not found:
        return
    yield Heading("Published figures")
    yield Text(
        f"{len(found)} of the {len(known)} figures known are of these sets; the others are of "
        "sets by other names. Second-hand: quoted there from elsewhere."
    )
    used = {entry["metric"] for _, entry in found}
    rows = [(name, what) for name, what in _read()["metrics"].items() if name in used]
    yield Table(("metric", "what is counted"), rows)
    for group in sorted({group for group, _ in found}):
        entries = sorted((entry for name, entry in found if name == group), key=_order)
        names = " and ".join(sorted({entry["set"] for entry in entries}))
        yield Heading(f"{group}: {len(entries)} published figures of {names}", 3)
        yield from _tables(entries, figures, group, release)
    yield Text(f"Not in the file: {'; '.join(_read()['not_found'])}.")


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


def _tables(
    entries: Sequence[Mapping[str, Any]], figures: dict[str, Any], group: str, release: str
) -> Iterator[Table]:
    golds = figures.get("golds", "any")
    for (protocol, metric), same in groupby(entries, itemgetter("protocol", "metric")):
        ours, mentions = _ours(figures, group, protocol, metric)
        rows = []
        for entry in same:
            why = comparable(entry, release, mentions, golds=golds)
            rows.append((_label(entry), f"{entry['value']:.1f}", why, entry["source"]))
        yield Table(_COLUMNS, rows, f"{protocol}, {metric}; ours: {ours}")


def _ours(
    figures: dict[str, Any], group: str, protocol: str, metric: str
) -> tuple[str, int | None]:
    """Return our systems' figures, or why there are none, and of how many mentions they are."""
    parts = {figures["protocol"]: figures, **figures["further_protocols"]}
    if protocol not in parts:
        return "protocol not run", None
    systems = parts[protocol]["systems"]
    tables = {name: table[group] for name, table in systems.items() if group in table}
    if not tables:
        return "set without mentions", None
    shown = [f"{name} {table[metric]:.1f}" for name, table in tables.items() if metric in table]
    return ", ".join(shown) or "metric not computed", next(iter(tables.values()))["n"]


def _order(entry: Mapping[str, Any]) -> tuple[str, str, float, str]:
    return entry["protocol"], entry["metric"], -entry["value"], _label(entry)


def _label(entry: Mapping[str, Any]) -> str:
    """Return who published a figure, where, of which system, and what is to be said of it."""
    paper = ", ".join(entry[key] for key in ("paper", "table") if key in entry)
    said = filter(None, ("second-hand" * entry["secondary"], entry.get("note")))
    remarks = "; ".join(said)
    return f"{paper}: {entry['system']}" + (f" ({remarks})" if remarks else "")


def _read() -> dict[str, Any]:
    return json.loads(PATH.read_text(encoding="utf8"))


def _key(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
