"""What a report is made of, and how it is written: self-contained HTML, and Markdown."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from training.evaluate.report.style import STYLE

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What a browser may fetch or run for the page: nothing; the style is its own."""


@dataclass(frozen=True)
class Heading:
    """A heading; level 2 for a section, 3 below it."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Text:
    """A paragraph of plain text."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table of strings; the first column names the row.

    best (frozenset[tuple[int, int]]): Row and column of cells that are set off.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    best: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class Figures:
    """SVG drawings side by side, over `table`, which Markdown shows alone."""

    drawings: Sequence[str]
    caption: str
    table: Table | None = None


Block = Heading | Text | Table | Figures


def to_html(title: str, blocks: Sequence[Block]) -> str:
    """Return one HTML file that needs nothing else; texts are escaped.

    The list of contents stands before the first heading, behind what opens the page.
    """
    anchors = _anchors(blocks)
    parts = [_html(block, anchor) for block, anchor in zip(blocks, anchors, strict=True)]
    opening = next((n for n, block in enumerate(blocks) if isinstance(block, Heading)), len(blocks))
    links = "\n".join(
        f'<li><a href="#{anchor}">{escape(block.text)}</a></li>'
        for block, anchor in zip(blocks, anchors, strict=True)
        if isinstance(block, Heading) and block.level == 2
    )
    contents = f'<nav aria-label="Contents">\n<ul>\n{links}\n</ul>\n</nav>\n' if links else ""
    lead, body = "".join(f"{part}\n" for part in parts[:opening]), "\n".join(parts[opening:])
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{lead}{contents}<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def to_markdown(title: str, blocks: Sequence[Block]) -> str:
    """Return the same as Markdown; drawings give way to their tables."""
    parts = [f"# {_plain(title)}", *(part for block in blocks for part in _markdown(block))]
    return "\n\n".join(parts) + "\n"


def _anchors(blocks: Sequence[Block]) -> list[str]:
    """Return the address of every heading in its page, each another; empty for other blocks."""
    found: list[str] = []
    for block in blocks:
        anchor = ""
        if isinstance(block, Heading):
            anchor = re.sub(r"[^a-z0-9]+", "-", block.text.lower()).strip("-") or "section"
            while anchor in found:
                anchor += "-"
        found.append(anchor)
    return found


def _html(block: Block, anchor: str) -> str:
    match block:
        case Heading(text, level):
            return f'<h{level} id="{anchor}">{escape(text)}</h{level}>'
        case Text(text):
            return f"<p>{escape(text)}</p>"
        case Table():
            return _html_table(block)
        case Figures(drawings, caption, table):
            inner = "\n".join(drawings)
            caption = f"<figcaption>{escape(caption)}</figcaption>"
            numbers = _html_table(table) if table is not None else ""
            return f'<figure>\n<div class="row">{inner}</div>\n{caption}\n{numbers}</figure>'


def _html_table(table: Table) -> str:
    texts = _text_columns(table)
    head = "".join(
        f'<th scope="col"{_kind(text=text)}>{escape(column)}</th>'
        for column, text in zip(table.columns, texts, strict=True)
    )
    lines = []
    for number, (name, *row) in enumerate(table.rows):
        cells = [f'<th scope="row"{_kind(text=True)}>{escape(name)}</th>']
        for column, cell in enumerate(row, 1):
            kind = _kind(text=texts[column], best=(number, column) in table.best)
            cells.append(f"<td{kind}>{escape(cell)}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    caption = f"<caption>{escape(table.caption)}</caption>" if table.caption else ""
    rows = "\n".join(lines)
    return (
        f'<div class="scroll" tabindex="0"><table>{caption}<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody></table></div>"
    )


def _kind(*, text: bool, best: bool = False) -> str:
    """Return the attributes of a cell; a text begins on the side where its script does."""
    kinds = ["text"] * text + ["best"] * best
    return (f' class="{" ".join(kinds)}"' if kinds else "") + ' dir="auto"' * text


def _markdown(block: Block) -> Iterator[str]:
    match block:
        case Heading(text, level):
            yield f"{'#' * level} {_plain(text)}"
        case Text(text):
            yield _plain(text)
        case Table():
            yield from _markdown_table(block)
        case Figures(_, caption, table):
            if table is not None:
                yield _plain(caption)
                yield from _markdown_table(table)


def _markdown_table(table: Table) -> Iterator[str]:
    if table.caption:
        yield _plain(table.caption)
    rule = ["---" if text else "---:" for text in _text_columns(table)]
    rows = [
        [
            f"**{_plain(cell)}**" if (number, column) in table.best else _plain(cell)
            for column, cell in enumerate(row)
        ]
        for number, row in enumerate(table.rows)
    ]
    cells = [[_plain(column) for column in table.columns], rule, *rows]
    yield "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _plain(text: str) -> str:
    """Return text that Markdown and a table's cell leave as it is."""
    return " ".join(re.sub(r"([\\`*_\[\]<>|#~&$])", r"\\\1", text).split())


def _text_columns(table: Table) -> list[bool]:
    """Return of every column whether it is text: the first, and those with letters."""
    cells = [[row[column] for row in table.rows] for column in range(len(table.columns))]
    return [
        number == 0 or any(letter.isalpha() for cell in column for letter in cell)
        for number, column in enumerate(cells)
    ]
