"""Screenshots of the documentation: taken where there is a browser, else it is said why not."""

import struct
import sys
from pathlib import Path
from typing import Any

import pytest

import website.screenshots
from website.__main__ import main
from website.screenshots import Missing, Shot, browser, service, taken

PAGE = "<!DOCTYPE html><body style='margin:0'><div style='height:700px'>Fieber</div>"


def size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG")
    return struct.unpack(">II", png[16:24])


def test_without_a_run_or_without_playwright_the_command_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(website.screenshots, "REPORT", tmp_path / "report.html")
    with pytest.raises(SystemExit, match=r"No screenshot was taken: no .*report\.html: make run"):
        main(["screenshots"])
    (tmp_path / "report.html").write_text(PAGE, "utf8")
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    with pytest.raises(SystemExit, match="pip install playwright"):
        main(["screenshots"])


def test_a_browser_that_does_not_start_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("playwright", reason="playwright is not installed")
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "chromium"))
    with pytest.raises(Missing, match="no Chromium starts"), browser():
        pass


def test_a_service_that_does_not_start_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", "false")
    with pytest.raises(Missing, match="no_pipeline is not served"), service("no_pipeline"):
        pass


def test_a_page_is_taken_in_the_windows_size_in_whole_or_in_part(window: Any, tmp_path: Path):
    page = tmp_path / "page.html"
    page.write_text(PAGE, "utf8")
    assert size(taken(window, Shot(page.as_uri(), 300, 200))) == (300, 200)
    assert size(taken(window, Shot(page.as_uri(), 300, 200, whole=True))) == (300, 700)
    assert size(taken(window, Shot(page.as_uri(), 300, 200, part="div"))) == (300, 700)


def test_a_shot_waits_for_what_comes_late(window: Any):
    with service("tests/data/pipeline") as address:
        shot = Shot(f"{address}/#text=Fieber und Husten&mention=0", 400, 300, ready="#view table")
        assert size(taken(window, shot)) == (400, 300)
