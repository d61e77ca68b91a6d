"""What a reader finds on the report's page: headline, names, colours, nothing that must be 0."""

import re
from html import unescape
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from training.__main__ import app
from training.corpora.schema import GoldMention
from training.evaluate.ranking import Ranked
from training.evaluate.report.svg import DARK, LIGHT
from training.evaluate.report.tsne import concept_names
from training.evaluate.results import Choices, write

SYSTEMS = ("tf-idf", "trained", "packaged")


class Page(NamedTuple):
    html: str
    markdown: str

    @property
    def drawings(self) -> dict[str, str]:
        """Return the drawings by their titles."""
        found = re.findall(r"<svg.*?</svg>", self.html, re.DOTALL)
        return {unescape(re.search(r'aria-label="([^"]*)"', of).group(1)): of for of in found}


def found(*concepts: str) -> Ranked:
    scores = [0.9 - 0.1 * n for n in range(len(concepts))]
    names = [f"name of {concept}" for concept in concepts]
    return Ranked([*concepts], scores, list(range(len(concepts))), names, not concepts)


def make(folder: Path, *, protocols: tuple[str, ...] = ("full",), nil: bool = False) -> Path:
    """Write results of four systems on mentions in two languages, of which exact finds none."""
    queries = [
        GoldMention(f"m{n}", frozenset({f"C{n % 3}"}), code, language=code)
        for n in range(12)
        for code in ("ENG", "GER")
    ]
    if nil:
        queries.append(GoldMention("nothing", frozenset(), "GER", language="GER"))
    exact = found("C0") if len(protocols) > 1 else found()
    systems = {
        "exact": [exact, *(found() for _ in queries[1:])],
        "tf-idf": [found("C0", "C1") for _ in queries],
        "trained": [found("C1", "C0", "C2") for _ in queries],
        "packaged": [found(*query.concepts, *["C9"] * bool(query.concepts)) for query in queries],
    }
    members = {name: [True] * len(queries) for name in protocols}
    for name in protocols[1:]:
        members[name][0] = False
    about = {"lm": "1", "index": "2", "own": 0.0, "hidden": 24}
    facts = {
        "dictionary": {"names": 1234, "concepts": 3}, "skipped": {"NIL": 0}, "precision": "fp32",
        "lms": {"trained": "f" * 64}, "pipelines": {"packaged": about},
    }  # fmt: skip
    write(folder, queries, members, systems.items(), Choices(protocols, samples=50), facts)
    return folder


def report(folder: Path, *options: str) -> Page:
    output = folder.parent / "report.html"
    result = CliRunner().invoke(app, ["evaluate-report", str(folder), str(output), *options])
    assert result.exit_code == 0, result.output
    return Page(output.read_text(), output.with_suffix(".md").read_text())


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return report(make(tmp_path / "results"))


def test_the_page_opens_with_what_was_measured_when_and_the_first_result(page: Page):
    opening = page.html[page.html.index("</h1>") : page.html.index("<nav")]
    assert re.search(
        r"Measured on \d{4}-\d\d-\d\d: of 24 mentions in 2 languages, packaged has the right one "
        r"of 3 concepts first for 100\.0 % \(95 % interval 100\.0 to 100\.0\) and among the first "
        r"five for 100\.0 %\.",
        opening,
    )
    others = r"The others, first: tf-idf 33\.3 % \([\d.]+–[\d.]+\), trained 33\.3 % \("
    assert re.search(others, opening)
    assert page.markdown.index("Measured on") < page.markdown.index("## ")


def test_the_pipeline_stands_beside_the_models_and_says_what_was_hidden(page: Page):
    assert "| English | 12 | 33.3" in page.markdown
    header = next(line for line in page.markdown.splitlines() if line.startswith("| set |"))
    assert header == "| set | n | tf-idf | trained | packaged |"
    assert "hidden from packaged's own dictionary: 24." in page.markdown
    assert "| packaged | whole spaCy pipeline, index 2 |" in page.markdown


def colours(drawing: str) -> set[int]:
    return {int(number) for number in re.findall(r"var\(--series-(\d)", drawing)}


def test_a_system_has_one_colour_in_all_drawings(page: Page):
    drawings = page.drawings
    for title in ("Acc@1 by language", "Recall@k", "Reliability"):
        legend = drawings[title].split("\n")[-1 - len(SYSTEMS) : -1]
        assert [re.search(r">([^<]*)</text>", line).group(1) for line in legend] == [*SYSTEMS]
        assert [colours(line) for line in legend] == [{0}, {1}, {2}]
    scores = [colours(of) for title, of in drawings.items() if title.startswith("Scores of")]
    assert scores == [{0}, {1}, {2}]


def luminance(colour: str) -> float:
    parts = linear(colour)
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def linear(colour: str) -> list[float]:
    values = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]


@pytest.mark.parametrize(("palette", "ground"), [(LIGHT, "#ffffff"), (DARK, "#161616")])
def test_colours_stand_out_from_the_ground(palette: tuple[str, ...], ground: str):
    for colour in palette:
        low, high = sorted([luminance(colour), luminance(ground)])
        assert (high + 0.05) / (low + 0.05) >= 3, colour


PROTAN = ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
          (-0.003882, -0.048116, 1.051998))  # fmt: skip
