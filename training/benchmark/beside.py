"""Our figures and the published ones of the same sets, in one table."""

from typing import Any

from training.evaluate.report.published import comparable, published_figures
from training.evaluate.results import RECALL_KS

_COLUMNS = (*(f"acc@{k}" for k in RECALL_KS), "p@1", "f1@1")
_OVER_NAMES = "_names"


def beside(report: dict[str, Any], *, release: str) -> list[dict[str, Any]]:
    """Return the published figures of the sets in a report, each with "ours" and "comparable".

    report (dict): What `run_benchmark` returned.
    release (str): What the knowledge base is, in the words of published.json.
    """
    ours = {name: values_of(report, name) for name in report["links"]}
    found = []
    for entry in published_figures():
        metric = entry["metric"].removesuffix(_OVER_NAMES)
        given = {name: of[entry["set"]] for name, of in ours.items() if entry["set"] in of}
        if metric not in _COLUMNS or entry["protocol"] != "full" or not given:
            continue
        mentions = int(next(iter(given.values()))["n"])
        why = comparable(entry, release, mentions, golds=report["figures"]["golds"])
        if entry["metric"] != metric:
            over = "theirs counts names"
            why = f"no: {over}" if why == "yes" else f"{why}; {over}"
        values = {name: of.get(metric) for name, of in given.items()}
        found.append({**entry, "metric": metric, "ours": values, "comparable": why})
    return found


def values_of(report: dict[str, Any], system: str) -> dict[str, dict[str, float]]:
    """Return {set: {metric: value}} of one of our systems."""
    table, links = report["figures"]["systems"][system], report["links"][system]
    return {name: {**table[name], **{k: v for k, v in links[name].items() if k != "n"}}
            for name in links if name in table}  # fmt: skip


def render(report: dict[str, Any]) -> str:
    """Return a table for every set: our systems, then what was published, and why it may differ."""
    ours = {name: values_of(report, name) for name in report["links"]}
    reasons: dict[str, str] = {}
    lines = []
    for set_name in next(iter(ours.values())):
        rows = [(name, "", of[set_name]) for name, of in ours.items()]
        entries = [entry for entry in report["published"] if entry["set"] == set_name]
        rows += _published(entries, reasons)
        width = max(len(label) for label, _, _ in rows) + 2
        heads = "".join(f"{name.removeprefix('acc'):>7}" for name in _COLUMNS)
        counted = int(rows[0][2]["n"])
        lines += ["", f"{set_name}: {counted} golds, in percent", f"{'':{width}}{heads}"]
        for label, mark, values in rows:
            cells = [f"{values[name]:.1f}" if name in values else "-" for name in _COLUMNS]
            lines.append(f"{label:{width}}" + "".join(f"{cell:>7}" for cell in cells) + mark)
    lines += ["", *(f"{mark} not comparable: {why}" for why, mark in reasons.items())]
    left = {what: count for what, count in report["figures"]["skipped"].items() if count}
    lines.append("Mentions: " + ", ".join(f"{count} {what}" for what, count in left.items()))
    return "\n".join(lines).strip("\n")


def _published(
    entries: list[dict[str, Any]], reasons: dict[str, str]
) -> list[tuple[str, str, dict[str, float]]]:
    """Return label, mark and values of published systems; `reasons` gets what each mark means."""
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for entry in entries:
        label = ", ".join(filter(None, (entry["paper"], entry.get("table"), entry["system"])))
        why = entry["comparable"].removeprefix("no: ")
        mark = "" if why == "yes" else reasons.setdefault(why, f"({len(reasons) + 1})")
        rows.setdefault((label, mark), {})[entry["metric"]] = entry["value"]
    return [(label, f"  {mark}", values) for (label, mark), values in rows.items()]
