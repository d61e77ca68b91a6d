"""The README and the pages of docs/: their links, headings, commands and pieces of code."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "assets/README.md", ROOT / "CHANGELOG.md"]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
NOT_RUN = "<!-- not run: "
"""The line before a piece of code that is compiled, but not run."""

_BLOCK = re.compile(r"^([^\n]*)\n+```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_FILE = re.compile(r"`([\w-]+\.\w+)`[^`]*:$")
_INLINE = re.compile(r"`(python -m [^`]+|spacy project [^`]+)`")


def blocks(path: Path, *kinds: str) -> Iterator[tuple[str, str]]:
    """Yield the fenced pieces of a page of some kinds, each with the line before it."""
    for before, kind, text in _BLOCK.findall("\n" + path.read_text("utf8")):
        if kind in kinds:
            yield before, text


def links(path: Path) -> list[str]:
    """Return where the links and pictures of a page lead to, but for other sites."""
    text = re.sub(r"(?ms)^```.*?^```$", "", path.read_text("utf8"))
    found = _LINK.findall(re.sub(r"`[^`\n]*`", "", text))
    return [target for target in found if "://" not in target]


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings as code hosts make them."""
    text = re.sub(r"(?ms)^```.*?^```$", "", path.read_text("utf8"))
    found: set[str] = set()
    for heading in re.findall(r"(?m)^#+ (.+)$", text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


def commands(path: Path) -> Iterator[tuple[list[str], bool]]:
    """Yield the words of a page's commands, and whether all of each stands there."""
    for _, text in blocks(path, "", "bash"):
        for line in re.sub(r"\\\n\s*", "", text).splitlines():
            _, found, rest = line.partition("python -m ")
            if not found:
                _, found, rest = line.partition("run -m ")  # of torchrun
            if not found and line.startswith("spacy project"):
                found, rest = "spacy", line
            if found:
                yield _words(rest), True
    for text in _INLINE.findall(path.read_text("utf8")):
        yield _words(text.removeprefix("python -m ")), False


def runs(path: Path) -> Iterator[list[str]]:
    """Yield the words of the commands of a page that are run as they stand there."""
    for before, text in blocks(path, "bash"):
        if not before.startswith(NOT_RUN):
            for line in text.splitlines():
                if line.startswith("python -m "):
                    yield _words(line.removeprefix("python -m "))


def files(path: Path) -> dict[str, str]:
    """Return the files whose text a page shows, behind a line that ends by their name."""
    found = {}
    for before, text in blocks(path, "json", "text"):
        if name := _FILE.search(before):
            found[name[1]] = text
    return found


def _words(line: str) -> list[str]:
    return [word for word in shlex.split(line, comments=True) if word not in ("…", "...")]
