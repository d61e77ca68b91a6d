"""Corpora, and a pipeline with a component that does to a document what its text says."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from spacy.language import Language
from spacy.util import import_file
from typer.testing import CliRunner, Result

from spacy_bergamot.cli import bergamot
from tests.processes import Popen

CODE = """
import os, signal, sys, time
from spacy.language import Language

@Language.component("obeys")
def obeys(doc):
    words = doc.text.split()
    if "RAISES" in words:
        raise RuntimeError("as told")
    if "ENDS" in words:
        os.kill(os.getpid(), signal.SIGSEGV)
    if "LEAVES" in words:
        os._exit(7)
    if "WAITS" in words:
        time.sleep(60)
    if "SLOW" in words:
        time.sleep(0.02)
    if "PRINTS" in words:
        print("no Arrow", flush=True)
    return doc
"""
TEXTS = [
    "Der Patient hat Bluthochdruck.",
    "heart attack and fever",
    "患者は糖尿病です。",
    "",
    "no finding",
    "Aspirin, insulin, MRI.",
]


@pytest.fixture(scope="session")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("code") / "components.py"
    path.write_text(CODE, encoding="utf8")
    return path


@pytest.fixture(scope="session")
def pipeline(
    make_nlp: Callable[..., Language], code: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    import_file("components", code)
    nlp = make_nlp()
    nlp.add_pipe("obeys")
    path = tmp_path_factory.mktemp("pipeline") / "obeys"
    nlp.to_disk(path)
    return path


def texts(count: int, **marked: int) -> list[str | None]:
    """Return so many texts; some say in front what shall happen to them."""
    found: list[str | None] = [f"{TEXTS[row % len(TEXTS)]} {row}" for row in range(count)]
    for word, row in marked.items():
        found[row] = f"{word} {found[row]}"
    return found


def write(path: Path, texts: list[str | None], *, first: int = 0, **options: object) -> Path:
    """Write texts with ids from a number on, and another column."""
    rows = range(first, first + len(texts))
    table = pa.table(
        {"id": [f"n{row}" for row in rows], "text": texts, "ward": pa.array(rows, pa.int16())}
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, **options)
    return path


@pytest.fixture
def run(pipeline: Path, code: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run `annotate` with one worker, which need not import first."""
    monkeypatch.setattr("spacy_bergamot.annotate.workers.subprocess.Popen", Popen)

    def run(*arguments: object, status: int = 0, by: Path = pipeline) -> Result:
        options = ["--code", code, "--workers", "1"]
        command = ["annotate", by, *options, *arguments]
        result = CliRunner().invoke(bergamot, [str(argument) for argument in command])
        assert result.exit_code == status, result.output
        return result

    return run


def parts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.parquet"))}


def read(folder: Path) -> pa.Table:
    return pa.concat_tables([pq.read_table(path) for path in sorted(folder.glob("*.parquet"))])
