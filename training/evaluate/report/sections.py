"""Sections of the report that follow from the figures of an evaluation."""

from collections.abc import Iterator
from typing import Any

from spacy_bergamot.languages import NAMES
from training.evaluate.protocols import PROTOCOLS
from training.evaluate.report.blocks import Block, Figures, Heading, Table, Text
from training.evaluate.report.charts import line_chart
from training.evaluate.report.tables import accuracy_tables, percent
from training.evaluate.results import RECALL_KS, what_pipelines_know
from training.evaluate.systems import ENSEMBLE, EXACT_SEARCH, shows_concepts

_KNOWN_SYSTEMS = {
    "exact": "finds a mention that is a name of the dictionary",
    "lexical": "finds the names nearest in letters (3-grams)",
}


def headline(figures: dict[str, Any], *, measured: str) -> Iterator[Block]:
    """What was measured, on what, when, and the first result. measured (str): The day."""
    systems = {name: table["micro"] for name, table in figures["systems"].items()}
    ranked = sorted(systems.items(), key=lambda pair: -pair[1]["acc@1"])
    (best, row), *others = ranked
    groups = next(iter(figures["systems"].values())).keys() - {"micro", "macro"}
    unit = "language" if groups <= set(NAMES.values()) else "set"
    interval = ""
    if "acc@1_low" in row:
        interval = f" (95 % interval {row['acc@1_low']:.1f} to {row['acc@1_high']:.1f})"
    dictionary = figures["dictionary"]
    yield Text(
        f"Measured on {measured}: of {row['n']:,} mentions in {len(groups)} "
        f"{unit}{'s' * (len(groups) > 1)}, {best} has the right one of "
        f"{dictionary['concepts']:,} concepts first for {row['acc@1']:.1f} %{interval} and among "
        f"the first five for {row['acc@5']:.1f} %."
    )
    if others:
        rest = ", ".join(f"{name} {percent(of, unit=' %')}" for name, of in others)
        yield Text(f"The others, first: {rest}.")


def overview(figures: dict[str, Any]) -> Iterator[Block]:
    """What was counted, how, and what the systems are."""
    dictionary = figures["dictionary"]
    yield Heading("What was measured")
    yield Text(
        f"Dictionary: {dictionary['names']:,} names of {dictionary['concepts']:,} concepts. "
        f"Several gold concepts: {figures['golds']}. Gold concepts out of the dictionary: "
        f"{figures['out_of_kb']}. Concepts kept of a mention: {figures['k']}. Threshold of NIL: "
        f"{'none' if figures['threshold'] is None else figures['threshold']}. "
        f"Language models' precision: {figures['precision']}."
    )
    yield from map(Text, what_pipelines_know(figures))
    names = [*figures["systems"], *figures["silent"]]
    yield Table(("system", "what it is"), [(name, _what_it_is(name, figures)) for name in names])
    skipped = [(reason, f"{n:,}") for reason, n in figures["skipped"].items() if n]
    if skipped:
        yield Table(("not read, or left out", "mentions"), skipped)


def _what_it_is(name: str, figures: dict[str, Any]) -> str:
    if name in figures["lms"]:
        said = f"language model {figures['lms'][name][:16]}, searched through the index"
    elif name in figures.get("pipelines", {}):
        said = f"whole spaCy pipeline, index {figures['pipelines'][name]['index'][:16]}"
    elif name.endswith(EXACT_SEARCH):
        said = "the same language model without the index"
    elif name.endswith(ENSEMBLE):
        said = "the same language model with exact match and 3-grams, as pipelines mix them"
    else:
        said = _KNOWN_SYSTEMS.get(name, "")
    if name in figures["silent"]:
        said += "; found nothing for any of these mentions, and is left out below"
    return said


def accuracy(figures: dict[str, Any]) -> Iterator[Block]:
    """Acc@1 with intervals and Acc@5 of every protocol, set and system."""
    yield Heading("Accuracy")
    yield Text(
        "Acc@1 (95 % bootstrap interval) / Acc@5: percent of the n mentions whose gold concept is "
        "the first, or among the first five distinct concepts. Best Acc@1 of a row in bold. Micro "
        "is over all mentions, macro the mean of the sets."
    )
    for protocol, part in _parts(figures).items():
        yield Heading(f"Protocol {protocol}", 3)
        counted = f"Counted: {PROTOCOLS[protocol]}."
        if part.get("silent") and part is not figures:
            counted += (
                f" Left out, as it found nothing for any of them: {', '.join(part['silent'])}."
            )
        yield Text(counted)
        yield from accuracy_tables(part["systems"])
        yield _choices_table(part["systems"], figures.get("pipelines", {}))


