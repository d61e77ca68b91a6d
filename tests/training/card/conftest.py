"""The invented knowledge base, language model and pipeline of the package's tests, measured."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from spacy.language import Language
from typer.testing import CliRunner

from tests.spacy_bergamot.conftest import CONCEPTS, concepts, lm, make_nlp
from training.__main__ import app

__all__ = ["concepts", "lm", "make_nlp"]


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [*map(str, arguments)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def write_names(folder: Path) -> Path:
    """Write dictionary.txt, and queries that it does not have: names with a word before them."""
    (folder / "queries").mkdir(parents=True)
    lines = [
        (concept, language, name)
        for concept, (_, by) in CONCEPTS.items()
        for language, names in by.items()
        for name in names
    ]
    (folder / "dictionary.txt").write_text(
        "".join(f"{concept}||{name}\n" for concept, _, name in lines), "utf8"
    )
    for language in ("ENG", "GER"):
        text = "".join(f"{c}||acute {name}\n" for c, lat, name in lines if lat == language)
        (folder / "queries" / f"{language}.txt").write_text(text, "utf8")
    return folder


@pytest.fixture(scope="session")
def figures(tmp_path_factory: pytest.TempPathFactory, lm: Path) -> Path:
    folder = write_names(tmp_path_factory.mktemp("eval") / "eval")
    output = folder / "held_out.json"
    queries = folder / "queries"
    run("evaluate", folder / "dictionary.txt", queries, output, "--lm", f"trained={lm}")
    return output


@pytest.fixture(scope="session")
def assembled(tmp_path_factory: pytest.TempPathFactory, make_nlp: Callable[..., Language]) -> Path:
    path = tmp_path_factory.mktemp("assembled") / "pipeline"
    make_nlp().to_disk(path)
    return path


@pytest.fixture
def pipeline(assembled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(assembled, tmp_path / "pipeline"))


def meta_of(pipeline: Path) -> dict:
    return json.loads((pipeline / "meta.json").read_text("utf8"))