DEUTAN = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
          (-0.011820, 0.042940, 0.968881))  # fmt: skip
TRITAN = ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
          (0.004733, 0.691367, 0.303900))  # fmt: skip
EYES = {"usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)), "protan": PROTAN, "deutan": DEUTAN,
        "tritan": TRITAN}  # fmt: skip


def lab(colour: str, eye: str) -> list[float]:
    """Return a colour in CIELAB as an eye sees it (Machado, Oliveira and Fernandes 2009)."""
    rgb = linear(colour)
    seen = [
        max(0.0, min(1.0, sum(w * part for w, part in zip(row, rgb, strict=True))))
        for row in EYES[eye]
    ]
    to_xyz = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = (0.9505, 1.0, 1.089)
    x, y, z = (
        sum(w * part for w, part in zip(row, seen, strict=True)) / of
        for row, of in zip(to_xyz, white, strict=True)
    )
    f = [v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z)]
    return [116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])]


@pytest.mark.parametrize("palette", [LIGHT, DARK])
@pytest.mark.parametrize("eye", EYES)
def test_colours_of_five_systems_are_told_apart_by_every_eye(palette: tuple[str, ...], eye: str):
    seen = [lab(colour, eye) for colour in palette[:5]]
    for number, one in enumerate(seen):
        for other in seen[:number]:
            distance = sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5
            assert distance >= 10, (palette[number], distance)


def test_languages_are_drawn_with_intervals_and_have_their_names(page: Page):
    drawing = page.drawings["Acc@1 by language"]
    for language in ("English", "German"):
        assert f">{language}</text>" in drawing
        said = rf"<title>{language}, trained: 33\.3 \(([\d.]+)–([\d.]+)\)</title>"
        low, high = re.search(said, drawing).groups()
        assert float(low) < 33.3 < float(high)
    assert drawing.count("<title>") == 2 * len(SYSTEMS)
    assert not re.search(r"\b(ENG|GER)\b", page.html + page.markdown)


class Names:
    """Canonical names, in place of a hierarchy."""

    def name(self, concept_id: str) -> str:
        return {"C1": "cold", "C2": "cold", "C3": "heart"}.get(concept_id, concept_id)


def test_concepts_of_the_plane_go_by_their_canonical_names():
    names = {f"C{n}": [f"alias {n}"] for n in range(1, 5)}
    called = concept_names(names, Names())
    assert list(called.values()) == ["cold (C1)", "cold (C2)", "heart", "alias 4"]
    assert concept_names(names)["C1"] == "alias 1"


def test_what_can_only_be_0_is_left_out_and_said(page: Page):
    assert page.markdown.count("| exact |") == 1
    assert "found nothing for any of these mentions, and is left out below" in page.markdown
    assert "exact −" not in page.markdown
    assert all(">exact<" not in drawing for drawing in page.drawings.values())
    # A pipeline shows concepts, not names.
    assert re.search(r"\| packaged \| 100\.0 \| – \| 100\.0 \| – \|", page.markdown)
    assert "Not told without a concept table: parent predicted, child predicted, wrong type." in (
        page.markdown
    )
    assert not re.search(r"^\| (abbreviation|wrong type)[^|]*\|( 0 \|)+$", page.markdown, re.M)


def test_what_is_silent_in_one_protocol_is_left_out_there_alone(tmp_path: Path):
    page = report(make(tmp_path / "results", protocols=("full", "filtered")))
    full, filtered = page.markdown.split("### Protocol filtered")
    assert "| set | n | exact | tf-idf | trained | packaged |" in full
    assert "Counted: all mentions." in full
    assert "Left out, as it found nothing for any of them: exact." in filtered
    assert "| set | n | tf-idf | trained | packaged |" in filtered
    assert "| exact − trained | full |" in page.markdown
    assert "| exact − trained | filtered |" not in page.markdown


def test_who_never_says_nil_has_no_row_for_it(tmp_path: Path):
    page = report(make(tmp_path / "results", nil=True))
    section = page.markdown.split("## Mentions without a concept")[1].split("## ")[0]
    assert "Never said NIL (no threshold was given): tf-idf, trained." in section
    rows = section.strip().splitlines()[-2:]
    assert rows == ["| --- | ---: | ---: | ---: | ---: |", "| packaged | 1 | 1 | 100.0 | 100.0 |"]


def test_a_page_of_400_pixels_is_readable(page: Page):
    for drawing in page.drawings.values():
        width = float(re.search(r'<svg[^>]* width="(\d+)"', drawing).group(1))
        assert width <= 400 - 2 * 15 - 2  # the body's padding is 1em of 15 pixels
        assert {float(size) for size in re.findall(r'font-size="([\d.]+)"', drawing)} == {12}
    assert page.html.count("<table") == page.html.count('<div class="scroll" tabindex="0"><table')
    style = re.search(r"<style>(.*)</style>", page.html, re.DOTALL).group(1)
    assert ".scroll { overflow-x: auto; }" in style
    assert "svg { max-width: 100%; height: auto; }" in style
    screen = style.split("@media print")[0]
    sizes = re.findall(r"font(?:-size)?: ([\d.]+)px", screen)
    assert len(sizes) == 3
    assert all(float(size) >= 12 for size in sizes)
