"""The reference of commands, errors and settings, from the code that it describes."""

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import spacy_bergamot
import training

MADE = "<!-- Made by `python -m website reference`; do not change it here. -->"
_ENTRY = re.compile(r"(\w+)((?:, \w+)*)(?: \(([^)]*)\))?: (.*)")


def commands() -> str:
    """Return every command of both command lines with its arguments and options."""
    import typer
    from typer.cli import get_docs_for_click

    from spacy_bergamot.cli import bergamot
    from training.__main__ import app

    parts = ["# Commands", "", "What `--help` of each command says.", ""]
    for name, of in (("python -m spacy bergamot", bergamot), ("python -m training", app)):
        command: Any = typer.main.get_command(of)
        text = get_docs_for_click(
            obj=command, ctx=typer.Context(command, info_name=name), name=name
        )
        text = re.sub(
            r"^\* `--(install-completion|show-completion|help)`.*\n", "", text, flags=re.M
        )
        text = text.replace("**Options**:\n\n\n", "")
        text = re.sub(r"^(#+) `python -m (?:spacy )?(.*)`$", r"#\1 \2", text, flags=re.M)
        text = re.sub(r"^\* `([\w-]+)`: .*\.\.\.$", partial(_whole, command), text, flags=re.M)
        parts += [text.strip(), ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join([*parts, MADE, ""]))


def _whole(command: Any, found: re.Match[str]) -> str:
    """Return a line of a list of commands with the whole sentence, which typer cuts off."""
    known = command.commands.get(found[1])
    sentence = (known.help or "").partition("\n\n")[0].replace("\n", " ") if known else ""
    return f"* `{found[1]}`: {sentence}" if sentence else found[0]


def errors() -> str:
    """Return every coded message of the package and of training."""
    found: dict[str, str] = {}
    for owner in _owners():
        for code in dir(owner):
            if re.fullmatch(r"[A-Z]\d{3}", code):
                found[code] = getattr(owner, code).removeprefix(f"[{code}] ")
    parts = [
        "# Errors by code",
        "",
        "An error that you can mend names file, line and remedy. A code keeps its meaning. "
        "B is the installed package (B230 to B239 training), W a warning, T training and "
        "evaluation. Braces stand for "
        "what the message names.",
    ]
    for code, message in sorted(found.items()):
        quoted = re.sub(r"[<>|*\[\]]|\b_|_\b", lambda sign: f"\\{sign[0]}", message)
        parts += ["", f"#### {code}", "", quoted]
    return "\n".join([*parts, "", MADE, ""])


def _owners() -> Iterator[type]:
    """Yield the classes of coded messages, wherever in the tree they are."""
    for package in (spacy_bergamot, training):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.rpartition(".")[2] == "errors":
                loaded = importlib.import_module(module.name)
                yield from (
                    getattr(loaded, n) for n in ("Errors", "Warnings") if hasattr(loaded, n)
                )


def settings() -> str:
    """Return the settings of the components: default and meaning, as their code has them."""
    from spacy.language import Language

    from spacy_bergamot import CandidateFilter, LinkerSettings
    from spacy_bergamot.finder.settings import FinderSettings
    from spacy_bergamot.mentions.settings import MentionSettings

    described = {
        "bergamot_linker": [LinkerSettings, CandidateFilter],
        "bergamot_mentions": [MentionSettings],
        "bergamot_finder": [FinderSettings],
    }
    parts = [
        "# Settings",
        "",
        "They stand in the pipeline's config.cfg. `spacy.load` changes them for one process:",
        "",
        "```python",
        "import spacy",
        "",
        'config = {"components.bergamot_linker.threshold": 0.7}',
        'nlp = spacy.load("xx_bergamot_sample", config=config)',
        "```",
        "",
        "A name that does not exist, or a value of another type, is an error.",
    ]
    for factory, classes in described.items():
        texts: dict[str, str] = {}
        for one in classes:
            texts |= described_arguments(one.__doc__ or "")
        defaults = Language.get_factory_meta(factory).default_config
        parts += ["", f"## {factory}", "", "| setting | default | |", "|---|---|---|"]
        for name, value in defaults.items():
            meaning = texts.get(name, "").replace("|", "\\|")
            parts.append(f"| `{name}` | {_shown(value)} | {meaning} |")
    return "\n".join([*parts, "", MADE, ""])


def described_arguments(text: str) -> dict[str, str]:
    """Return what a docstring says of each argument.

    text (str): With lines such as "k (int): Candidates kept." or "a, b (str): Two of them."
    """
    found: dict[str, str] = {}
    names: list[str] = []
    for line in text.splitlines():
        entry = _ENTRY.fullmatch(line.strip())
        if entry and len(line) - len(line.lstrip()) in (0, 4) and entry[1].islower():
            names = [entry[1], *entry[2].split(", ")[1:]]
            for name in names:
                found[name] = entry[4]
        elif names and line.strip() and line.startswith("        "):
            for name in names:
                found[name] += f" {line.strip()}"
        else:
            names = []
    return found


def _shown(value: Any) -> str:
    """Return a default as a table shows it: a registered function by its name."""
    if isinstance(value, dict) and any(key.startswith("@") for key in value):
        name = next(of for key, of in value.items() if key.startswith("@"))
        inner = ", ".join(value.get("generators", {}))
        return f"`{name}`" + (f" of {inner}" if inner else "")
    if isinstance(value, list | dict):
        return ", ".join(map(str, value)) or "empty"
    if value is None or isinstance(value, bool):
        return {None: "none", True: "true", False: "false"}[value]
    return f"`{value}`"


PAGES: dict[str, Callable[[], str]] = {
    "reference/commands.md": commands,
    "reference/errors.md": errors,
    "reference/settings.md": settings,
}
"""What makes each generated page, by its path in docs/."""
