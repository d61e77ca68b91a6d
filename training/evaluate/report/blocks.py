"""What a report is made of, and how it is written: self-contained HTML, and Markdown."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from markupsafe import Markup

from spacy_bergamot.output.pages import templates
from training.evaluate.report.svg import DARK

PACKAGE = "training.evaluate.report"
"""Has the templates `report.html`, `report.md`, and `blocks.md` for parts of other pages."""


@dataclass(frozen=True)
class Heading:
    """A heading; level 2 for a section, 3 below it."""

    kind: ClassVar[str] = "heading"
    text: str
    level: int = 2


@dataclass(frozen=True)
class Text:
    """A paragraph of plain text."""

    kind: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True)
class Table:
    """A table of strings; the first column names the row.

    best (frozenset[tuple[int, int]]): Row and column of cells that are set off.
    """

    kind: ClassVar[str] = "table"
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    best: frozenset[tuple[int, int]] = frozenset()

    @property
    def texts(self) -> list[bool]:
        """Whether a column is text: the first, and those with letters."""
        cells = [[row[column] for row in self.rows] for column in range(len(self.columns))]
        return [
            number == 0 or any(letter.isalpha() for cell in column for letter in cell)
            for number, column in enumerate(cells)
        ]


@dataclass(frozen=True)
class Figures:
    """SVG drawings side by side, over `table`, which Markdown shows alone."""

    kind: ClassVar[str] = "figures"
    drawings: Sequence[Markup]
    caption: str
    table: Table | None = None


Block = Heading | Text | Table | Figures


def to_html(title: str, blocks: Sequence[Block]) -> str:
    """Return one HTML file that needs nothing else; texts are escaped.

    The list of contents stands before the first heading, behind what opens the page.
    """
    opening = next((n for n, block in enumerate(blocks) if isinstance(block, Heading)), len(blocks))
    anchored = list(zip(blocks, _anchors(blocks), strict=True))
    page = templates(PACKAGE).get_template("report.html")
    return page.render(title=title, blocks=anchored, opening=opening, dark_series=DARK)


def to_markdown(title: str, blocks: Sequence[Block]) -> str:
    """Return the same as Markdown; drawings give way to their tables."""
    return templates(PACKAGE).get_template("report.md").render(title=title, blocks=blocks)


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
