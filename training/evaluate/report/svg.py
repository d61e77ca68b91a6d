"""Drawings as SVG text: axes, marks, legends, told apart without colour too."""

from collections.abc import Callable, Mapping, Sequence
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
Entry = tuple[str, Callable[[float, float], Markup]]
"""A name, and what draws its look at a place, of a legend."""

GRID = {"stroke": "currentColor", "stroke_opacity": ".15"}
DASHES = ("", "7 3", "2 2", "9 3 2 3", "4 2")
WIDTH, HEIGHT = 360, 280
"""A page of 400 pixels shows a drawing in its own size, three of them fit into 1200."""
LEFT, TOP, RIGHT, BOTTOM = 48, 28, 12, 44
ROW = 17
LETTERS, SHORT = 42, 17
"""How many letters fit beside a title, and in half the legend."""


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


class Frame:
    """The place of values in a drawing."""

    def __init__(self, xs: Point, ys: Point, *, log_x: bool = False) -> None:
        self.scale = log2 if log_x else float
        self.xs = (self.scale(xs[0]), self.scale(xs[1]))
        self.ys = ys

    def at(self, x: float, y: float) -> Point:
        """Return the place of a value in the drawing."""
        across = (self.scale(x) - self.xs[0]) / ((self.xs[1] - self.xs[0]) or 1)
        up = (y - self.ys[0]) / ((self.ys[1] - self.ys[0]) or 1)
        return (
            round(LEFT + across * (WIDTH - LEFT - RIGHT), 1),
            round(HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM), 1),
        )

    def axes(
        self, x_label: str, y_label: str, xs: Sequence[float], ys: Sequence[float]
    ) -> list[Markup]:
        """Draw both axes with ticks at some values."""
        bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        parts = []
        for y in ys:
            _, place = self.at(xs[0], y)
            parts.append(tag("path", d=f"M{LEFT} {place}H{right}", **GRID))
            parts.append(text(LEFT - 6, place + 4, f"{y:g}", "end"))
        for x in xs:
            place, _ = self.at(x, ys[0])
            parts.append(tag("path", d=f"M{place} {bottom}v4", stroke="currentColor"))
            parts.append(text(place, bottom + 16, f"{x:g}", "middle"))
        frame = {"fill": "none", "stroke": "currentColor", "stroke_opacity": ".6"}
        parts.append(tag("path", d=f"M{LEFT} {TOP}V{bottom}H{right}", **frame))
        middle = (TOP + bottom) / 2
        parts.append(text((LEFT + right) / 2, bottom + 34, x_label, "middle"))
        parts.append(text(14, middle, y_label, "middle", transform=f"rotate(-90 14 {middle})"))
        return parts


def path(places: Sequence[Point], number: int) -> Markup:
    """Draw the line of a series through places."""
    look = {"fill": "none", "stroke": colour(number), "stroke_width": 2}
    dashes = DASHES[number % len(DASHES)]
    look |= {"stroke_dasharray": dashes} if dashes else {}
    return tag("path", d="M" + "L".join(f"{x} {y}" for x, y in places), **look)


def mark(number: int, x: float, y: float, tip: str = "") -> Markup:
    """Draw one of eight colours and three shapes: 24 looks."""
    inner = tag("title", tip) if tip else ""
    look = {"fill": colour(number), "fill_opacity": ".85"}
    match number % 3:
        case 0:
            return tag("circle", inner, cx=x, cy=y, r=3.5, **look)
        case 1:
            corner = {"x": f"{x - 3.2:.1f}", "y": f"{y - 3.2:.1f}"}
            return tag("rect", inner, **corner, width=6.4, height=6.4, **look)
        case _:
            return tag("path", inner, d=f"M{x} {y - 4.5:.1f}l4.5 8h-9z", **look)


def whisker(number: int, path: str) -> Markup:
    """Draw the interval of a series."""
    return tag("path", d=path, stroke=colour(number), stroke_width=1.5)


def line_sample(number: int, x: float, y: float) -> Markup:
    """Draw the look of a line for a legend."""
    return path([(x, y), (x + 26, y)], number) + mark(number, x + 13, y)


def whisker_sample(number: int, x: float, y: float) -> Markup:
    """Draw the look of an interval for a legend."""
    return whisker(number, f"M{x} {y}h26") + mark(number, x + 13, y)


def bar_sample(look: Mapping[str, str], x: float, y: float) -> Markup:
    """Draw the look of a bar for a legend."""
    return tag("rect", x=x, y=y - 5, width=26, height=9, **look)


def drawing(
    title: str, parts: Sequence[Markup], legend: Sequence[Entry], *, top: int = HEIGHT
) -> Markup:
    """Put a title over a drawing and its legend below it, in columns where names are short."""
    across = 2 if all(shortened(name, SHORT) == name for name, _ in legend) else 1
    rows = ceil(len(legend) / across)
    height = top + (ROW * rows + 4 if legend else 0)
    entries = []
    for number, (name, sample) in enumerate(legend):
        x = 12 + number // rows * WIDTH // across
        y = top + 10 + ROW * (number % rows)
        entries.append(sample(x, y - 4) + text(x + 34, y, cut(name, LETTERS)))
    heading = text(12, 16, cut(title, LETTERS), font_weight=600)
    size = {"viewBox": f"0 0 {WIDTH} {height}", "width": WIDTH, "height": height}
    look = {"font_family": "sans-serif", "font_size": 12, "fill": "currentColor"}
    inner = Markup("\n").join(["", heading, *parts, *entries, ""])
    said = {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "aria_label": title}
    return tag("svg", inner, **said, **size, **look)


def text(x: float, y: float, text: object, anchor: str = "", **more: object) -> Markup:
    """Write a text at a place."""
    more |= {"text_anchor": anchor} if anchor else {}
    return tag("text", text, x=x, y=y, **more)


def tag(name: str, inner: object = "", **attributes: object) -> Markup:
    """Return an element; `_` in an attribute's name is a hyphen, all but markup is escaped."""
    said = [Markup(' {}="{}"').format(key.replace("_", "-"), of) for key, of in attributes.items()]
    return Markup("<{0}{1}>{2}</{0}>").format(name, Markup("").join(said), inner)


def cut(text: str, most: int) -> Markup:
    """Return text that fits, with the whole of it as its tooltip."""
    short = shortened(text, most)
    return escape(short) + (tag("title", text) if short != text else "")


def value_range(values: Sequence[float]) -> Point:
    """Return the smallest and the largest of some values; they are never equal."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    return (low, high) if high > low else (low, low + 1)


def ticks(span: Point) -> list[float]:
    """Return four to eight round numbers, the first and the last of them around a range."""
    low, high = span
    rough = ((high - low) or 1) / 5
    power = 10.0 ** floor(log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough * 0.999)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return [round(n * step, 10) for n in range(first, max(last, first + 1) + 1)]
