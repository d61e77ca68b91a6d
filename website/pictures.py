"""The pictures of the documentation as SVG: small, for light and dark pages, without a fetch."""

import math
import unicodedata
from collections.abc import Callable
from html import escape

from website import curves

STYLE = """
  text { font: 15px ui-monospace, "DejaVu Sans Mono", "Noto Sans Mono CJK JP", monospace }
  text { fill: #1f2328 }
  .ground { fill: #fbfcfd }
  .sans { font-family: system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif }
  .small { font-size: 12px; fill: #57606a }
  .concept { font-size: 11px; fill: #0a5c4a }
  .mark { fill: #cdeee3; stroke: #4aa88c }
  .box { fill: #eef2f5; stroke: #8c959f }
  .line { stroke: #57606a; fill: none; stroke-width: 1.5 }
  .promised, .held { fill: none; stroke-width: 3; stroke: #b35900 } .held { stroke: #1a7f5a }
  .good { fill: #1a7f5a } .bad { fill: #b35900 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .ground { fill: #15191e }
    .small { fill: #a5b0ba } .concept { fill: #7fdcbf }
    .mark { fill: #12463a; stroke: #3f9c82 }
    .box { fill: #262c33; stroke: #6e7781 }
    .line { stroke: #a5b0ba }
    .promised { stroke: #f0a35a } .held { stroke: #56d4a4 }
    .good { fill: #56d4a4 } .bad { fill: #f0a35a }
  }
"""
CELL = 9.0
"""Width of a letter of the fixed-width font at 15 px, in px; letters of East Asia have two."""

NOTES = (
    ("en", "Known type-2 diabetes, denies chest pain.",
     {"type-2 diabetes": "type 2 diabetes mellitus", "chest pain": "chest pain"}),
    ("es", "Paciente con hipertensión arterial y fiebre.",
     {"hipertensión arterial": "hypertension", "fiebre": "fever"}),
    ("de", "Verdacht auf Lungenentzündung bei Vorhofflimmern.",
     {"Lungenentzündung": "pneumonia", "Vorhofflimmern": "atrial fibrillation"}),
    ("ru", "Пациент с сахарным диабетом 2 типа и пневмонией.",
     {"сахарным диабетом 2 типа": "type 2 diabetes mellitus", "пневмонией": "pneumonia"}),
    ("ja", "高血圧の既往あり、今回は糖尿病の治療中。",
     {"高血圧": "hypertension", "糖尿病": "diabetes mellitus"}),
)  # fmt: skip
"""Notes of `notes`: language, text, and the concept of every mention, as the sample links them."""


def width(text: str) -> float:
    """Return how wide a text is in a fixed-width font, in px.

    text (str): Without combining characters.
    """
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return CELL * (len(text) + wide)


def notes() -> str:
    """Return notes in five languages with their mentions marked, and concepts below."""
    parts, top = [], 34.0
    for language, text, concepts in NOTES:
        parts.append(f'<text class="small" x="10" y="{top}">{language}</text>')
        left, rest = 46.0, text
        for mention, concept in concepts.items():
            before, _, rest = rest.partition(mention)
            parts.append(_fixed(before, left, top))
            left += width(before)
            wide = width(mention)
            parts.append(_rectangle(left - 2, top - 18, wide + 4, 25, "mark"))
            parts.append(_fixed(mention, left, top))
            parts.append(
                f'<text class="concept" x="{left + wide / 2}" y="{top + 22}" '
                f'text-anchor="middle">{escape(concept)}</text>'
            )
            left += wide
        parts.append(_fixed(rest, left, top))
        top += 56
    return _svg(520, top - 24, parts, "Notes in five languages, mentions marked with concepts")


