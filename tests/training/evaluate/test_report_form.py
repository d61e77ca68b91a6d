"""The report's form: a page that browsers, readers of screens and printers can use."""

import re
import xml.etree.ElementTree as ElementTree
from html import unescape
from html.parser import HTMLParser

import pytest

from training.evaluate.report.blocks import Figures, Heading, Table, Text, to_html, to_markdown
from training.evaluate.report.charts import bar_chart, key, line_chart
from training.evaluate.report.sections import accuracy, overview
from training.evaluate.report.svg import DARK, LIGHT

BLOCKS = [
    Heading("結果"),
    Heading("Same"),
    Text("a"),
    Heading("Same"),
    Heading("Below", 3),
    Table(("mention", "rank", "gold"), [("ضغط الدم", "12", "hypertension"), ("7", "3", "")], "cap"),
    Figures([line_chart("t", {"a": [(1, 2)]}, x_label="x", y_label="y")], "drawn"),
]
VOID = {"meta", "br", "link", "img", "input"}


class Page(HTMLParser):
    """Checks that elements nest, and keeps them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def test_contents_lead_to_every_section():
    page = Page(to_html("title", BLOCKS))
    links = [link["href"] for link in page.all("a")]
    assert links == [f"#{heading['id']}" for heading in page.all("h2")]
    assert len(set(links)) == 3
    assert all(len(link) > 1 for link in links)
    assert "<nav" not in to_html("title", [Text("a")])


def test_a_page_says_its_language_and_fetches_nothing():
    page = Page(to_html("title", BLOCKS))
    assert page.all("html") == [{"lang": "en"}]
    policy = next(meta["content"] for meta in page.all("meta") if "http-equiv" in meta)
    assert policy.startswith("default-src 'none'")
    assert {"charset": "utf-8"} in page.all("meta")


def test_headers_of_tables_stand_over_their_columns():
    page = Page(to_html("title", BLOCKS))
    mention, rank, gold, *names = page.all("th")
    assert [header["scope"] for header in (mention, rank, gold)] == ["col"] * 3
    assert [name["scope"] for name in names] == ["row"] * 2
    number, text, _, empty = page.all("td")
    assert rank.get("class") is number.get("class") is None
    assert gold["class"] == text["class"] == empty["class"] == "text"
    assert all(cell["dir"] == "auto" for cell in (mention, gold, text, *names))
    assert all(box["tabindex"] == "0" for box in page.all("div") if box["class"] == "scroll")


def test_markdown_aligns_as_the_page_does():
    lines = to_markdown("title", BLOCKS).splitlines()
    assert lines[lines.index("| mention | rank | gold |") + 1] == "| --- | ---: | --- |"
    table = Table(("a",), [("$x$ ~~y~~ &lt; *z* a|b",)])
    row = to_markdown("title", [table]).splitlines()[-1]
    assert row == r"| \$x\$ \~\~y\~\~ \&lt; \*z\* a\|b |"


def looks(drawing: str) -> list[str]:
    """Return how every line and mark of a drawing looks, whatever its place."""
    root = ElementTree.fromstring(drawing)
    strokes = [e for e in root.iter() if e.get("stroke-width") == "2"]
    return [f"{e.get('stroke')} {e.get('stroke-dasharray')}" for e in strokes]


def test_lines_differ_in_more_than_colour():
    series = {f"s{n}": [(0.0, n), (1.0, n)] for n in range(24)}
    drawn = looks(line_chart("t", series, x_label="x", y_label="y"))
    assert len(set(drawn)) == 24
    assert len({look.split(" ", 1)[1] for look in drawn[:5]}) == 5  # in print, without colour
    marks = [
        re.sub(r'(x|y|cx|cy)="[^"]*"|M[^l]*', "", mark)
        for mark in re.findall(r"<(?:rect|circle|path)[^>]*>", key("t", [*series]))
    ]
    assert len(set(marks)) == 24


def test_a_line_without_points_leaves_the_looks_of_others():
    whole = line_chart("t", {"a": [(1, 1)], "b": [(1, 2)]}, x_label="x", y_label="y")
    part = line_chart("t", {"a": [], "b": [(1, 2)]}, x_label="x", y_label="y")
    assert set(looks(part)) == {looks(whole)[1]}
    assert ">a<" not in part


def texts(drawing: str) -> list[str]:
    return [unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)", drawing)]


@pytest.mark.parametrize(("low", "high"), [(9.7, 57.1), (0, 0.89), (0.25, 1.42), (-3, 1234)])
def test_axes_are_labelled_and_end_at_round_numbers_around_the_data(low: float, high: float):
    found = texts(line_chart("t", {"a": [(low, low), (high, high)]}, x_label="x", y_label="y, %"))
    assert {"t", "x", "y, %", "a"} <= set(found)
    numbers = [float(text) for text in found if re.fullmatch(r"[-\d.e+]+", text)]
    assert min(numbers) <= low
    assert max(numbers) >= high
    bars = texts(bar_chart("t", [0, 1], {"a": [high]}, x_label="score", y_label="share"))
    assert {"score", "share"} <= set(bars)


@pytest.mark.parametrize("name", ["the same beginning " * 6 + "seed 1", "高血压" * 40])
def test_a_long_name_is_cut_in_its_middle_and_whole_in_its_tooltip(name: str):
    drawing = line_chart(name, {name: [(1, 1)]}, x_label="x", y_label="y")
    shown = [text for text in texts(drawing) if "…" in text]
    assert len(shown) == 2
    assert all(len(text) <= 54 and text.endswith(name[-5:]) for text in shown)
    assert drawing.count(f"<title>{name}</title>") == 2


def test_dark_screens_have_colours_of_their_own():
    assert len(DARK) == len(LIGHT)
    style = to_html("title", []).partition("</style>")[0]
    dark = style.partition("screen and (prefers-color-scheme: dark)")[2]  # paper stays white
    assert all(f"--series-{number}: {colour};" in dark for number, colour in enumerate(DARK))


def row(value: float) -> dict[str, float]:
    keys = ("acc@1", "acc@5", "acc@1_names", "acc@5_names", "mrr", "acc@1_low", "acc@1_high")
    return {"n": 3, **dict.fromkeys(keys, value)}


def test_many_systems_are_shown_in_several_tables():
    systems = {f"s{n}": {"set": row(n), "micro": row(9 - n)} for n in range(8)}
    figures = {"protocol": "full", "systems": systems, "further_protocols": {}}
    first, second, _ = (block for block in accuracy(figures) if isinstance(block, Table))
    assert [*first.columns, *second.columns[2:]] == ["set", "n", *systems]
    assert first.best == {(1, 2)}  # s0 over all mentions
    assert second.best == {(0, 3)}  # s7 in the set
    assert second.rows[0] == ("set", "3", "6.0 (6.0–6.0) / 6.0", "7.0 (7.0–7.0) / 7.0")


def test_a_report_says_what_a_pipeline_knew_by_heart():
    figures = {
        "dictionary": {"names": 2, "concepts": 1}, "golds": "any", "out_of_kb": "drop", "k": 5,
        "threshold": None, "precision": "fp32", "lms": {}, "skipped": {},
        "pipelines": {"pipe": {"own": 100.0, "index": "0"}}, "systems": {"pipe": {}}, "silent": [],
    }  # fmt: skip
    said = [block.text for block in overview(figures) if isinstance(block, Text)]
    assert any("100.0 % of the mentions are aliases of pipe's own dictionary" in t for t in said)
