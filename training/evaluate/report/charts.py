"""Line charts, bars, intervals and scatter plots as SVG text."""

from collections.abc import Mapping, Sequence
from functools import partial

from markupsafe import Markup

from training.evaluate.report import svg

_NAME = 13
"""How many letters fit before a row of intervals."""
_ROWS_LEFT, _STEP = 102, 10
"""Where rows of intervals begin, and how far apart two of them are."""


def line_chart(
    title: str,
    series: Mapping[str, Sequence[svg.Point]],
    *,
    x_label: str,
    y_label: str,
    x_range: svg.Point | None = None,
    y_range: svg.Point | None = None,
    log_x: bool = False,
    diagonal: bool = False,
) -> Markup:
    """Draw named lines with their points; a line without points keeps its look for others.

    log_x (bool): Doublings of x are equally far apart. diagonal (bool): Draw y = x too.
    """
    points = [point for line in series.values() for point in line]
    xs = x_range or svg.value_range([x for x, _ in points])
    ys = y_range or svg.value_range([y for _, y in points])
    x_ticks, y_ticks = sorted({x for x, _ in points}) if log_x else svg.ticks(xs), svg.ticks(ys)
    frame = svg.Frame((x_ticks[0], x_ticks[-1]), (y_ticks[0], y_ticks[-1]), log_x=log_x)
    parts = frame.axes(x_label, y_label, x_ticks, y_ticks)
    if diagonal:
        (x1, y1), (x2, y2) = frame.at(x_ticks[0], x_ticks[0]), frame.at(x_ticks[-1], x_ticks[-1])
        look = {"stroke": "currentColor", "stroke_opacity": ".5", "stroke_dasharray": "1 4"}
        parts.append(svg.tag("path", d=f"M{x1} {y1}L{x2} {y2}", **look))
    legend: list[svg.Entry] = []
    for number, (name, line) in enumerate(series.items()):
        if not line:
            continue
        places = [frame.at(x, y) for x, y in line]
        parts.append(svg.path(places, number))
        if len(places) <= 20:
            parts += [svg.mark(number, *place) for place in places]
        legend.append((name, partial(svg.line_sample, number)))
    return svg.drawing(title, parts, legend)


def bar_chart(
    title: str,
    edges: Sequence[float],
    series: Mapping[str, Sequence[float]],
    *,
    x_label: str,
    y_label: str,
    number: int = 0,
) -> Markup:
    """Draw grouped bars, full and pale in turn, in one colour.

    edges (Sequence[float]): The left edges of equal bins, and the last right edge.
    number (int): The colour is that of so many-th series of other drawings.
    """
    y_ticks = svg.ticks(
        (0, max((value for values in series.values() for value in values), default=1))
    )
    frame = svg.Frame((edges[0], edges[-1]), (0, y_ticks[-1]))
    parts = frame.axes(x_label, y_label, svg.ticks((edges[0], edges[-1])), y_ticks)
    legend: list[svg.Entry] = []
    for place, (name, values) in enumerate(series.items()):
        look = {"fill": svg.colour(number), "stroke": svg.colour(number)}
        look |= {"fill_opacity": ".2"} if place % 2 else {}
        for low, high, value in zip(edges, edges[1:], values, strict=False):
            step = (high - low) / len(series)
            x1, y1 = frame.at(low + place * step, value)
            x2, y2 = frame.at(low + (place + 1) * step, 0)
            if value:
                width, height = max(0.5, x2 - x1 - 1), y2 - y1
                box = {"x": f"{x1 + 0.5:.1f}", "y": y1, "width": f"{width:.1f}"}
                parts.append(svg.tag("rect", **box, height=f"{height:.1f}", **look))
        legend.append((name, partial(svg.bar_sample, look)))
    return svg.drawing(title, parts, legend)


def interval_chart(
    title: str, series: Mapping[str, Mapping[str, tuple[float, float, float]]], *, x_label: str
) -> Markup:
    """Draw a mark and its interval, in percent, for every row of every named series.

    series (Mapping[str, Mapping[str, tuple[float, float, float]]]): Series to row to value, lower
        and upper bound. Rows stand in the order in which they come first.
    """
    rows = list(dict.fromkeys(row for of in series.values() for row in of))
    pitch = _STEP * len(series) + 8
    bottom = svg.TOP + pitch * len(rows)
    scale = (svg.WIDTH - _ROWS_LEFT - svg.RIGHT - 6) / 100

    def at(value: float) -> float:
        return round(_ROWS_LEFT + scale * value, 1)

    parts = []
    for tick in range(0, 101, 20):
        parts.append(svg.tag("path", d=f"M{at(tick)} {svg.TOP}V{bottom}", **svg.GRID))
        parts.append(svg.text(at(tick), bottom + 16, tick, "middle"))
    parts.append(svg.text(at(50), bottom + 34, x_label, "middle"))
    for place, row in enumerate(rows):
        top = svg.TOP + place * pitch
        parts.append(svg.tag("path", d=f"M12 {top}H{svg.WIDTH - svg.RIGHT}", **svg.GRID))
        parts.append(svg.text(12, top + pitch / 2 + 4, svg.cut(row, _NAME)))
        for number, (name, values) in enumerate(series.items()):
            if row not in values:
                continue
            value, low, high = values[row]
            y = top + 4 + _STEP * (number + 0.5)
            parts.append(svg.whisker(number, f"M{at(low)} {y}H{at(high)}"))
            said = f"{row}, {name}: {value:.1f} ({low:.1f}–{high:.1f})"
            parts.append(svg.mark(number, at(value), y, said))
    legend: list[svg.Entry] = [
        (name, partial(svg.whisker_sample, n)) for n, name in enumerate(series)
    ]
    return svg.drawing(title, parts, legend, top=bottom + svg.BOTTOM)


def scatter(title: str, groups: Mapping[str, Sequence[tuple[float, float, str]]]) -> Markup:
    """Draw points (x, y, what it is) without axes, a look a group, with tooltips."""
    points = [point for group in groups.values() for point in group]
    frame = svg.Frame(
        svg.value_range([p[0] for p in points]), svg.value_range([p[1] for p in points])
    )
    parts = [
        svg.mark(number, *frame.at(x, y), f"{name}: {text}")
        for number, (name, group) in enumerate(groups.items())
        for x, y, text in group
    ]
    place = {"x": svg.LEFT - 8, "y": svg.TOP - 6}
    size = {
        "width": svg.WIDTH - svg.LEFT - svg.RIGHT + 16,
        "height": svg.HEIGHT - svg.TOP - svg.BOTTOM + 12,
    }
    look = {"fill": "none", "stroke": "currentColor", "stroke_opacity": ".3"}
    parts.append(svg.tag("rect", **place, **size, **look))
    return svg.drawing(title, parts, [])


def key(title: str, names: Sequence[str]) -> Markup:
    """Draw the mark of every group of a scatter plot beside its name."""
    legend: list[svg.Entry] = [
        (name, partial(svg.mark, number)) for number, name in enumerate(names)
    ]
    return svg.drawing(title, [], legend, top=svg.TOP)
