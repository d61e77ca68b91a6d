"""The report: what it says, and that it stands alone."""

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.linking.calibration_report import expected_calibration_error
from training.__main__ import app
from training.corpora.dictionary import Dictionary
from training.corpora.schema import GoldMention
from training.errors import BergamotError
from training.evaluate.hierarchy import Hierarchy
from training.evaluate.ranking import Ranked
from training.evaluate.report.analysis import mention_traits, misses
from training.evaluate.report.blocks import Figures, Heading, Table, Text, to_html, to_markdown
from training.evaluate.report.calibration import reliability
from training.evaluate.report.charts import bar_chart, line_chart, scatter
from training.evaluate.report.curves import read_history
from training.evaluate.report.tsne import choose_names

EVIL = "<script>alert('&')</script>|*x* {{ 7 * 7 }}"


def test_every_text_is_escaped():
    blocks = [
        Heading(EVIL),
        Text(EVIL),
        Table((EVIL, "n"), [(EVIL, "1")], EVIL, frozenset({(0, 0)})),
        Figures([line_chart(EVIL, {EVIL: [(1, 2)]}, x_label=EVIL, y_label=EVIL)], EVIL),
        Figures([scatter(EVIL, {EVIL: [(0, 1, EVIL)]})], EVIL),
        Figures([EVIL], EVIL),  # no drawing of ours
    ]
    html = to_html(EVIL, blocks)
    assert "<script" not in html
    assert html.count("&lt;script&gt;") >= 11
    assert "{{ 7 * 7 }}" in html
    markdown = to_markdown(EVIL, blocks)
    assert "<script" not in markdown.replace("\\<", "")
    row = next(line for line in markdown.splitlines() if line.endswith("| 1 |"))
    assert len(re.findall(r"(?<!\\)\|", row)) == 3  # the bar of the text is no cell's end


def numbers_of(drawing: str) -> tuple[list[float], list[float]]:
    """Parse an SVG; return the numbers of its paths, circles and rectangles, x and y."""
    root = ElementTree.fromstring(drawing)
    xs, ys = [], []
    for element in root.iter():
        tag = element.tag.rpartition("}")[2]
        if tag == "circle":
            xs.append(float(element.get("cx")))
            ys.append(float(element.get("cy")))
        elif tag == "rect":
            xs += [float(element.get("x")), float(element.get("x")) + float(element.get("width"))]
            ys += [float(element.get("y")), float(element.get("y")) + float(element.get("height"))]
    _, _, width, height = map(float, root.get("viewBox").split())
    assert all(0 <= x <= width for x in xs)
    assert all(0 <= y <= height for y in ys)
    return xs, ys


def test_drawings_are_well_formed_and_in_their_frame():
    line = line_chart("t", {"a": [(1, 0.0), (4, 50.0), (64, 100.0)]}, x_label="x", y_label="y",
                      log_x=True, diagonal=False)  # fmt: skip
    xs, ys = numbers_of(line)
    assert xs[0] < xs[1] < xs[2]
    assert ys[0] > ys[1] > ys[2]  # up is more
    assert (xs[1] - xs[0]) * 2 == pytest.approx(xs[2] - xs[1], abs=0.5)  # doublings are equal
    numbers_of(bar_chart("t", [0, 0.5, 1], {"hits": [10, 30], "misses": [60, 0]}, x_label="x",
                         y_label="y"))  # fmt: skip
    numbers_of(scatter("t", {str(n): [(n, -n, "p")] for n in range(30)}))
    numbers_of(line_chart("t", {"flat": [(1, 5.0)]}, x_label="x", y_label="y"))


def test_reliability_by_hand():
    scores = np.array([0.15, 0.15, 0.95, 0.95, 1.0])
    hits = np.array([False, True, True, True, False])
    points, error = reliability(scores, hits), expected_calibration_error(scores, hits)
    assert points == [pytest.approx((0.15, 0.5)), pytest.approx((2.9 / 3, 2 / 3))]
    assert error == pytest.approx(0.4 * 0.35 + 0.6 * 0.3)


@pytest.mark.parametrize(
    ("mention", "traits"),
    [("MI", ["abbreviation"]), ("COPD", ["abbreviation"]), ("HbA1c", []), ("IgA", ["abbreviation"]),
     ("Gout", []), ("T2", []), ("acute heart failure", ["multi-word"]), ("MI of", [])],
)  # fmt: skip
def test_traits_of_mentions(mention: str, traits: list[str]):
    assert list(mention_traits(mention)) == traits


def entry(concepts: str, name_ranks: list[int], names: str) -> Ranked:
    found = concepts.split()
    return Ranked(found, [0.9] * len(found), name_ranks, names.split(","), not found)


