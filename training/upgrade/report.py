"""What an upgrade changed, for people: lines for a terminal, and a page."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from spacy_bergamot.storage.files import write_text
from training.evaluate.report.blocks import Block, Heading, Table, Text, to_html
from training.evaluate.report.view import language_name
from training.upgrade.carry import CARRIED, NEEDLESS, REFUSED

SHOWN = 500
"""Rows of a table of the page; the JSON has all."""

_COLUMNS = {
    "added": ("Added concepts", {"concept_id": "id", "name": "name"}),
    "removed": ("Removed concepts", {"concept_id": "id", "name": "name", "see": "see"}),
    "merged": (
        "Merged concepts",
        {"concept_id": "id", "name": "name", "into": "is now", "into_name": "name"},
    ),
    "renamed": (
        "Renamed concepts",
        {"concept_id": "id", "name": "before", "now": "now", "meaning": "remark"},
    ),
}

Report = Mapping[str, Any]


def summary(report: Report) -> str:
    """Return the report as lines; changes one by one only where they were refused."""
    counts, names = report["counts"], report["names"]
    lines = [
        f"concepts {counts['concepts_before']:,} → {counts['concepts_now']:,}: "
        + ", ".join(f"{len(report[kind]):,} {kind}" for kind in _COLUMNS),
        f"names    {names['names']:,}: {names['kept']:,} with the vectors they had, "
        f"{names['encoded']:,} encoded",
        f"names by language: {_gains(report['names_by_language'])}",
    ]
    if not report["mrcui"]:
        lines.append("no MRCUI.RRF in the release: a merged concept is among the removed ones")
    lines += [f"{part['what']}: {_fate(part)}" for part in report["parts"]]
    if changes := report["changes"]:
        lines.append(f"changes: {_counted(changes)}")
    lines += [f"  {_cut(of['what'])}: {_fate(of)}" for of in changes if of["became"] == REFUSED]
    return "\n".join([*lines, f"{report['seconds']} s"])


def write_report(report: Report, output: Path) -> Path:
    """Write a report as JSON and as a page beside the new pipeline; return the page's path.

    output (Path): Folder of the new pipeline.
    """
    page = output.with_name(f"{output.name}.upgrade.html")
    text = json.dumps(report, ensure_ascii=False, indent=1) + "\n"
    write_text(page.with_suffix(".json"), text)
    title = f"{output.name}: what the new release changed"
    write_text(page, to_html(title, list(_blocks(report))))
    return page


def _blocks(report: Report) -> Iterator[Block]:
    counts, names = report["counts"], report["names"]
    yield Text(f"From {report['pipeline']}, with {report['release']}.")
    rows = [
        ["concepts", f"{counts['concepts_before']:,}", f"{counts['concepts_now']:,}"],
        ["aliases", f"{counts['aliases_before']:,}", f"{counts['aliases_now']:,}"],
    ]
    rows += [[f"concepts {kind}", "", f"{len(report[kind]):,}"] for kind in _COLUMNS]
    rows += [["distinct names encoded", "", f"{names['encoded']:,}"]]
    rows += [["distinct names with the vectors they had", "", f"{names['kept']:,}"]]
    yield Table(["", "before", "now"], rows)
    if not report["mrcui"]:
        yield Text(
            "The release has no MRCUI.RRF, which says what retired concepts became: one that was "
            "merged into another is among the removed ones."
        )
    yield from _languages(report["names_by_language"])
    yield from _parts(report["parts"])
    yield from _changes(report["changes"])
    for kind, (title, columns) in _COLUMNS.items():
        yield from _listed(title, columns, report[kind])
    yield from _versions(report["sources"])


def _languages(names: Mapping[str, Mapping[str, int]]) -> Iterator[Block]:
    yield Heading("Names by language")
    columns = ("before", "added", "removed", "now")
    rows = [
        [language_name(code), *(f"{of[column]:,}" for column in columns)]
        for code, of in names.items()
    ]
    yield Table(["language", *columns], rows)


def _parts(parts: Sequence[Mapping[str, str]]) -> Iterator[Block]:
    if parts:
        yield Heading("What the pipeline had learned")
        rows = [[part["what"], part["became"], part["why"]] for part in parts]
        yield Table(["", "became", "why"], rows)


def _changes(changes: Sequence[Mapping[str, str]]) -> Iterator[Block]:
    if changes:
        yield Heading("Changes of your own")
        yield Text(_counted(changes))
        order = (REFUSED, NEEDLESS, CARRIED)
        ordered = sorted(changes, key=lambda change: order.index(change["became"]))
        rows = [[change["what"], change["became"], change["why"]] for change in ordered[:SHOWN]]
        yield Table(["change", "became", "why"], rows, _of(len(rows), len(changes)))


def _listed(
    title: str, columns: Mapping[str, str], entries: Sequence[Mapping[str, str]]
) -> Iterator[Block]:
    yield Heading(title)
    if not entries:
        yield Text("None.")
        return
    keys = [key for key in columns if any(key in entry for entry in entries)]
    rows = [[entry.get(key, "") for key in keys] for entry in entries[:SHOWN]]
    yield Table([columns[key] for key in keys], rows, _of(len(rows), len(entries)))


def _versions(sources: Mapping[str, Mapping[str, str]]) -> Iterator[Block]:
    before, now = sources["before"], sources["now"]
    rows = [[name, before.get(name, ""), now.get(name, "")] for name in sorted({*before, *now})]
    if rows:
        yield Heading("Vocabularies")
        yield Table(["vocabulary", "before", "now"], rows)


def _gains(names: Mapping[str, Mapping[str, int]]) -> str:
    """Return what was added and removed, of the languages that have changed."""
    changed = [
        f"{language_name(code)} +{of['added']:,} −{of['removed']:,}"
        for code, of in names.items()
        if of["added"] or of["removed"]
    ]
    return ", ".join(changed) or "the same"


def _counted(changes: Sequence[Mapping[str, str]]) -> str:
    kinds = [change["became"] for change in changes]
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in (CARRIED, NEEDLESS, REFUSED))


def _fate(part: Mapping[str, str]) -> str:
    return f"{part['became']} ({part['why']})" if part["why"] else part["became"]


def _of(shown: int, count: int) -> str:
    return f"The first {shown:,} of {count:,}; the JSON file has all." if shown < count else ""


def _cut(text: str) -> str:
    return text if len(text) <= 90 else text[:89] + "…"
