"""Screenshots of the HTML that the project makes, of the sample, by a browser without a window."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Any

from website.pictures import NOTES

ROOT = Path(__file__).parents[1]
PIPELINE = "xx_bergamot_sample"
REPORT = ROOT / "metrics/report.html"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@dataclass(frozen=True)
class Shot:
    """What is taken of a page.

    address (str): Of the page.
    width, height (int): Of the window, in px.
    ready (str): CSS selector of what stands in the page when it is complete.
    part (str): CSS selector of what alone is taken; empty for the window.
    whole (bool): Of the page as much as there is, not only what fits into the window.
    """

    address: str
    width: int
    height: int
    ready: str = "body"
    part: str = ""
    whole: bool = False


class Missing(Exception):
    """Something that screenshots need is not here."""


def screenshots() -> dict[str, bytes]:
    """Return the pictures as PNG, by their path in docs/. RAISES (Missing): See its message."""
    if not REPORT.is_file():
        raise Missing(f"no {REPORT}: make run")
    with tempfile.TemporaryDirectory() as folder, browser() as window, service() as address:
        note = f"{address}/#example=en&mention=1"
        shots = {
            "pictures/serve.png": Shot(note, 1000, 860, ready="#view table"),
            "pictures/linked.png": Shot(linked(Path(folder)).as_uri(), 820, 200, whole=True),
            "pictures/report.png": Shot(REPORT.as_uri(), 820, 400),
            "pictures/languages.png": Shot(REPORT.as_uri(), 820, 900, part="#by-language ~ * svg"),
        }
        return {name: taken(window, shot) for name, shot in shots.items()}


def taken(window: Any, shot: Shot) -> bytes:
    """Return a screenshot as PNG.

    window: A browser of Playwright.
    """
    page = window.new_page(viewport={"width": shot.width, "height": shot.height})
    try:
        page.goto(shot.address)
        page.wait_for_selector(shot.ready)
        if shot.part:
            return page.locator(shot.part).first.screenshot()
        return page.screenshot(full_page=shot.whole)
    finally:
        page.close()


@contextmanager
def browser() -> Iterator[Any]:
    """Start the browser that CHROMIUM names, that PATH has, or that Playwright brought.

    RAISES (Missing): Without Playwright, or without a browser that starts.
    """
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        raise Missing("no Playwright: pip install playwright") from None
    with sync_playwright() as playwright:
        path = os.environ.get("CHROMIUM") or next(filter(None, map(which, BROWSERS)), None)
        try:
            window = playwright.chromium.launch(executable_path=path)
        except Error as reason:
            said = reason.message.splitlines()[0]
            raise Missing(f"no Chromium starts: playwright install chromium ({said})") from None
        yield window
        window.close()


@contextmanager
def service(pipeline: str = PIPELINE) -> Iterator[str]:
    """Serve a pipeline, and yield the address. RAISES (Missing): If it does not start."""
    command = [sys.executable, "-m", "spacy", "bergamot", "serve", pipeline, "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if line.startswith("Serving "):
                break
        else:
            raise Missing(f"{pipeline} is not served: {''.join(said)}")
        yield said[-1].split()[-1]
        process.terminate()
        process.stderr.read()


def linked(folder: Path) -> Path:
    """Return the page of the notes of `pictures/notes.svg`, linked, in a folder."""
    notes, page = folder / "notes.jsonl", folder / "linked.html"
    lines = [
        json.dumps({"id": language, "language": language, "text": text})
        for language, text, _ in NOTES
    ]
    notes.write_text("\n".join(lines), "utf8")
    command = [sys.executable, "-m", "spacy", "bergamot", "link", PIPELINE, str(notes), str(page)]
    subprocess.run(command, check=True)
    return page
