"""Sections of the report that follow from ranked results."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from spacy_bergamot.calibration import expected_calibration_error
from spacy_bergamot.languages import NAMES
from training.evaluate.hierarchy import Hierarchy
from training.evaluate.metrics import gold_ranks, tabulate
from training.evaluate.ranking import Ranked
from training.evaluate.readers import Query
from training.evaluate.report.analysis import OUTCOMES, TRAITS, Miss, mention_traits, misses
from training.evaluate.report.blocks import Block, Figures, Heading, Table, Text
from training.evaluate.report.svg import bar_chart, line_chart
from training.evaluate.results import RECALL_KS, Results, what_pipelines_know

_BINS = 10
_EXAMPLES = 5
_ABREAST = 6
"""Systems beside each other in a table of intervals."""


def headline(figures: dict[str, Any], *, measured: str) -> Iterator[Block]:
    """The first result in one sentence. measured (str): The day."""
    systems = {name: table["micro"] for name, table in figures["systems"].items()}
    ranked = sorted(systems.items(), key=lambda pair: -pair[1]["acc@1"])
    (best, row), *others = ranked
    sets = len(set(next(iter(figures["systems"].values()))) - {"micro", "macro"})
    interval = ""
    if "acc@1_low" in row:
        interval = f" (95 % interval {row['acc@1_low']:.1f} to {row['acc@1_high']:.1f})"
    said = [
        f"Measured on {measured}: of {row['n']:,} mentions in {sets} set{'s' * (sets > 1)}, {best} "
        f"has the right concept first for {row['acc@1']:.1f} %{interval} and among the first five "
        f"for {row['acc@5']:.1f} %."
    ]
    rest = ", ".join(f"{name} {of['acc@1']:.1f} %" for name, of in others if of["acc@1"])
    yield Text(" ".join([*said, f"The others, first: {rest}."] if rest else said))


def overview(figures: dict[str, Any]) -> Iterator[Block]:
    """What was counted, and how."""
    dictionary = figures["dictionary"]
    yield Text(
        f"Dictionary: {dictionary['names']:,} names of {dictionary['concepts']:,} concepts. "
        f"Several gold concepts: {figures['golds']}. Gold concepts out of the dictionary: "
        f"{figures['out_of_kb']}. Concepts kept of a mention: {figures['k']}. Threshold of NIL: "
        f"{'none' if figures['threshold'] is None else figures['threshold']}. "
        f"Language models' precision: {figures['precision']}."
    )
    yield from map(Text, what_pipelines_know(figures))
    facts = [(f"language model {name}", mark[:16]) for name, mark in figures["lms"].items()]
    facts += [(reason, str(n)) for reason, n in figures["skipped"].items() if n]
    if facts:
        yield Table(("fact", "value"), facts, "Fingerprints, and what was not read or left out")


def accuracy(figures: dict[str, Any]) -> Iterator[Block]:
    """Acc@1 with intervals and Acc@5 of every protocol, set and system."""
    yield Heading("Accuracy")
    yield Text(
        "Acc@1 (95 % bootstrap interval) / Acc@5: percent of the n mentions whose gold concept is "
        "the first, or among the first five distinct concepts. Best Acc@1 of a row in bold. Micro "
        "is over all mentions, macro the mean of the sets. “exact” finds mentions that are a name "
        "of the dictionary, “tf-idf” the names nearest in letters; a language model with “(exact)” "
        "is searched without the index."
    )
    parts = {figures["protocol"]: figures, **figures["further_protocols"]}
    for protocol, part in parts.items():
        yield Heading(f"Protocol {protocol}", 3)
        yield from _accuracy_tables(part["systems"])
        yield _choices_table(part["systems"])


def significance(figures: dict[str, Any]) -> Iterator[Block]:
    """Tests between every two systems, over all mentions of each protocol."""
    parts = {figures["protocol"]: figures, **figures["further_protocols"]}
    rows = [
        (
            f"{pair['one']} − {pair['other']}",
            protocol,
            f"{_signed(pair['difference'])} ({_signed(pair['low'])}, {_signed(pair['high'])})",
            f"{pair['wins']} / {pair['losses']}",
            _p(pair["mcnemar_p"]),
            _p(pair["wilcoxon_p"]),
        )
        for protocol, part in parts.items()
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
    ]  # fmt: skip
    yield Heading("Mentions without a concept")
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


def breakdowns(results: Results) -> Iterator[Block]:
    """Acc@1 and Acc@5 by language and by entity type, where the sets say them."""
    queries, systems = results.of_protocol(results.choices.protocols[0])
    keys: dict[str, Callable[[Query], str]] = {
        "language": lambda query: query.language or "not said",
        "type": lambda query: query.type or "not said",
    }
    for what, key in keys.items():
        if len({key(query) for query in queries}) < 2:
            continue
        yield Heading(f"By {what}")
        yield from _accuracy_tables(
            {
                name: tabulate(
                    queries,
                    ranked,
                    golds=results.choices.golds,
                    samples=results.choices.samples,
                    group_of=key,
                )
                for name, ranked in systems.items()
            },
            by=what,
        )


def calibration(results: Results) -> Iterator[Block]:
    """Reliability of the first score, and the scores of hits and misses."""
    queries, systems = results.of_protocol(results.choices.protocols[0])
    lines, drawings, rows = {}, [], []
    for name, ranked in systems.items():
        ranks = gold_ranks(queries, ranked, results.choices.golds)
        scores = np.array([(ranked[row].scores or [0.0])[0] for row in ranks.owner.tolist()])
        hits = ranks.concept < 1
        answered = np.array([bool(ranked[row].scores) for row in ranks.owner.tolist()], dtype=bool)
        scores, hits = np.clip(scores[answered], 0, 1), hits[answered]
        if not len(scores):
            continue
        lines[name] = reliability(scores, hits)
        error = expected_calibration_error(scores, hits)
        edges = np.linspace(0, 1, 2 * _BINS + 1)
        shares = {
            kind: (100 * np.histogram(scores[mask], edges)[0] / len(scores)).tolist()
            for kind, mask in (("hits", hits), ("misses", ~hits))
        }
        drawings.append(
            bar_chart(
                f"Scores of {name} (n = {len(scores)})", edges.tolist(), shares,
                x_label="score of the first concept", y_label="share of the answered, %",
            )
        )  # fmt: skip
        means = [f"{scores[mask].mean():.3f}" if mask.any() else "–" for mask in (hits, ~hits)]
        rows.append((name, str(len(scores)), *means, f"{100 * error:.1f}"))
    yield Heading("Calibration")
    yield Text(
        "A score is a similarity, not a probability; the chart shows how often the first concept "
        "is right at each score. The error is the mean distance to the diagonal, weighted by "
        "mentions (expected calibration error, ten bins)."
    )
    columns = ("system", "answered", "mean score of hits", "mean score of misses",
               "calibration error, %")  # fmt: skip
    table = Table(columns, rows)
    chart = line_chart(
        "Reliability", lines, x_label="score of the first concept",
        y_label="share of these that are right", x_range=(0, 1), y_range=(0, 1), diagonal=True,
    )  # fmt: skip
    caption = (
        "Reliability: ten bins of the score; the diagonal is perfect. Scores: twenty bins; hits "
        "and misses together are the n mentions that the system answered."
    )
    yield Figures((chart, *drawings), caption, table)


def reliability(scores: np.ndarray, hits: np.ndarray) -> list[tuple[float, float]]:
    """Return (mean score, share of hits) of each bin that has mentions.

    scores (float (n,)): Between 0 and 1. hits (bool (n,)).
    """
    bins = np.minimum((scores * _BINS).astype(int), _BINS - 1)
    masks = [bins == number for number in range(_BINS)]
    return [(float(scores[m].mean()), float(hits[m].mean())) for m in masks if m.any()]


def errors(results: Results, hierarchy: Hierarchy | None) -> Iterator[Block]:
    """How many mentions each system misses and why, and examples of the best system."""
    queries, systems = results.of_protocol(results.choices.protocols[0])
    golds = results.choices.golds
    found = {name: misses(queries, ranked, golds, hierarchy) for name, ranked in systems.items()}
    counts = [
        (name, str(len(missed)), *(_count(missed, kind) for kind in (*OUTCOMES, *TRAITS)))
        for name, missed in found.items()
    ]
    yield Heading("Error analysis")
    yield Text(
        f"Mentions whose first concept is wrong. Not retrieved: no gold concept among the first "
        f"{results.choices.k}. Ambiguous alias: the alias that was found names the gold concept "
        "too. Ranked low: the rest. The other columns may overlap: the prediction is a parent or "
        "a child of the gold concept, or shares no semantic type with it"
        + ("" if hierarchy is not None else " (not told: no concept table was given)")
        + "; the mention is an abbreviation (2 to 6 characters, mostly capitals), or has three "
        "words or more."
    )
    yield Table(("system", "missed", *OUTCOMES, *TRAITS), counts)
    yield _by_trait(queries, systems, golds)
    best = min(found, key=lambda name: len(found[name]))
    for outcome in OUTCOMES:
        examples = [miss for miss in found[best] if miss.outcome == outcome]
        if examples:
            yield Heading(f"{best}: {outcome}", 3)
            yield _examples(examples, queries, hierarchy)


def _by_trait(queries: Sequence[Query], systems: dict[str, list[Ranked]], golds: str) -> Table:
    kinds = ["abbreviation", "multi-word", "other"]
    tables = {
        name: tabulate(
            queries, ranked, golds=golds,
            group_of=lambda query: next(iter(mention_traits(query.mention)), "other"),
        )
        for name, ranked in systems.items()
    }  # fmt: skip
    first = next(iter(tables.values()))
    rows = [
        (kind, str(first[kind]["n"]), *(f"{table[kind]['acc@1']:.1f}" for table in tables.values()))
        for kind in kinds
        if kind in first
    ]
    return Table(("mentions", "n", *tables), rows, "Acc@1 by kind of mention, %")


def _examples(
    missed: Sequence[Miss], queries: Sequence[Query], hierarchy: Hierarchy | None
) -> Table:
    """Show examples spread evenly over the sets' order."""
    step = max(1, len(missed) // _EXAMPLES)
    rows = [
        (
            queries[miss.query].mention,
            queries[miss.query].group,
            _concept(miss.gold, hierarchy),
            str(miss.rank or "–"),
            _concept(miss.predicted, hierarchy) if miss.predicted else "nothing",
            miss.alias,
            f"{miss.score:.3f}" if miss.predicted else "–",
            ", ".join(miss.traits),
        )
        for miss in missed[::step][:_EXAMPLES]
    ]
    columns = ("mention", "set", "gold", "its rank", "predicted", "by the alias", "score", "traits")
    return Table(columns, rows)


def _concept(concept_id: str, hierarchy: Hierarchy | None) -> str:
    name = hierarchy.name(concept_id) if hierarchy is not None else concept_id
    return concept_id if name == concept_id else f"{name} ({concept_id})"


def _count(missed: Sequence[Miss], kind: str) -> str:
    return str(sum(miss.outcome == kind or kind in miss.traits for miss in missed))


def _accuracy_tables(systems: dict[str, Any], *, by: str = "set") -> Iterator[Table]:
    """Yield tables of few enough systems to be read and printed; the best is that of all."""
    groups = list(next(iter(systems.values()), {}))
    tops = [max(round(table[group]["acc@1"], 1) for table in systems.values()) for group in groups]
    names = list(systems)
    for first in range(0, len(names), _ABREAST):
        shown = [systems[name] for name in names[first : first + _ABREAST]]
        rows = [
            (_named(group), str(shown[0][group]["n"]), *(_cell(table[group]) for table in shown))
            for group in groups
        ]
        best = frozenset(
            (number, 2 + column)
            for number, group in enumerate(groups)
            for column, table in enumerate(shown)
            if round(table[group]["acc@1"], 1) == tops[number]
        )
        yield Table((by, "n", *names[first : first + _ABREAST]), rows, best=best)


def _named(group: str) -> str:
    """Return a set's name, with the language whose code it is."""
    return f"{group} ({NAMES[group]})" if group in NAMES else group


def _choices_table(systems: dict[str, Any]) -> Table:
    """Names against concepts, and credit for near misses, over all mentions."""
    columns = {
        "Acc@1 concepts": "acc@1", "Acc@1 names": "acc@1_names", "Acc@5 concepts": "acc@5",
        "Acc@5 names": "acc@5_names", "MRR": "mrr", "Acc@1 with credit by distance": "acc@1_tree",
    }  # fmt: skip
    micro = {name: table["micro"] for name, table in systems.items()}
    shown = {
        title: key for title, key in columns.items() if all(key in row for row in micro.values())
    }
    rows = [(name, *(f"{row[key]:.1f}" for key in shown.values())) for name, row in micro.items()]
    return Table(("system", *shown), rows, "The same over all mentions, by what counts as a hit, %")


def _cell(table: dict[str, float]) -> str:
    interval = ""
    if "acc@1_low" in table:
        interval = f" ({table['acc@1_low']:.1f}–{table['acc@1_high']:.1f})"
    return f"{table['acc@1']:.1f}{interval} / {table['acc@5']:.1f}"


def _p(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else f"{value:.4f}"


def _signed(value: float) -> str:
    return f"{round(value, 1) + 0.0:+.1f}".replace("-", "−")
