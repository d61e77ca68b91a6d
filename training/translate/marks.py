"""Marks around mentions that a translator carries over: set, and read back from what came of them.

A mark is `[1]…[/1]`, or `<m1>…</m1>`; a number stands for a span of the sentence.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Span = tuple[int, int]
"""Start and end in characters."""


@dataclass(frozen=True)
class Form:
    """How marks are written and, with all that translators make of them, read."""

    begin: str
    end: str
    pattern: re.Pattern[str]


FORMS = {
    "brackets": Form(
        "[{}]", "[/{}]", re.compile(r"[\[［【]\s*(?P<end>[/／\\]?)\s*(?P<number>\d+)\s*[\]］】]?")
    ),
    "xml": Form(
        "<m{}>", "</m{}>",
        re.compile(r"[<＜〈]\s*(?P<end>[/／\\]?)\s*[mM]\s*(?P<number>\d+)\s*[>＞〉]?"),
    ),
}  # fmt: skip


@dataclass
class Read:
    """A translated sentence without marks, where each number's span is, and what was lost.

    lost (dict[int, str]): Why the others have none. strange (int): Marks that nobody had set.
    """

    text: str
    spans: dict[int, Span] = field(default_factory=dict)
    lost: dict[int, str] = field(default_factory=dict)
    strange: int = 0


def rounds(spans: Sequence[Span]) -> list[list[Span]]:
    """Share out distinct spans so that those of a round lie in one another or apart."""
    made: list[list[Span]] = []
    for span in sorted(set(spans), key=lambda s: (s[0], -s[1])):
        for chosen in made:
            if not any(_cross(span, other) for other in chosen):
                chosen.append(span)
                break
        else:
            made.append([span])
    return made


def numbered(spans: Sequence[Span], text: str, form: Form) -> dict[int, Span]:
    """Number the spans of a sentence from 1, or from beyond what looks like a mark in it."""
    first = 1 + max((int(found["number"]) for found in form.pattern.finditer(text)), default=0)
    return dict(enumerate(spans, first))


def marked(text: str, spans: Mapping[int, Span], form: Form) -> str:
    """Return a sentence with marks around spans of which none crosses another."""
    # Where several marks meet, inner ones end before outer ones, and begin behind them.
    ends = [((end, 0, -start), form.end.format(n)) for n, (start, end) in spans.items()]
    begins = [((start, 1, -end), form.begin.format(n)) for n, (start, end) in spans.items()]
    pieces, place = [], 0
    for (at, *_), mark in sorted([*ends, *begins]):
        pieces += [text[place:at], mark]
        place = at
    return "".join([*pieces, text[place:]])


def read_back(translated: str, numbers: set[int], form: Form, *, kept: set[int]) -> Read:
    """Take the marks out of a translated sentence.

    numbers (set[int]): Of the marks that were set.
    kept (set[int]): Numbers of what looked like a mark in the sentence: it stays.
    """
    text, place = "", 0
    begins: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    strange = 0
    for found in form.pattern.finditer(translated):
        number = int(found["number"])
        if number in kept:
            continue
        text = _joined(text, translated[place : found.start()])
        place = found.end()
        if number in numbers:
            (ends if found["end"] else begins).setdefault(number, []).append(len(text))
        else:
            strange += 1
    text = _joined(text, translated[place:])
    read = Read(text, strange=strange)
    for number in sorted(numbers):
        reason, span = _span(text, begins.get(number, []), ends.get(number, []))
        if reason:
            read.lost[number] = reason
        else:
            read.spans[number] = span
    return read


def _span(text: str, begins: list[int], ends: list[int]) -> tuple[str, Span]:
    """Return why there is no span, or nothing and the span without white space at its ends."""
    if not begins and not ends:
        return "mark dropped", (0, 0)
    if len(begins) > 1 or len(ends) > 1:
        return "mark repeated", (0, 0)
    if not begins or not ends:
        return "mark unclosed", (0, 0)
    (start,), (end,) = begins, ends
    if end < start:
        return "mark reversed", (0, 0)
    inside = text[start:end]
    start, end = end - len(inside.lstrip()), start + len(inside.rstrip())
    return ("", (start, end)) if start < end else ("mark empty", (0, 0))


def _joined(text: str, piece: str) -> str:
    """Join what stood around a mark: of white space on both sides one is enough."""
    alone = not text or text[-1].isspace()
    return text + (piece.lstrip() if alone else piece)


def _cross(one: Span, other: Span) -> bool:
    return one[0] < other[0] < one[1] < other[1] or other[0] < one[0] < other[1] < one[1]