def steps() -> str:
    """Return the way from a text to a concept."""
    names = (
        ("text", "Verdacht auf Herzinfakt"),
        ("mentions", "Herzinfakt"),
        ("candidates", "same, 3-grams, vectors"),
        ("scores", "by language, from chance"),
        ("context", "if asked for"),
        ("decision", "concept or NIL"),
    )
    parts = []
    for number, (name, below) in enumerate(names):
        x, y = 10 + 240 * (number % 3), 20 + 100 * (number // 3)
        parts.append(_rectangle(x, y, 200, 62, "box"))
        parts.append(_text(name, x + 100, y + 27, "sans", "middle"))
        parts.append(_text(below, x + 100, y + 47, "sans small", "middle"))
        if number % 3 < 2:
            parts.append(_arrow(x + 200, y + 31, x + 238, y + 31))
    parts.append('<path class="line" d="M590 82 V100 H110 V118"/>')
    parts.append('<path class="line" d="M105 112 L110 119 L115 112"/>')
    return _svg(700, 205, parts, "From text to concept in six steps")


def collide() -> str:
    """Return two names that a tokenizer cannot tell apart."""
    parts = []
    for row, name in enumerate(("心肌梗死", "肺部感染")):
        y = 50 + 70 * row
        parts.append(_fixed(name, 10, y))
        parts.append(_arrow(90, y - 5, 128, y - 5))
        for number in range(4):
            parts.append(_rectangle(136 + 66 * number, y - 22, 60, 30, "box"))
            parts.append(_text("[UNK]", 166 + 66 * number, y - 2, "small", "middle"))
        parts.append(_arrow(402, y - 5, 468, 80))
    parts.append('<circle class="bad" cx="480" cy="80" r="7"/>')
    parts.append(_text("one vector", 495, 85, "sans"))
    return _svg(600, 150, parts, "Two Chinese names become four unknown pieces each, one vector")


def training() -> str:
    """Return names in the plane before and after training."""
    before = (
        ("heart attack", 30, 60, "good"), ("heart", 70, 85, "bad"),
        ("heart burn", 45, 110, "bad"), ("Herzinfarkt", 190, 150, "good"),
        ("心筋梗塞", 170, 60, "good"), ("Sodbrennen", 90, 175, "bad"),
    )  # fmt: skip
    after = (
        ("heart attack", 400, 60, "good"), ("Herzinfarkt", 415, 82, "good"),
        ("心筋梗塞", 405, 104, "good"), ("heart burn", 530, 140, "bad"),
        ("Sodbrennen", 520, 162, "bad"), ("heart", 590, 60, "bad"),
    )  # fmt: skip
    parts = [_text("before", 20, 26, "sans small"), _text("after", 390, 26, "sans small")]
    parts.append(_arrow(315, 110, 365, 110))
    for name, x, y, kind in (*before, *after):
        parts.append(f'<circle class="{kind}" cx="{x}" cy="{y - 5}" r="5"/>')
        parts.append(_text(name, x + 10, y, "sans"))
    return _svg(700, 195, parts, "Names by their words before training, by concepts after it")


def calibration() -> str:
    """Return a sketch of what is promised and what is held, of scores and of probabilities."""
    parts = [
        '<path class="line" d="M60 15 V190 H330"/>',
        '<path class="line" stroke-dasharray="4 4" d="M60 190 L320 20"/>',
        _text("right", 12, 30, "sans small"),
        _text("promised", 270, 208, "sans small"),
        '<path class="promised" d="M60 190 C150 186 230 170 320 110"/>',
        '<path class="held" d="M60 190 C140 140 220 90 320 24"/>',
        '<circle class="bad" cx="370" cy="66" r="6"/>',
        _text("scores: too much promised", 384, 71, "sans"),
        '<circle class="good" cx="370" cy="106" r="6"/>',
        _text("probabilities: held", 384, 111, "sans"),
        _text("a sketch, not measured points", 364, 150, "sans small"),
    ]
    return _svg(620, 220, parts, "Scores promise more than they hold, probabilities hold it")


def _fixed(text: str, x: float, y: float) -> str:
    """Return text that fills its cells whatever font there is."""
    if not text:
        return ""
    return (
        f'<text x="{x:g}" y="{y:g}" textLength="{width(text):g}" lengthAdjust="spacingAndGlyphs" '
        f'xml:space="preserve">{escape(text)}</text>'
    )


def _text(text: str, x: float, y: float, kind: str, anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'


def _rectangle(x: float, y: float, wide: float, high: float, kind: str) -> str:
    return f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{wide:g}" height="{high:g}" rx="5"/>'


def _arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    turn = math.degrees(math.atan2(to_y - y, to_x - x))
    return (
        f'<path class="line" d="M{x:g} {y:g} L{to_x:g} {to_y:g}"/>'
        f'<path class="line" d="M-7 -5 L0 0 L-7 5" '
        f'transform="translate({to_x:g} {to_y:g}) rotate({turn:.0f})"/>'
    )


def _svg(wide: float, high: float, parts: list[str], title: str) -> str:
    inside = "\n".join(part for part in parts if part)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {high:g}" '
        f'width="{wide:g}" height="{high:g}" role="img">\n<title>{escape(title)}</title>\n'
        f"<style>{STYLE}</style>\n"
        f'<rect class="ground" width="100%" height="100%" rx="8"/>\n{inside}\n</svg>\n'
    )


PICTURES: dict[str, Callable[[], str]] = {
    "pictures/notes.svg": notes,
    "pictures/steps.svg": steps,
    "pictures/collide.svg": collide,
    "pictures/training.svg": training,
    "pictures/calibration.svg": calibration,
    "pictures/loss.svg": curves.loss,
    "pictures/recall.svg": curves.recall,
}
"""What makes each picture, by its path in docs/."""
