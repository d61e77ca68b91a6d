"""README and docs: links lead somewhere, commands exist, code runs, the reference is the code's."""

import ast
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from typer.testing import CliRunner

import spacy_bergamot
from spacy_bergamot.cli import bergamot
from tests.documents import NOT_RUN, PAGES, ROOT, anchors, blocks, commands, files, links, runs
from training.__main__ import app as training_app
from website.pictures import NOTES, PICTURES
from website.reference import PAGES as REFERENCE
from website.reference import described_arguments

DOCS = ROOT / "docs"
NAMES = """id,name,language,synonyms,type,parents
L1,heart failure,en,cardiac insufficiency|CHF,T047,L3
"""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("name", REFERENCE | PICTURES)
def test_generated_pages_are_what_the_code_says(name: str):
    made = (REFERENCE | PICTURES)[name]()
    assert (DOCS / name).read_text("utf8") == made, "python -m website"


def test_every_setting_is_explained():
    text = (DOCS / "reference/settings.md").read_text("utf8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert len(rows) > 30
    assert not [row for row in rows if row.endswith("|  |")]


def test_arguments_are_read_from_docstrings():
    found = described_arguments(
        "Text.\n\n    k (int): One\n        more. a: b\n    a, b (str): Two.\n"
    )
    assert found == {"k": "One more. a: b", "a": "Two.", "b": "Two."}


def test_what_is_public_is_in_the_reference():
    text = (DOCS / "reference/python.md").read_text("utf8")
    assert re.findall(r"(?m)^::: spacy_bergamot\.(\w+)$", text) == spacy_bergamot.__all__


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_lead_to_a_page_and_a_heading(path: Path):
    for link in links(path):
        target, _, anchor = link.partition("#")
        to = (path.parent / target).resolve() if target else path
        assert to.exists(), link
        if anchor and to.suffix == ".md" and not anchor.startswith("spacy_bergamot."):
            assert anchor in anchors(to), link


@pytest.fixture(scope="module")
def known() -> dict[str, Any]:
    """Return the commands of `python -m spacy` and `python -m training`."""
    from spacy.cli import app as spacy_app

    get: Any = typer.main.get_command
    return {"spacy": get(spacy_app), "training": get(training_app)}


def complaint(command: Any, words: list[str], whole: bool) -> str:
    """Return what is wrong with the words of a command, or nothing.

    whole (bool): All of it stands there, arguments too.
    """
    while hasattr(command, "commands"):
        if not words:
            return ""
        name, *words = words
        if name not in command.commands:
            return f"no command {name}"
        command = command.commands[name]
    context = typer.Context(command, info_name="x", **command.context_settings)
    try:
        given, rest, _ = command.make_parser(context).parse_args(list(words))
    except Exception as error:
        return str(error)
    if rest and not context.allow_extra_args:
        return f"too many arguments: {rest}"
    wanted = [p.name for p in command.params if p.param_type_name == "argument" and p.required]
    missing = [name for name in wanted if not given.get(name)]
    return f"{missing} missing" if whole and missing else ""


def project_complaint(words: list[str]) -> str:
    """Return what is wrong with a command of `spacy project`, or nothing."""
    project = yaml.safe_load((ROOT / "project.yml").read_text("utf8"))
    if words[:1] == ["run"] and len(words) > 1:
        names = {command["name"] for command in project["commands"]} | {*project["workflows"]}
        if words[1] not in names:
            return f"no workflow {words[1]}"
        if len(words) > 2 and words[2] != ".":
            return "settings want the folder, ."
    given = [word.removeprefix("--vars.") for word in words if word.startswith("--vars.")]
    return ", ".join(name for name in given if name not in project["vars"])


def module_complaint(words: list[str]) -> str:
    """Return what is wrong with a module that is run, or nothing."""
    if "{" in words[0]:  # the text of an error
        return ""
    if importlib.util.find_spec(words[0]) is None:
        return f"no module {words[0]}"
    path = Path(importlib.util.find_spec(words[0]).origin or "")
    options = {word for word in words if word.startswith("--") and "." not in word}
    text = path.read_text("utf8") + "".join(p.read_text("utf8") for p in path.parent.glob("*.py"))
    names = {option[2:].replace("-", "_") for option in options}
    return ", ".join(name for name in names if not re.search(rf"{name.replace('_', '[-_]')}", text))


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_commands_exist_with_their_options(path: Path, known: dict[str, Any]):
    if path == DOCS / "reference/commands.md":
        return
    for words, whole in commands(path):
        if words[:2] == ["spacy", "project"]:
            found = project_complaint(words[2:])
        elif words[0] in known:
            found = complaint(known[words[0]], words[1:], whole)
        elif words[0] in ("pip", "venv", "http.server"):
            found = ""
        else:
            found = module_complaint(words)
        assert not found, f"{' '.join(words)}: {found}"


def test_a_command_that_does_not_exist_is_seen(known: dict[str, Any]):
    link = ["bergamot", "link", "A", "B", "C"]
    assert complaint(known["spacy"], link, True) == ""
    assert "--formt" in complaint(known["spacy"], [*link, "--formt", "html"], True)
    assert "missing" in complaint(known["spacy"], link[:3], True)
    assert "too many" in complaint(known["spacy"], [*link, "D"], True)
    assert "no command" in complaint(known["training"], ["trian"], False)
    assert project_complaint(["run", "al", "."])
    assert project_complaint(["run", "all", ".", "--vars.nme", "x"])


def importable(text: str) -> bool:
    """Say whether everything that a piece of code imports is installed."""
    found = {
        (node.module if isinstance(node, ast.ImportFrom) else name.name).partition(".")[0]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
    }
    return all(importlib.util.find_spec(name) for name in found)


WITH_CODE = [p for p in PAGES if p.parent.name != "examples" and any(blocks(p, "python"))]


@pytest.mark.usefixtures("sample_package")
@pytest.mark.parametrize("path", WITH_CODE, ids=name_of)
def test_code_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_names.csv").write_text(NAMES, "utf8")
    namespace: dict[str, Any] = {}
    for before, text in blocks(path, "python"):
        code = compile(text, name_of(path), "exec")
        if not before.startswith(NOT_RUN) and importable(text):
            exec(code, namespace)


@pytest.mark.parametrize("name", ["align", "filters", "thresholds", "update"])
def test_what_a_page_says_is_run_in_an_empty_folder(
    name: str, sample_package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = DOCS / f"howto/{name}.md"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "assets").symlink_to(ROOT / "assets")  # "in a checkout"
    for file, text in files(path).items():
        (tmp_path / file).write_text(text, "utf8")
    found = [*runs(path)]
    assert found
    for words in found:
        app = training_app if words[0] == "training" else bergamot
        result = CliRunner().invoke(app, words[1 if words[0] == "training" else 2 :])
        assert result.exit_code == 0, (words, result.output)


@pytest.mark.usefixtures("sample_package")
def test_the_picture_of_notes_shows_mentions_that_are_found():
    import spacy

    nlp = spacy.load("xx_bergamot_sample")
    concepts = nlp.get_pipe("bergamot_linker").kb.cui_to_entity
    for _, text, shown in NOTES:
        found = {ent.text: ent for ent in nlp(text).ents}
        assert found.keys() == shown.keys()
        for mention, name in shown.items():
            # That the sample's language model links these is what makes the picture; a stand-in
            # knows which are names.
            assert name in {entity.canonical_name for entity in concepts.values()}
            assert mention in found


def test_the_site_is_built_strictly_and_fetches_nothing(tmp_path: Path):
    pytest.importorskip("mkdocs", reason="the extra docs is not installed")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    result = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert result.returncode == 0, result.stderr[-3000:]
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 25
    fetched = re.compile(r'<(?:script|img|iframe)[^>]+src="?https?:|<link[^>]+href="?https?:')
    for page in pages:
        assert not fetched.search(page.read_text("utf8")), page
