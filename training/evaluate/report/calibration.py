"""How often the first concept is right at each score."""

from collections.abc import Iterator

import numpy as np

from spacy_bergamot.linking.calibration_report import expected_calibration_error
from training.evaluate.metrics import gold_ranks
from training.evaluate.report.blocks import Block, Figures, Heading, Table, Text
from training.evaluate.report.charts import bar_chart, line_chart
from training.evaluate.results import Results

_BINS = 10


def calibration(results: Results) -> Iterator[Block]:
    """Reliability of the first score, and the scores of hits and misses."""
    queries, systems = results.of_protocol(results.choices.protocols[0])
    lines: dict[str, list[tuple[float, float]]] = {}
    drawings, rows = [], []
    for number, (name, ranked) in enumerate(systems.items()):
        ranks = gold_ranks(queries, ranked, results.choices.golds)
        scores = np.array([(ranked[row].scores or [0.0])[0] for row in ranks.owner.tolist()])
        hits = ranks.concept < 1
        answered = np.array([bool(ranked[row].scores) for row in ranks.owner.tolist()], dtype=bool)
        scores, hits = np.clip(scores[answered], 0, 1), hits[answered]
        lines[name] = reliability(scores, hits)
        if not len(scores):
            continue
        error = expected_calibration_error(scores, hits)
        edges = np.linspace(0, 1, 2 * _BINS + 1)
        shares = {
            kind: (100 * np.histogram(scores[mask], edges)[0] / len(scores)).tolist()
            for kind, mask in (("right", hits), ("wrong", ~hits))
        }
        drawings.append(
            bar_chart(
                f"Scores of {name} (n = {len(scores)})", edges.tolist(), shares,
                x_label="score of the first concept", y_label="share of the answered, %",
                number=number,
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
    columns = ("system", "answered", "mean score if right", "mean score if wrong",
               "calibration error, %")  # fmt: skip
    table = Table(columns, rows)
    chart = line_chart(
        "Reliability", lines, x_label="score of the first concept",
        y_label="share of these that are right", x_range=(0, 1), y_range=(0, 1), diagonal=True,
    )  # fmt: skip
    caption = (
        "Reliability: ten bins of the score; the diagonal is perfect. Scores: twenty bins; right "
        "and wrong together are the n mentions that the system answered."
    )
    yield Figures((chart, *drawings), caption, table)


def reliability(scores: np.ndarray, hits: np.ndarray) -> list[tuple[float, float]]:
    """Return (mean score, share of hits) of each bin that has mentions.

    scores (float (n,)): Between 0 and 1. hits (bool (n,)).
    """
    bins = np.minimum((scores * _BINS).astype(int), _BINS - 1)
    masks = [bins == number for number in range(_BINS)]
    return [(float(scores[m].mean()), float(hits[m].mean())) for m in masks if m.any()]
