"""Tables of accuracy: few enough systems side by side to be read, the best of a row set off."""

from collections.abc import Iterator
from typing import Any

from training.evaluate.report.blocks import Table

_ABREAST = 6
"""Systems beside each other in a table of intervals."""


def accuracy_tables(systems: dict[str, Any], *, by: str = "set") -> Iterator[Table]:
    """Yield tables of few enough systems to be read and printed; the best is that of all."""
    groups = list(next(iter(systems.values()), {}))
    tops = [max(round(table[group]["acc@1"], 1) for table in systems.values()) for group in groups]
    names = list(systems)
    for first in range(0, len(names), _ABREAST):
        shown = [systems[name] for name in names[first : first + _ABREAST]]
        rows = [
            (group, str(shown[0][group]["n"]), *(_cell(table[group]) for table in shown))
            for group in groups
        ]
        best = frozenset(
            (number, 2 + column)
            for number, group in enumerate(groups)
            for column, table in enumerate(shown)
            if round(table[group]["acc@1"], 1) == tops[number]
        )
        yield Table((by, "n", *names[first : first + _ABREAST]), rows, best=best)


def percent(row: dict[str, float], *, unit: str = "") -> str:
    """Return Acc@1 of a row in percent, with its 95 % interval where it was computed."""
    low, high = row.get("acc@1_low"), row.get("acc@1_high")
    interval = "" if low is None or high is None else f" ({low:.1f}–{high:.1f})"
    return f"{row['acc@1']:.1f}{unit}{interval}"


def _cell(row: dict[str, float]) -> str:
    return f"{percent(row)} / {row['acc@5']:.1f}"
