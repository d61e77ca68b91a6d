"""`kb`: from a table of names to a concept table, with what is installed."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spacy_bergamot.cli import bergamot
from spacy_bergamot.kb.concept_table import ConceptTable


def invoke(*arguments: object, status: int = 0) -> str:
    result = CliRunner().invoke(bergamot, ["kb", *map(str, arguments)])
    assert result.exit_code == status, result.output
    return result.output


@pytest.fixture
def source(tmp_path: Path) -> Path:
    rows = [
        {"id": "HP:0001250", "name": "Seizure", "synonyms": ["fit"]},
        {"id": "HP:0001945", "name": "Fieber", "language": "GER"},
    ]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf8")
    return tmp_path / "mine.jsonl"


def test_a_table_of_names_becomes_a_concept_table(source: Path, tmp_path: Path):
    assert "concepts         2" in invoke(source, tmp_path / "deep" / "kb")
    table = ConceptTable.open(tmp_path / "deep" / "kb")
    assert list(table) == ["HP:0001250", "HP:0001945"]
    assert table["HP_0001250"].aliases == ["Seizure", "fit"]
    invoke(source, tmp_path / "german", "--languages", "de")
    assert list(ConceptTable.open(tmp_path / "german")) == ["HP:0001945"]
    assert "B001" in invoke(tmp_path / "none.obo", tmp_path / "x", status=1)
    (tmp_path / "file").write_text("mine", "utf8")
    assert "B101" in invoke(source, tmp_path / "file", status=1)


def test_without_the_extra_it_is_named(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in [name for name in sys.modules if name.startswith("spacy_bergamot.kb_import")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "polars", None)
    (line,) = invoke(source, tmp_path / "kb", status=1).splitlines()
    assert "B109" in line
    assert 'pip install "spacy_bergamot[kb]"' in line