def test_misses_by_hand(concepts: Path):
    hierarchy = Hierarchy(ConceptTable.open(concepts))
    golds = ["C03", "C04", "C05", "C06", "C01", "C02", "C01"]
    queries = [GoldMention(f"m{n}", frozenset({gold}), "g") for n, gold in enumerate(golds)]
    ranked = [
        entry("C03", [0], "mi"),  # right
        entry("C01 C04", [0, 1], "a,b"),  # ranked low, of the same type
        entry("C04 C05", [0, 0], "cold,cold"),  # both named by the alias found; types differ
        entry("C03", [0], "mi"),  # not retrieved; C03 is a child of C06
        entry("", [], ""),  # nothing at all
        entry("C07 C02", [0, 1], "asa,dm"),  # another type
        entry("C10 C01", [0, 1], "x,y"),  # T184 against T047
    ]
    found = misses(queries, ranked, "any", hierarchy)
    assert [(m.query, m.outcome, m.rank) for m in found] == [
        (1, "ranked low", 2), (2, "ambiguous alias", 2), (3, "not retrieved", None),
        (4, "not retrieved", None), (5, "ranked low", 2), (6, "ranked low", 2),
    ]  # fmt: skip
    assert [m.traits for m in found] == [
        (), ("wrong type",), ("child predicted",), (), ("wrong type",), ("wrong type",),
    ]  # fmt: skip
    queries = [GoldMention("m", frozenset({"C03"}), "g")]
    (parent,) = misses(queries, [entry("C06 C03", [0, 1], "heart,mi")], "any", hierarchy)
    assert parent.traits == ("parent predicted",)


def test_names_of_the_plane_are_of_several_concepts_and_drawn_once():
    entries = [(f"C{c}", f"name {c} {n}") for c in range(40) for n in range(2 + c % 3)]
    dictionary = Dictionary([*entries, ("C1|C2", "both"), ("C99", "alone")])
    names = choose_names(dictionary, concepts=10)
    assert names == choose_names(dictionary, concepts=10)
    assert len(names) == 10
    assert all(2 <= len(group) <= 15 for group in names.values())
    assert not {"both", "alone"} & {name for group in names.values() for name in group}


def test_histories(tmp_path: Path):
    path = tmp_path / "history.json"
    path.write_text(json.dumps([{"step": 1, "text": 2.0}, {"step": 2, "text": 1.0, "dgi": 3}]))
    assert read_history(path) == {"text": [(1, 2), (2, 1)], "dgi": [(2, 3)]}
    path.write_text("{")
    with pytest.raises(BergamotError, match="B002"):
        read_history(path)
    with pytest.raises(BergamotError, match="B001"):
        read_history(tmp_path / "none.json")


def test_a_whole_report(tmp_path: Path, lm: Path, concepts: Path):
    dictionary = tmp_path / "dictionary.txt"
    dictionary.write_text(
        "C01||hypertension\nC01||high blood pressure\nC03||heart attack\nC03||MI\n"
        "C04||common cold\nC04|C05||cold\nC06||heart\nC07||aspirin\nC07||acetylsalicylic acid\n"
    )
    lines = [
        {"language": "ENG", "text": "hypertension", "concept_id": "C01", "label": "DISO"},
        {"language": "GER", "text": "Kälte <b>", "concept_id": "C98", "label": "PHEN"},
        {"language": "GER", "text": "cold", "concept_id": "C05", "label": "DISO"},
        {"language": "GER", "text": "xyz", "concept_id": "NIL", "label": "DISO"},
    ]
    gold = tmp_path / "gold.jsonl"
    gold.write_text(
        "\n".join(
            json.dumps({**line, "entities": [{"start": 0, "end": len(line["text"]), **line}]})
            for line in lines
        )
    )
    history = tmp_path / "history.json"
    history.write_text(json.dumps([{"step": n, "text": 1 / n, "recall@1": n} for n in (1, 2)]))
    command = CliRunner()
    result = command.invoke(
        app,
        ["evaluate", str(dictionary), str(gold), str(tmp_path / "f.json"),
         "--lm", f"small={lm}", "--exact-search", "--out-of-kb", "miss"],
    )  # fmt: skip
    assert result.exit_code == 0
    result = command.invoke(
        app,
        ["evaluate-report", str(tmp_path / "f"), str(tmp_path / "out/report.html"),
         "--concepts", str(concepts), "--history", f"run={history}",
         "--dictionary", str(dictionary), "--lm", f"small={lm}"],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    html = (tmp_path / "out/report.html").read_text()
    markdown = (tmp_path / "out/report.md").read_text()
    titles = ["Accuracy", "Differences between systems", "Recall by number of candidates",
              "By language", "By type", "Calibration", "Error analysis", "Training",
              "Names in the plane"]  # fmt: skip
    for title in titles:
        assert f">{title}</h2>" in html
        assert f"## {title}" in markdown
    assert "kälte &lt;b&gt;" in html.lower()
    assert "<b>" not in html
    # Nothing is fetched: the only address is the name of SVG.
    assert set(re.findall(r'https?://[^"\s<]+', html)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(script|link|img|iframe)", html)
    for drawing in re.findall(r"<svg.*?</svg>", html, re.DOTALL):
        ElementTree.fromstring(drawing)
    assert "| English | 1 | **100.0" in markdown
    assert re.search(r"Measured on \d{4}-\d\d-\d\d: of 3 mentions in 2 languages, ", markdown)
    legend = next(d for d in re.findall(r"<svg.*?</svg>", html, re.DOTALL) if ">Concepts<" in d)
    assert ">myocardial infarction<" in legend  # not in this dictionary: its canonical name
    assert not re.search(r"C0\d", legend)
    assert "ambiguous alias" in markdown
    # Exact match says nothing of "Kälte <b>" and "xyz", of which one is NIL.
    assert "| exact | 1 | 2 | 50.0 | 100.0 |" in markdown


def test_a_folder_that_holds_no_results(tmp_path: Path):
    result = CliRunner().invoke(app, ["evaluate-report", str(tmp_path), str(tmp_path / "r.html")])
    assert isinstance(result.exception, BergamotError)
    assert "B001" in str(result.exception)
