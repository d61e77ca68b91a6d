"""Figures of an ablation: mean and spread over seeds, and how sure a difference is."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from training.ablation.published import render_beside_published
from training.ablation.runs import TrainingRun
from training.ablation.variants import BEFORE, FULL
from training.evaluate.metrics import documents_of, gold_ranks, group_masks
from training.evaluate.results import Results
from training.evaluate.statistics import bootstrap_interval, wilcoxon

KS = (1, 5)
MICRO, MACRO = "micro", "macro"
Hits = dict[int, np.ndarray]


def summarize(results: Results, runs: Sequence[TrainingRun]) -> dict[str, Any]:
    """Return for every variant and group Acc@k with its spread, and the difference to `all`.

    A mention's hit is its mean over the seeds; Wilcoxon's test is over mentions, intervals over
    documents where they are known, the spread (sample standard deviation of the means) over seeds.
    In percent.
    """
    queries, systems = results.of_protocol(results.choices.protocols[0])
    ranks = {name: gold_ranks(queries, ranked, results.choices.golds)
             for name, ranked in systems.items()}  # fmt: skip
    owner = next(iter(ranks.values())).owner
    hits = {
        name: {k: np.asarray(found.concept < k, dtype=float) for k in KS}
        for name, found in ranks.items()
    }
    by_variant: dict[str, list[Hits]] = {}
    for run in runs:
        by_variant.setdefault(run.variant, []).append(hits[system_name(run)])
        if run.variant == FULL:
            by_variant.setdefault(BEFORE, []).append(hits[system_name(run, before=True)])
    documents = documents_of(queries, owner)
    masks = group_masks(queries, owner)
    return {
        "mentions": {group: int(mask.sum()) for group, mask in masks.items()},
        "seeds": len({run.seed for run in runs}),
        "baselines": {
            name: _accuracies([found], masks)
            for name, found in hits.items()
            if name not in {system_name(run, before=b) for run in runs for b in (False, True)}
        },
        "variants": {
            name: {
                "accuracy": _accuracies(found, masks),
                "against_all": _differences(found, by_variant[FULL], masks, documents),
            }
            for name, found in by_variant.items()
        },
    }


def system_name(run: TrainingRun, *, before: bool = False) -> str:
    """Return under what name a run's language model is evaluated."""
    return f"{BEFORE if before else run.variant} {run.seed}"


def _accuracies(seeds: Sequence[Hits], masks: Mapping[str, np.ndarray]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for group, mask in masks.items():
        means = {k: [100 * hits[k][mask].mean() for hits in seeds] for k in KS}
        table[group] = {f"acc@{k}": _spread(means[k]) for k in KS}
    several = [group for group in masks if group != MICRO]
    macro = {
        k: [
            float(np.mean([100 * hits[k][masks[group]].mean() for group in several]))
            for hits in seeds
        ]
        for k in KS
    }
    table[MACRO] = {f"acc@{k}": _spread(macro[k]) for k in KS}
    return table


def _spread(values: Sequence[float]) -> dict[str, float]:
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return {"mean": round(float(np.mean(values)), 2), "spread": round(spread, 2)}


def _differences(
    mine: Sequence[Hits],
    full: Sequence[Hits],
    masks: Mapping[str, np.ndarray],
    documents: np.ndarray,
) -> dict[str, dict[str, float]]:
    """Compare Acc@1 of a variant with that of all objectives, paired by mention."""
    one, other = (np.mean([hits[1] for hits in found], axis=0) for found in (mine, full))
    table = {}
    for group, mask in masks.items():
        difference = one[mask] - other[mask]
        low, high = bootstrap_interval(difference, documents[mask])
        table[group] = {
            "difference": round(100 * float(difference.mean()), 2),
            "low": round(100 * low, 2),
            "high": round(100 * high, 2),
            "p": round(wilcoxon(one[mask], other[mask]), 4),
        }
    return table


def render(summary: dict[str, Any]) -> str:
    """Return Markdown tables: over all mentions, by set, and beside the paper's own ablation."""
    lines = [
        f"{summary['mentions'][MICRO]} mentions, {summary['seeds']} seeds; mean ± spread of seeds",
        "",
        "| variant | Acc@1 | Acc@5 | mean of sets, Acc@1 | against all, Acc@1 | p |",
        "|---|---|---|---|---|---|",
    ]
    for name, table in summary["baselines"].items():
        lines.append(f"| {name} | {_cells(table)} | | |")
    for name, entry in summary["variants"].items():
        found = entry["against_all"][MICRO]
        versus = f"{found['difference']:+.2f} ({found['low']:+.2f} to {found['high']:+.2f})"
        tail = " | |" if name == FULL else f" {versus} | {found['p']:.3f} |"
        lines.append(f"| {name} | {_cells(entry['accuracy'])} |{tail}")
    lines += ["", *_by_set(summary)]
    against = {name: entry["against_all"][MICRO] for name, entry in summary["variants"].items()}
    beside = list(render_beside_published(against))
    return "\n".join([*lines, "", *beside] if beside else lines)


def _by_set(summary: dict[str, Any]) -> Iterator[str]:
    """Yield a table of Acc@1 by set, with the difference to `all` where it is beyond chance."""
    variants = summary["variants"]
    yield "Acc@1 by set; in brackets the difference to all whose 95 % interval is without 0"
    yield ""
    yield f"| set | mentions | {' | '.join(variants)} |"
    yield "|---" * (len(variants) + 2) + "|"
    for group, mentions in summary["mentions"].items():
        if group != MICRO:
            cells = [_cell(entry, group) for entry in variants.values()]
            yield f"| {group} | {mentions} | {' | '.join(cells)} |"


def _cell(entry: dict[str, Any], group: str) -> str:
    found, value = entry["against_all"][group], entry["accuracy"][group]["acc@1"]["mean"]
    sure = found["low"] > 0 or found["high"] < 0
    return f"{value:.1f} ({found['difference']:+.1f})" if sure else f"{value:.1f}"


def _cells(table: dict[str, Any]) -> str:
    parts = (table[MICRO]["acc@1"], table[MICRO]["acc@5"], table[MACRO]["acc@1"])
    return " | ".join(f"{part['mean']:.2f} ± {part['spread']:.2f}" for part in parts)
