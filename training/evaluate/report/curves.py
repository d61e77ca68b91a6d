"""Training curves from the trainer's history.json."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from spacy_bergamot.text_files import check_file
from training.errors import BergamotError, Errors
from training.evaluate.report.blocks import Block, Figures, Heading, Table
from training.evaluate.report.charts import line_chart

_LOSSES = ("total", "text", "node", "intermodal", "dgi")
_MOST_POINTS = 200


def read_history(path: Path) -> dict[str, list[tuple[float, float]]]:
    """Return every logged value by step. RAISES (BergamotError): B001, B002."""
    check_file(path)
    try:
        lines: dict[str, list[tuple[float, float]]] = {}
        for entry in json.loads(path.read_text(encoding="utf8")):
            for name, value in entry.items():
                if name != "step":
                    lines.setdefault(name, []).append((float(entry["step"]), float(value)))
    except (ValueError, KeyError, TypeError, AttributeError) as reason:
        raise BergamotError(
            Errors.B002, path=path, what="history.json of a run", reason=reason
        ) from None
    return lines


def training_section(histories: Mapping[str, Path]) -> Iterator[Block]:
    """Draw losses and validation of every run."""
    drawings, rows = [], []
    for name, path in histories.items():
        lines = {key: _thinned(line) for key, line in read_history(path).items()}
        losses = {key: lines.get(key, []) for key in _LOSSES}
        if sum(map(bool, losses.values())) == 2:
            losses["total"] = []  # it is the only other one
        recalls = {key: line for key, line in lines.items() if key.startswith("recall@")}
        for title, chosen in ((f"{name}: losses", losses), (f"{name}: validation", recalls)):
            if any(chosen.values()):
                label = "recall, %" if chosen is recalls else "loss, mean since the last point"
                drawings.append(line_chart(title, chosen, x_label="training step", y_label=label))
        rows += [
            (f"{name}: {key}", f"{line[0][1]:.4f}", f"{line[-1][1]:.4f}", f"{line[-1][0]:.0f}")
            for key, line in {**losses, **recalls}.items()
            if line
        ]
    if drawings:
        yield Heading("Training")
        table = Table(("value", "first", "last", "at step"), rows)
        yield Figures(
            drawings, "What the trainer logged; a loss looks the same in every run.", table
        )


def _thinned(line: list[tuple[float, float]]) -> list[tuple[float, float]]:
    step = max(1, len(line) // _MOST_POINTS)
    return [*line[:-1:step], line[-1]]
