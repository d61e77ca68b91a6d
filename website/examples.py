"""The scripts of examples/ as pages: text, code, and what the code printed."""

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
_CELL = re.compile(r"^# %%(.*)\n", re.MULTILINE)
_NUMBER = re.compile(r"-?\d+\.\d+(e-\d+)?")
_FENCE = "```"


def example_pages() -> dict[str, str]:
    """Run every script, and return the pages by their path in docs/."""
    return {f"examples/{path.stem}.md": page(path) for path in SCRIPTS}


def page(path: Path) -> str:
    """Run a script, and return it as Markdown.

    path (Path): In percent form.
    """
    parts = []
    for text, output in executed(path):
        if output is None:
            parts.append(text)
            continue
        parts.append(f"{_FENCE}python\n{text}\n{_FENCE}")
        if output.strip():
            parts.append(f"{_FENCE}text\n{output.strip()}\n{_FENCE}")
    parts.append(f"<!-- Made by `python -m website examples` from examples/{path.name}. -->")
    return "\n\n".join(parts) + "\n"


def executed(path: Path) -> Iterator[tuple[str, str | None]]:
    """Yield the cells of a script: Markdown with None, or code with what it printed.

    path (Path): In percent form; it runs in the folder of the project.
    """
    namespace = {"__name__": "__main__", "__file__": str(path)}
    pieces = _CELL.split(path.read_text(encoding="utf8"))[1:]
    for kind, text in zip(pieces[::2], pieces[1::2], strict=True):
        if "[markdown]" in kind:
            yield re.sub(r"^# ?", "", text.strip(), flags=re.MULTILINE), None
            continue
        with contextlib.redirect_stdout(io.StringIO()) as stream:
            exec(compile(text, str(path), "exec"), namespace)
        yield text.strip(), stream.getvalue()


def without_figures(text: str) -> str:
    """Return a page whose decimals are all one sign: they differ by model and processor."""
    return _NUMBER.sub("…", text)
