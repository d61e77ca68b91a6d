"""The paper's own ablation beside ours: whether a difference has the same sign there."""

from collections.abc import Iterator, Mapping

from training.evaluate.report.published import published_figures

_PAPER, _SYSTEM, _METRIC = "BERGAMOT", "GAT-BERGAMOT", "acc@1_names"
_SETS = {"Mantra": ("Mantra mean of 5", "filtered"), "XL-BEL": ("XL-BEL mean of 10", "full")}
"""The sets of Table 6 with their published names and protocols."""

_SYSTEMS = {
    "text only": "mSapBERT",
    "without text": f"{_SYSTEM} without the term-term loss",
    "without node": f"{_SYSTEM} without the node-node loss",
    "without intermodal": f"{_SYSTEM} without the term-node loss",
    "without dgi": f"{_SYSTEM} without the DGI loss",
}
"""Our variants and the rows of Table 6. Its text alone is mSapBERT, as others trained it."""


def published_differences() -> dict[str, dict[str, float]]:
    """Return {our variant: {set: points of Acc@1 against all objectives}} of the paper's Table 6.

    Source: Sakhovskiy et al., Findings of NAACL 2024, Table 6 (its first row is of Tables 1 and 4).
    """
    values = {
        (entry["system"], entry["set"], entry["protocol"]): entry["value"]
        for entry in published_figures()
        if entry["paper"] == _PAPER and entry["metric"] == _METRIC
    }
    return {
        ours: {
            name: round(values[(theirs, *where)] - values[(_SYSTEM, *where)], 2)
            for name, where in _SETS.items()
        }
        for ours, theirs in _SYSTEMS.items()
    }


def render_beside_published(differences: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Yield a Markdown table of the variants that the paper has too; nothing without one.

    differences (Mapping[str, Mapping[str, float]]): Of every variant its "difference" to all
        objectives in points of Acc@1, and "low" and "high", the ends of its 95 % interval.
    """
    published = published_differences()
    shown = {name: differences[name] for name in published if name in differences}
    if not shown:
        return
    yield "Beside BERGAMOT's Table 6, Acc@1 against all; other knowledge base, sets and length"
    yield ""
    yield f"| variant | ours | {' | '.join(f'{name}, theirs' for name in _SETS)} | sign |"
    yield "|---" * (len(_SETS) + 3) + "|"
    for name, ours in shown.items():
        theirs = [f"{value:+.2f}" for value in published[name].values()]
        cells = [name, f"{ours['difference']:+.2f}", *theirs, _signs(ours, published[name])]
        yield f"| {' | '.join(cells)} |"


def _signs(ours: Mapping[str, float], theirs: Mapping[str, float]) -> str:
    if ours["low"] <= 0 <= ours["high"]:
        return "ours within chance"
    same = [name for name, value in theirs.items() if value * ours["difference"] > 0]
    other = [name for name in theirs if name not in same]
    words = (("as", same), ("other than", other))
    return ", ".join(f"{word} {' and '.join(names)}" for word, names in words if names)
