"""Line charts, bars and scatter plots as SVG text."""

from collections.abc import Mapping, Sequence
from html import escape
from math import log2

Point = tuple[float, float]

PALETTE = (
    "#1f6fb4", "#d9541e", "#2c8f3c", "#8a4fb0", "#b8860b", "#c2347a", "#17899b", "#6b6b6b",
    "#7a3b12", "#4455dd", "#9aa514", "#e0789a",
)  # fmt: skip
_WIDTH, _HEIGHT = 440, 300
_LEFT, _TOP, _RIGHT, _BOTTOM = 52, 28, 12, 44


def colour(number: int) -> str:
    """Return a colour; they come round again after twelve."""
    return PALETTE[number % len(PALETTE)]


def line_chart(
    title: str,
    series: Mapping[str, Sequence[Point]],
    *,
    x_label: str,
    y_label: str,
    y_range: tuple[float, float] | None = None,
    log_x: bool = False,
    diagonal: bool = False,
) -> str:
    """Draw named lines with their points.

    log_x (bool): Doublings of x are equally far apart. diagonal (bool): Draw y = x too.
    """
    points = [point for line in series.values() for point in line]
    xs, ys = _range([x for x, _ in points]), y_range or _range([y for _, y in points])
    frame = _Frame(xs, ys, log_x=log_x)
    ticks = sorted({x for x, _ in points}) if log_x else _ticks(xs)
    parts = frame.axes(title, x_label, y_label, ticks, _ticks(ys))
    if diagonal:
        (x1, y1), (x2, y2) = frame.at(xs[0], xs[0]), frame.at(xs[1], xs[1])
        parts.append(f'<path d="M{x1} {y1}L{x2} {y2}" stroke="#aaa" stroke-dasharray="4 4"/>')
    for number, (name, line) in enumerate(series.items()):
        places = [frame.at(x, y) for x, y in line]
        path = "L".join(f"{x} {y}" for x, y in places)
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour(number)}" stroke-width="2"/>')
        if len(places) <= 20:
            parts += [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour(number)}"/>'
                      for x, y in places]  # fmt: skip
        parts.append(_legend(number, name))
    return _svg(title, parts, rows=len(series))


def bar_chart(
    title: str, labels: Sequence[float], series: Mapping[str, Sequence[float]], *, x_label: str
) -> str:
    """Draw grouped bars; `labels` are the left edges of equal bins, and the last right edge."""
    most = max((value for values in series.values() for value in values), default=1) or 1
    frame = _Frame((labels[0], labels[-1]), (0, most))
    ticks = _ticks((0, most))
    parts = frame.axes(title, x_label, "share, %", _ticks((labels[0], labels[-1])), ticks)
    for number, (name, values) in enumerate(series.items()):
        for low, high, value in zip(labels, labels[1:], values, strict=False):
            step = (high - low) / len(series)
            (x1, y1), (x2, y2) = (
                frame.at(low + number * step, value),
                frame.at(low + (number + 1) * step, 0),
            )
            parts.append(
                f'<rect x="{x1}" y="{y1}" width="{max(0.5, round(x2 - x1, 1) - 0.5)}" '
                f'height="{round(y2 - y1, 1)}" fill="{colour(number)}"/>'
            )
        parts.append(_legend(number, name))
    return _svg(title, parts, rows=len(series))


def scatter(title: str, groups: Mapping[str, Sequence[tuple[float, float, str]]]) -> str:
    """Draw points (x, y, what it is) without axes, a colour a group, with tooltips."""
    points = [point for group in groups.values() for point in group]
    frame = _Frame(_range([p[0] for p in points]), _range([p[1] for p in points]))
    parts = [f'<text x="{_LEFT}" y="18" font-weight="600">{escape(title)}</text>']
    shapes = ("circle", "square", "diamond")
    for number, (name, group) in enumerate(groups.items()):
        shape = shapes[number // len(PALETTE) % len(shapes)]
        for x, y, text in group:
            tip = f"<title>{escape(f'{name}: {text}')}</title>"
            parts.append(_mark(shape, *frame.at(x, y), colour(number), tip))
    return _svg(title, parts, rows=0)


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
        self, title: str, x_label: str, y_label: str, xs: Sequence[float], ys: Sequence[float]
    ) -> list[str]:
        bottom = _HEIGHT - _BOTTOM
        parts = [f'<text x="{_LEFT}" y="18" font-weight="600">{escape(title)}</text>']
        for y in ys:
            _, place = self.at(xs[0] if xs else 1, y)
            parts.append(f'<path d="M{_LEFT} {place}H{_WIDTH - _RIGHT}" stroke="#e4e4e4"/>')
            parts.append(f'<text x="{_LEFT - 6}" y="{place + 4}" text-anchor="end">{y:g}</text>')
        for x in xs:
            place, _ = self.at(x, self.ys[0])
            parts.append(f'<text x="{place}" y="{bottom + 16}" text-anchor="middle">{x:g}</text>')
        parts.append(f'<path d="M{_LEFT} {_TOP}V{bottom}H{_WIDTH - _RIGHT}" fill="none" '
                     'stroke="#777"/>')  # fmt: skip
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        parts.append(f'<text x="{middle}" y="{bottom + 34}" text-anchor="middle">'
                     f"{escape(x_label)}</text>")  # fmt: skip
        parts.append(f'<text x="14" y="{(_TOP + bottom) / 2}" text-anchor="middle" '
                     f'transform="rotate(-90 14 {(_TOP + bottom) / 2})">{escape(y_label)}</text>'
                     )  # fmt: skip
        return parts


def _mark(shape: str, x: float, y: float, fill: str, inner: str) -> str:
    if shape == "circle":
        return f'<circle cx="{x}" cy="{y}" r="4" fill="{fill}" fill-opacity=".8">{inner}</circle>'
    turn = f' transform="rotate(45 {x} {y})"' if shape == "diamond" else ""
    return (
        f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{fill}" '
        f'fill-opacity=".8"{turn}>{inner}</rect>'
    )


def _legend(number: int, name: str) -> str:
    y = _HEIGHT + 6 + 17 * number
    return (
        f'<rect x="{_LEFT}" y="{y - 9}" width="12" height="10" fill="{colour(number)}"/>'
        f'<text x="{_LEFT + 18}" y="{y}">{escape(name)}</text>'
    )


def _svg(title: str, parts: Sequence[str], *, rows: int) -> str:
    height = _HEIGHT + 17 * rows
    inner = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img" font-family="sans-serif" font-size="12" '
        f'fill="#222"><desc>{escape(title)}</desc>\n{inner}\n</svg>'
    )


def _range(values: Sequence[float]) -> Point:
    low, high = min(values, default=0.0), max(values, default=1.0)
    return (low, high) if high > low else (low, low + 1)


def _ticks(span: Point) -> list[float]:
    """Return four to eight round numbers within a range."""
    low, high = span
    rough = (high - low) / 5
    power = 10.0 ** (len(f"{int(rough)}") - 1) if rough >= 1 else 1.0
    while power > rough:
        power /= 10
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough)
    first = -int(-low // step)
    return [round(n * step, 10) for n in range(first, int(high / step + 1e-9) + 1)]
