"""Line charts, bars and scatter plots as SVG text, told apart without colour too."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import ceil, floor, log2, log10
from unicodedata import east_asian_width

from markupsafe import Markup, escape

LIGHT = (
    "#0072b2", "#d55e00", "#00845c", "#b8448c", "#7a5c00", "#1a9fc7", "#3c3c3c", "#8a70e0",
)  # fmt: skip
"""Colours of series: 3:1 or more against the ground, and apart for the colour-blind."""
DARK = (
    "#2f8fd6", "#ff8f3f", "#35c795", "#ef86c4", "#f4e98a", "#7fdcf5", "#d0d0d0", "#b39dff",
)  # fmt: skip
"""The same on a dark ground."""

Point = tuple[float, float]
_Entry = tuple[str, Callable[[float, float], Markup]]
"""A name, and what draws its look at a place, of a legend."""

_GRID = {"stroke": "currentColor", "stroke_opacity": ".15"}
_DASHES = ("", "7 3", "2 2", "9 3 2 3", "4 2")
_WIDTH, _HEIGHT = 360, 280
"""A page of 400 pixels shows a drawing in its own size, three of them fit into 1200."""
_LEFT, _TOP, _RIGHT, _BOTTOM = 48, 28, 12, 44
_ROW = 17
_LETTERS, _SHORT, _NAME = 42, 17, 13
"""How many letters fit beside a title, in half the legend, and before a row of intervals."""
_ROWS_LEFT, _STEP = 102, 10
"""Where rows of intervals begin, and how far apart two of them are."""


def line_chart(
    title: str,
    series: Mapping[str, Sequence[Point]],
    *,
    x_label: str,
    y_label: str,
    x_range: Point | None = None,
    y_range: Point | None = None,
    log_x: bool = False,
    diagonal: bool = False,
) -> Markup:
    """Draw named lines with their points; a line without points keeps its look for others.

    log_x (bool): Doublings of x are equally far apart. diagonal (bool): Draw y = x too.
    """
    points = [point for line in series.values() for point in line]
    xs, ys = x_range or _range([x for x, _ in points]), y_range or _range([y for _, y in points])
    x_ticks, y_ticks = sorted({x for x, _ in points}) if log_x else _ticks(xs), _ticks(ys)
    frame = _Frame((x_ticks[0], x_ticks[-1]), (y_ticks[0], y_ticks[-1]), log_x=log_x)
    parts = frame.axes(x_label, y_label, x_ticks, y_ticks)
    if diagonal:
        (x1, y1), (x2, y2) = frame.at(x_ticks[0], x_ticks[0]), frame.at(x_ticks[-1], x_ticks[-1])
        look = {"stroke": "currentColor", "stroke_opacity": ".5", "stroke_dasharray": "1 4"}
        parts.append(_tag("path", d=f"M{x1} {y1}L{x2} {y2}", **look))
    legend: list[_Entry] = []
    for number, (name, line) in enumerate(series.items()):
        if not line:
            continue
        places = [frame.at(x, y) for x, y in line]
        parts.append(_path(places, number))
        if len(places) <= 20:
            parts += [_mark(number, *place) for place in places]
        legend.append((name, partial(_line_sample, number)))
    return _svg(title, parts, legend)


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
    y_ticks = _ticks((0, max((value for values in series.values() for value in values), default=1)))
    frame = _Frame((edges[0], edges[-1]), (0, y_ticks[-1]))
    parts = frame.axes(x_label, y_label, _ticks((edges[0], edges[-1])), y_ticks)
    legend: list[_Entry] = []
    for place, (name, values) in enumerate(series.items()):
        look = {"fill": colour(number), "stroke": colour(number)}
        look |= {"fill_opacity": ".2"} if place % 2 else {}
        for low, high, value in zip(edges, edges[1:], values, strict=False):
            step = (high - low) / len(series)
            x1, y1 = frame.at(low + place * step, value)
            x2, y2 = frame.at(low + (place + 1) * step, 0)
            if value:
                width, height = max(0.5, x2 - x1 - 1), y2 - y1
                box = {"x": f"{x1 + 0.5:.1f}", "y": y1, "width": f"{width:.1f}"}
                parts.append(_tag("rect", **box, height=f"{height:.1f}", **look))
        legend.append((name, partial(_bar_sample, look)))
    return _svg(title, parts, legend)


def interval_chart(
    title: str, series: Mapping[str, Mapping[str, tuple[float, float, float]]], *, x_label: str
) -> Markup:
    """Draw a mark and its interval, in percent, for every row of every named series.

    series (Mapping[str, Mapping[str, tuple[float, float, float]]]): Series to row to value, lower
        and upper bound. Rows stand in the order in which they come first.
    """
    rows = list(dict.fromkeys(row for of in series.values() for row in of))
    pitch = _STEP * len(series) + 8
    bottom = _TOP + pitch * len(rows)
    scale = (_WIDTH - _ROWS_LEFT - _RIGHT - 6) / 100

    def at(value: float) -> float:
        return round(_ROWS_LEFT + scale * value, 1)

    parts = []
    for tick in range(0, 101, 20):
        parts.append(_tag("path", d=f"M{at(tick)} {_TOP}V{bottom}", **_GRID))
        parts.append(_text(at(tick), bottom + 16, tick, "middle"))
    parts.append(_text(at(50), bottom + 34, x_label, "middle"))
    for place, row in enumerate(rows):
        top = _TOP + place * pitch
        parts.append(_tag("path", d=f"M12 {top}H{_WIDTH - _RIGHT}", **_GRID))
        parts.append(_text(12, top + pitch / 2 + 4, _cut(row, _NAME)))
        for number, (name, values) in enumerate(series.items()):
            if row not in values:
                continue
            value, low, high = values[row]
            y = top + 4 + _STEP * (number + 0.5)
            parts.append(_whisker(number, f"M{at(low)} {y}H{at(high)}"))
            said = f"{row}, {name}: {value:.1f} ({low:.1f}–{high:.1f})"
            parts.append(_mark(number, at(value), y, said))
    legend: list[_Entry] = [(name, partial(_whisker_sample, n)) for n, name in enumerate(series)]
    return _svg(title, parts, legend, top=bottom + _BOTTOM)


def scatter(title: str, groups: Mapping[str, Sequence[tuple[float, float, str]]]) -> Markup:
    """Draw points (x, y, what it is) without axes, a look a group, with tooltips."""
    points = [point for group in groups.values() for point in group]
    frame = _Frame(_range([p[0] for p in points]), _range([p[1] for p in points]))
    parts = [
        _mark(number, *frame.at(x, y), f"{name}: {text}")
        for number, (name, group) in enumerate(groups.items())
        for x, y, text in group
    ]
    place = {"x": _LEFT - 8, "y": _TOP - 6}
    size = {"width": _WIDTH - _LEFT - _RIGHT + 16, "height": _HEIGHT - _TOP - _BOTTOM + 12}
    look = {"fill": "none", "stroke": "currentColor", "stroke_opacity": ".3"}
    parts.append(_tag("rect", **place, **size, **look))
    return _svg(title, parts, [])


def key(title: str, names: Sequence[str]) -> Markup:
    """Draw the mark of every group of a scatter plot beside its name."""
    legend: list[_Entry] = [(name, partial(_mark, number)) for number, name in enumerate(names)]
    return _svg(title, [], legend, top=_TOP)


def colour(number: int) -> str:
    """Return the colour of a series; a page may set another for a dark ground."""
    turn = number % len(LIGHT)
    return f"var(--series-{turn},{LIGHT[turn]})"


def shortened(text: str, most: int) -> str:
    """Return a text of at most so many letters (a wide one counts twice), cut in its middle."""
    widths = [2 if east_asian_width(letter) in "WF" else 1 for letter in text]
    if sum(widths) <= most:
        return text
    head = tail = 0
    while sum(widths[: head + 1]) <= most * 0.6:
        head += 1
    while sum(widths[: head + 1]) + sum(widths[len(text) - tail - 1 :]) <= most:
        tail += 1
    return f"{text[:head]}…{text[len(text) - tail :]}"


class _Frame:
    """The place of values in a drawing."""

    def __init__(self, xs: Point, ys: Point, *, log_x: bool = False) -> None:
        self.scale = log2 if log_x else float
        self.xs = (self.scale(xs[0]), self.scale(xs[1]))
        self.ys = ys

    def at(self, x: float, y: float) -> Point:
        across = (self.scale(x) - self.xs[0]) / ((self.xs[1] - self.xs[0]) or 1)
        up = (y - self.ys[0]) / ((self.ys[1] - self.ys[0]) or 1)
        return (
            round(_LEFT + across * (_WIDTH - _LEFT - _RIGHT), 1),
            round(_HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM), 1),
        )

    def axes(
        self, x_label: str, y_label: str, xs: Sequence[float], ys: Sequence[float]
    ) -> list[Markup]:
        bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
        parts = []
        for y in ys:
            _, place = self.at(xs[0], y)
            parts.append(_tag("path", d=f"M{_LEFT} {place}H{right}", **_GRID))
            parts.append(_text(_LEFT - 6, place + 4, f"{y:g}", "end"))
        for x in xs:
            place, _ = self.at(x, ys[0])
            parts.append(_tag("path", d=f"M{place} {bottom}v4", stroke="currentColor"))
            parts.append(_text(place, bottom + 16, f"{x:g}", "middle"))
        frame = {"fill": "none", "stroke": "currentColor", "stroke_opacity": ".6"}
        parts.append(_tag("path", d=f"M{_LEFT} {_TOP}V{bottom}H{right}", **frame))
        middle = (_TOP + bottom) / 2
        parts.append(_text((_LEFT + right) / 2, bottom + 34, x_label, "middle"))
        parts.append(_text(14, middle, y_label, "middle", transform=f"rotate(-90 14 {middle})"))
        return parts


def _path(places: Sequence[Point], number: int) -> Markup:
    look = {"fill": "none", "stroke": colour(number), "stroke_width": 2}
    dashes = _DASHES[number % len(_DASHES)]
    look |= {"stroke_dasharray": dashes} if dashes else {}
    return _tag("path", d="M" + "L".join(f"{x} {y}" for x, y in places), **look)


def _mark(number: int, x: float, y: float, tip: str = "") -> Markup:
    """Draw one of eight colours and three shapes: 24 looks."""
    inner = _tag("title", tip) if tip else ""
    look = {"fill": colour(number), "fill_opacity": ".85"}
    match number % 3:
        case 0:
            return _tag("circle", inner, cx=x, cy=y, r=3.5, **look)
        case 1:
            corner = {"x": f"{x - 3.2:.1f}", "y": f"{y - 3.2:.1f}"}
            return _tag("rect", inner, **corner, width=6.4, height=6.4, **look)
        case _:
            return _tag("path", inner, d=f"M{x} {y - 4.5:.1f}l4.5 8h-9z", **look)


def _whisker(number: int, path: str) -> Markup:
    return _tag("path", d=path, stroke=colour(number), stroke_width=1.5)


def _line_sample(number: int, x: float, y: float) -> Markup:
    return _path([(x, y), (x + 26, y)], number) + _mark(number, x + 13, y)


def _whisker_sample(number: int, x: float, y: float) -> Markup:
    return _whisker(number, f"M{x} {y}h26") + _mark(number, x + 13, y)


def _bar_sample(look: Mapping[str, str], x: float, y: float) -> Markup:
    return _tag("rect", x=x, y=y - 5, width=26, height=9, **look)


def _svg(
    title: str, parts: Sequence[Markup], legend: Sequence[_Entry], *, top: int = _HEIGHT
) -> Markup:
    """Put a title over a drawing and its legend below it, in columns where names are short."""
    across = 2 if all(shortened(name, _SHORT) == name for name, _ in legend) else 1
    rows = ceil(len(legend) / across)
    height = top + (_ROW * rows + 4 if legend else 0)
    entries = []
    for number, (name, sample) in enumerate(legend):
        x = 12 + number // rows * _WIDTH // across
        y = top + 10 + _ROW * (number % rows)
        entries.append(sample(x, y - 4) + _text(x + 34, y, _cut(name, _LETTERS)))
    heading = _text(12, 16, _cut(title, _LETTERS), font_weight=600)
    size = {"viewBox": f"0 0 {_WIDTH} {height}", "width": _WIDTH, "height": height}
    look = {"font_family": "sans-serif", "font_size": 12, "fill": "currentColor"}
    inner = Markup("\n").join(["", heading, *parts, *entries, ""])
    said = {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "aria_label": title}
    return _tag("svg", inner, **said, **size, **look)


def _text(x: float, y: float, text: object, anchor: str = "", **more: object) -> Markup:
    more |= {"text_anchor": anchor} if anchor else {}
    return _tag("text", text, x=x, y=y, **more)


def _tag(name: str, inner: object = "", **attributes: object) -> Markup:
    """Return an element; `_` in an attribute's name is a hyphen, all but markup is escaped."""
    said = [Markup(' {}="{}"').format(key.replace("_", "-"), of) for key, of in attributes.items()]
    return Markup("<{0}{1}>{2}</{0}>").format(name, Markup("").join(said), inner)


def _cut(text: str, most: int) -> Markup:
    """Return text that fits, with the whole of it as its tooltip."""
    short = shortened(text, most)
    return escape(short) + (_tag("title", text) if short != text else "")


def _range(values: Sequence[float]) -> Point:
    low, high = min(values, default=0.0), max(values, default=1.0)
    return (low, high) if high > low else (low, low + 1)


def _ticks(span: Point) -> list[float]:
    """Return four to eight round numbers, the first and the last of them around a range."""
    low, high = span
    rough = ((high - low) or 1) / 5
    power = 10.0 ** floor(log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough * 0.999)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return [round(n * step, 10) for n in range(first, max(last, first + 1) + 1)]
