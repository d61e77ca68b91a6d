"""What a report is made of, and how it is written: self-contained HTML, and Markdown."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76em; margin: 2em auto; padding: 0 1em;
       color: #1b1b1b; background: #fff; }
h1, h2, h3 { line-height: 1.2; margin-top: 1.8em; }
table { border-collapse: collapse; margin: .6em 0 1.2em; font-size: 14px; }
caption, figcaption { text-align: left; color: #555; padding: .3em 0; }
th, td { padding: .25em .7em; border-bottom: 1px solid #ddd; text-align: right;
         font-variant-numeric: tabular-nums; }
th:first-child, td:first-child, td.text { text-align: left; }
td.best { font-weight: 600; }
thead th { border-bottom: 2px solid #999; }
figure { margin: 1em 0; } svg { max-width: 100%; height: auto; }
.row { display: flex; flex-wrap: wrap; gap: 1em; }
.scroll { overflow-x: auto; }
"""


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
    """Return one HTML file that needs nothing else; every text is escaped."""
    body = "\n".join(_html(block) for block in blocks)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{body}\n</body>\n</html>\n"
    )


def to_markdown(title: str, blocks: Sequence[Block]) -> str:
    """Return the same as Markdown; drawings give way to their tables."""
    parts = [f"# {_plain(title)}", *(part for block in blocks for part in _markdown(block))]
    return "\n\n".join(parts) + "\n"


def _html(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{escape(text)}</h{level}>"
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
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    lines = []
    for number, row in enumerate(table.rows):
        cells = []
        for column, cell in enumerate(row):
            kinds = ["best"] * ((number, column) in table.best) + ["text"] * _is_text(cell)
            kind = f' class="{" ".join(kinds)}"' if kinds else ""
            cells.append(f"<td{kind}>{escape(cell)}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    caption = f"<caption>{escape(table.caption)}</caption>" if table.caption else ""
    rows = "\n".join(lines)
    return (
        f'<div class="scroll"><table>{caption}<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody></table></div>"
    )


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
    lines = [table.columns, ["---"] * len(table.columns)]
    for number, row in enumerate(table.rows):
        lines.append(
            [
                f"**{_plain(cell)}**" if (number, column) in table.best else _plain(cell)
                for column, cell in enumerate(row)
            ]
        )
    head, rule, *rows = lines
    cells = [[_plain(column) for column in head], rule, *rows]
    yield "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _plain(text: str) -> str:
    """Return text that Markdown and a table's cell leave as it is."""
    for character in "\\`*_[]<>|#":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())


def _is_text(cell: str) -> bool:
    return any(character.isalpha() for character in cell)