def _parts(figures: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the figures of every protocol, the first one's first."""
    return {figures["protocol"]: figures, **figures["further_protocols"]}


def significance(figures: dict[str, Any]) -> Iterator[Block]:
    """Tests between every two systems, over all mentions of each protocol."""
    rows = [
        (
            f"{pair['one']} − {pair['other']}",
            protocol,
            f"{_signed(pair['difference'])} ({_signed(pair['low'])}, {_signed(pair['high'])})",
            f"{pair['wins']} / {pair['losses']}",
            _p(pair["mcnemar_p"]),
            _p(pair["wilcoxon_p"]),
        )
        for protocol, part in _parts(figures).items()
        for pair in part["comparisons"]
        if pair["group"] == "micro"
    ]
    if rows:
        yield Heading("Differences between systems")
        yield Table(
            ("systems", "protocol", "difference, points (95 % interval)", "wins / losses",
             "McNemar p", "Wilcoxon p"),
            rows,
            "Acc@1 over all mentions; paired bootstrap, exact McNemar, Wilcoxon signed-rank. "
            "Not corrected for the number of comparisons.",
        )  # fmt: skip


def nil(figures: dict[str, Any]) -> Iterator[Block]:
    """Precision and recall of NIL, where the sets have mentions without a concept."""
    scores = figures["nil"]
    if not any(row["nil_gold"] for row in scores.values()):
        return
    rows = [
        (name, str(row["nil_gold"]), str(row["nil_predicted"]),
         *("–" if row[key] is None else f"{row[key]:.1f}" for key in ("nil_p", "nil_r")))
        for name, row in scores.items()
        if row["nil_predicted"]
    ]  # fmt: skip
    never = [name for name, row in scores.items() if not row["nil_predicted"]]
    yield Heading("Mentions without a concept")
    if never:
        without = " (no threshold was given)" if figures["threshold"] is None else ""
        yield Text(f"Never said NIL{without}: {', '.join(never)}.")
    if rows:
        yield Table(("system", "NIL in gold", "NIL said", "precision, %", "recall, %"), rows)


def recall(figures: dict[str, Any]) -> Iterator[Block]:
    """Recall@k of every system, over all mentions."""
    yield Heading("Recall by number of candidates")
    ks = [k for k in RECALL_KS if k <= figures["k"]]
    lines = {
        name: [(float(k), table["micro"][f"acc@{k}"]) for k in ks]
        for name, table in figures["systems"].items()
    }
    rows = [(name, *(f"{y:.1f}" for _, y in line)) for name, line in lines.items()]
    table = Table(("system", *(f"recall@{k}, %" for k in ks)), rows)
    drawing = line_chart(
        "Recall@k", lines, x_label="concepts kept (k), doubling", y_label="recall, %", log_x=True
    )
    mentions = next(iter(figures["systems"].values()))["micro"]["n"]
    caption = f"All mentions (n = {mentions}), protocol {figures['protocol']}."
    yield Figures((drawing,), caption, table)
    if figures["index_loss"]:
        rows = [
            (name, *(f"{value:.2f}" for value in loss.values()))
            for name, loss in figures["index_loss"].items()
        ]
        kept = next(iter(figures["index_loss"].values()))
        caption = "Share of exact search's first k concepts that the index finds too, %"
        yield Table(("system", *kept), rows, caption)


def _choices_table(systems: dict[str, Any], pipelines: dict[str, Any]) -> Table:
    """Names against concepts, and credit for near misses, over all mentions."""
    columns = {
        "Acc@1 concepts": "acc@1", "Acc@1 names": "acc@1_names", "Acc@5 concepts": "acc@5",
        "Acc@5 names": "acc@5_names", "MRR": "mrr", "Acc@1 with credit by distance": "acc@1_tree",
    }  # fmt: skip
    micro = {name: table["micro"] for name, table in systems.items()}
    shown = {
        title: key for title, key in columns.items() if all(key in row for row in micro.values())
    }
    of_concepts = {name for name in micro if shows_concepts(name, pipelines)}
    rows = [
        (
            name,
            *(
                "–" if name in of_concepts and key.endswith("_names") else f"{row[key]:.1f}"
                for key in shown.values()
            ),
        )
        for name, row in micro.items()
    ]
    caption = "The same over all mentions, by what counts as a hit, %"
    if of_concepts:
        caption += "; pipelines and ensembles show concepts, not names"
    return Table(("system", *shown), rows, caption)


def _p(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else f"{value:.4f}"


def _signed(value: float) -> str:
    return f"{round(value, 1) + 0.0:+.1f}".replace("-", "−")
