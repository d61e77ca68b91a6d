"""Line charts, bars and scatter plots as SVG text, told apart without colour too."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from math import ceil, floor, log2, log10
from unicodedata import east_asian_width

from markupsafe import Markup

LIGHT = (
    "#0072b2", "#d55e00", "#00845c", "#b8448c", "#7a5c00", "#1a9fc7", "#3c3c3c", "#8a70e0",
)  # fmt: skip
"""Colours of series: 3:1 or more against the ground, and apart for the colour-blind."""
DARK = (
    "#2f8fd6", "#ff8f3f", "#35c795", "#ef86c4", "#f4e98a", "#7fdcf5", "#d0d0d0", "#b39dff",
)  # fmt: skip
"""The same on a dark ground."""

Point = tuple[float, float]
_Entry = tuple[str, Callable[[float, float], str]]
"""A name, and what draws its look at a place, of a legend."""

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
        parts.append(
            f'<path d="M{x1} {y1}L{x2} {y2}" stroke="currentColor" stroke-opacity=".5" '
            'stroke-dasharray="1 4"/>'
        )
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
        look = f'fill="{colour(number)}" stroke="{colour(number)}"'
        look += ' fill-opacity=".2"' if place % 2 else ""
        for low, high, value in zip(edges, edges[1:], values, strict=False):
            step = (high - low) / len(series)
            x1, y1 = frame.at(low + place * step, value)
            x2, y2 = frame.at(low + (place + 1) * step, 0)
            if value:
                parts.append(
                    f'<rect x="{x1 + 0.5:.1f}" y="{y1}" width="{max(0.5, x2 - x1 - 1):.1f}" '
                    f'height="{y2 - y1:.1f}" {look}/>'
                )
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
        parts.append(f'<path d="M{at(tick)} {_TOP}V{bottom}" stroke="currentColor" '
                     'stroke-opacity=".15"/>')  # fmt: skip
        parts.append(f'<text x="{at(tick)}" y="{bottom + 16}" text-anchor="middle">{tick}</text>')
    parts.append(f'<text x="{at(50)}" y="{bottom + 34}" text-anchor="middle">'
                 f"{escape(x_label)}</text>")  # fmt: skip
    for place, row in enumerate(rows):
        top = _TOP + place * pitch
        parts.append(f'<path d="M12 {top}H{_WIDTH - _RIGHT}" stroke="currentColor" '
                     'stroke-opacity=".15"/>')  # fmt: skip
        parts.append(f'<text x="12" y="{top + pitch / 2 + 4}">{_cut(row, _NAME)}</text>')
        for number, (name, values) in enumerate(series.items()):
            if row not in values:
                continue
            value, low, high = values[row]
            y = top + 4 + _STEP * (number + 0.5)
            parts.append(f'<path d="M{at(low)} {y}H{at(high)}" stroke="{colour(number)}" '
                         'stroke-width="1.5"/>')  # fmt: skip
            said = f"{row}, {name}: {value:.1f} ({low:.1f}–{high:.1f})"
            parts.append(_mark(number, at(value), y, said))
    legend: list[_Entry] = [(name, partial(_whiskers, n)) for n, name in enumerate(series)]
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
    parts.append(
        f'<rect x="{_LEFT - 8}" y="{_TOP - 6}" width="{_WIDTH - _LEFT - _RIGHT + 16}" '
        f'height="{_HEIGHT - _TOP - _BOTTOM + 12}" fill="none" stroke="currentColor" '
        'stroke-opacity=".3"/>'
    )
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
    ) -> list[str]:
        bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
        parts = []
        for y in ys:
            _, place = self.at(xs[0], y)
            parts.append(f'<path d="M{_LEFT} {place}H{right}" stroke="currentColor" '
                         'stroke-opacity=".15"/>')  # fmt: skip
            parts.append(f'<text x="{_LEFT - 6}" y="{place + 4}" text-anchor="end">{y:g}</text>')
        for x in xs:
            place, _ = self.at(x, ys[0])
            parts.append(f'<path d="M{place} {bottom}v4" stroke="currentColor"/>')
            parts.append(f'<text x="{place}" y="{bottom + 16}" text-anchor="middle">{x:g}</text>')
        parts.append(f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}" fill="none" '
                     'stroke="currentColor" stroke-opacity=".6"/>')  # fmt: skip
        parts.append(f'<text x="{(_LEFT + right) / 2}" y="{bottom + 34}" text-anchor="middle">'
                     f"{escape(x_label)}</text>")  # fmt: skip
        parts.append(f'<text x="14" y="{(_TOP + bottom) / 2}" text-anchor="middle" '
                     f'transform="rotate(-90 14 {(_TOP + bottom) / 2})">{escape(y_label)}</text>'
                     )  # fmt: skip
        return parts


def _path(places: Sequence[Point], number: int) -> str:
    line = "L".join(f"{x} {y}" for x, y in places)
    dashes = _DASHES[number % len(_DASHES)]
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<path d="M{line}" fill="none" stroke="{colour(number)}" stroke-width="2"{dashed}/>'


def _mark(number: int, x: float, y: float, tip: str = "") -> str:
    """Draw one of eight colours and three shapes: 24 looks."""
    inner = f"<title>{escape(tip)}</title>" if tip else ""
    look = f'fill="{colour(number)}" fill-opacity=".85"'
    match number % 3:
        case 0:
            return f'<circle cx="{x}" cy="{y}" r="3.5" {look}>{inner}</circle>'
        case 1:
            return (
                f'<rect x="{x - 3.2:.1f}" y="{y - 3.2:.1f}" width="6.4" height="6.4" {look}>'
                f"{inner}</rect>"
            )
        case _:
            return f'<path d="M{x} {y - 4.5:.1f}l4.5 8h-9z" {look}>{inner}</path>'


def _line_sample(number: int, x: float, y: float) -> str:
    return _path([(x, y), (x + 26, y)], number) + _mark(number, x + 13, y)


def _whiskers(number: int, x: float, y: float) -> str:
    whisker = f'<path d="M{x} {y}h26" stroke="{colour(number)}" stroke-width="1.5"/>'
    return whisker + _mark(number, x + 13, y)


def _bar_sample(look: str, x: float, y: float) -> str:
    return f'<rect x="{x}" y="{y - 5}" width="26" height="9" {look}/>'


def _svg(
    title: str, parts: Sequence[str], legend: Sequence[_Entry], *, top: int = _HEIGHT
) -> Markup:
    """Put a title over a drawing and its legend below it, in columns where names are short."""
    across = 2 if all(shortened(name, _SHORT) == name for name, _ in legend) else 1
    rows = ceil(len(legend) / across)
    height = top + (_ROW * rows + 4 if legend else 0)
    entries = []
    for number, (name, sample) in enumerate(legend):
        x = 12 + number // rows * _WIDTH // across
        y = top + 10 + _ROW * (number % rows)
        entries.append(
            f'{sample(x, y - 4)}<text x="{x + 34}" y="{y}">{_cut(name, _LETTERS)}</text>'
        )
    inner = "\n".join([*parts, *entries])
    return Markup(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img" aria-label="{escape(title)}" '
        'font-family="sans-serif" font-size="12" fill="currentColor">\n'
        f'<text x="12" y="16" font-weight="600">{_cut(title, _LETTERS)}</text>\n{inner}\n</svg>'
    )


def _cut(text: str, most: int) -> str:
    """Return escaped text that fits, with the whole of it as its tooltip."""
    short = shortened(text, most)
    return escape(short) + (f"<title>{escape(text)}</title>" if short != text else "")


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
