"""`python -m training`: mistakes in a command line are one line, and languages have two names."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.build import table_of
from training.__main__ import app

ROOT = Path(__file__).parents[2]
CONSO = "{cui}|{lat}|P|L{n}|PF|S{n}|Y|A{n}||{cui}||SRC|PT|{cui}|{text}|0|N||\n"


@pytest.fixture
def wrong(tmp_path: Path):
    (tmp_path / "gold.txt").write_text("C1||fever\n", "utf8")

    def call(*arguments: object) -> str:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert isinstance(result.exception, BergamotError), result.output
        return str(result.exception)

    return call


def test_a_pipeline_that_is_not_there_is_named(wrong, tmp_path: Path):
    gold, output = tmp_path / "gold.txt", tmp_path / "o.json"
    assert "B046" in wrong("evaluate", gold, gold, output, "--pipeline", "nope")
    assert "B046" in wrong("evaluate", gold, gold, output, "--pipeline", f"NAME={tmp_path}")
    assert "B046" in wrong("evaluate-links", "nope", gold, output)


def test_a_folder_is_not_called_missing(wrong, tmp_path: Path):
    assert "B108" in wrong("evaluate", tmp_path, tmp_path / "gold.txt", tmp_path / "o.json")
    (tmp_path / "d.spacy").mkdir()
    assert "B108" in wrong("evaluate-links", "x.spacy", tmp_path / "d.spacy", tmp_path / "o.json")


def test_pairs_need_a_source(wrong, tmp_path: Path):
    assert "T113" in wrong("pairs", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("languages", ["ENG,GER", "en,de", "eng, DE"])
def test_languages_have_two_names(tmp_path: Path, languages: str):
    meta = tmp_path / "META"
    meta.mkdir()
    rows = [("C0000001", "ENG", "fever"), ("C0000001", "GER", "Fieber"),
            ("C0000001", "SPA", "fiebre")]  # fmt: skip
    lines = [CONSO.format(cui=c, lat=a, text=t, n=n) for n, (c, a, t) in enumerate(rows)]
    (meta / "MRCONSO.RRF").write_text("".join(lines), "utf8")
    table_of([meta], tmp_path / "kb", languages=languages, vocabularies="")
    assert ConceptTable.open(tmp_path / "kb")["C0000001"].aliases == ["fever", "Fieber"]


def test_a_command_begins_without_the_libraries_of_the_others():
    code = (
        "import runpy, sys; sys.modules['torch'] = sys.modules['spacy'] = None\n"
        "sys.argv = ['training', 'preprocess', '--help']\n"
        "runpy.run_module('training', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert b"RRF" in done.stdout
