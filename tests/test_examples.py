"""The scripts of examples/ run, and the pages made of them are of these scripts."""

import re
from pathlib import Path

import pytest

from website.examples import ROOT, SCRIPTS, page, without_figures

ALIKE = ("annotate_parquet",)
"""What these print does not depend on the language model."""


def without_output(text: str) -> str:
    """Return a page without what was printed."""
    return re.sub(r"(?s)\n```text\n.*?\n```\n", "", text)


@pytest.mark.usefixtures("sample_package")
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_runs_and_its_page_shows_it(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    made = page(path)
    shown = (ROOT / f"docs/examples/{path.stem}.md").read_text("utf8")
    remedy = "make run, then python -m website examples"
    assert without_output(made) == without_output(shown), remedy
    assert made.count("```text") == shown.count("```text"), remedy
    if path.stem in ALIKE:
        assert without_figures(made) == without_figures(shown), remedy


def test_no_place_of_this_machine_is_shown():
    for path in (ROOT / "docs/examples").glob("*.md"):
        assert not re.search(r"/(tmp|home|root|work)\b", path.read_text("utf8")), path
