"""A concept table from any known form, in one command."""

import json
import zipfile
from pathlib import Path

from typer.testing import CliRunner

from spacy_bergamot.cli import bergamot
from spacy_bergamot.kb.concept_table import ConceptTable

SAMPLE = Path(__file__).parents[3] / "assets/sample/META"


def run(*arguments: object) -> str:
    result = CliRunner().invoke(bergamot, ["kb", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_rrf_archive_and_tables_become_a_concept_table(tmp_path: Path):
    assert "ENG" in run(SAMPLE, tmp_path / "rrf")
    with zipfile.ZipFile(tmp_path / "release.zip", "w") as archive:
        for file in SAMPLE.glob("*.RRF"):
            archive.write(file, f"2025AB/META/{file.name}")
    run(tmp_path / "release.zip", tmp_path / "zip")
    first, second = (ConceptTable.open(tmp_path / name) for name in ("rrf", "zip"))
    assert list(first) == list(second)
    lines = [
        {"id": "X:1", "name": "Gripe", "language": "SPA", "synonyms": ["influenza"]},
        {"id": "X:2", "name": "Tos", "language": "SPA", "parents": ["X:1"]},
    ]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines), "utf8")
    run(tmp_path / "mine.jsonl", tmp_path / "custom")
    custom = ConceptTable.open(tmp_path / "custom")
    assert len(custom) == 2
    assert {name for c in custom for name in custom[c].aliases} == {"Gripe", "influenza", "Tos"}
    run(SAMPLE, tmp_path / "german", "--languages", "GER")
    german = ConceptTable.open(tmp_path / "german")
    assert {lang for c in german for lang in german[c].languages} == {"GER"}
    assert not list(tmp_path.glob(".kb-*"))


def test_what_is_no_knowledge_base_is_refused(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("nothing", "utf8")
    arguments = ["kb", str(tmp_path / "notes.txt"), str(tmp_path / "out")]
    result = CliRunner().invoke(bergamot, arguments)
    assert result.exit_code == 1
    assert "T118" in result.output
    assert not (tmp_path / "out").exists()


def test_a_release_is_not_merged_with_other_files(tmp_path: Path):
    (tmp_path / "mine.csv").write_text("id,name\nX1,influenza\n", "utf8")
    arguments = ["kb", str(tmp_path / "mine.csv"), str(SAMPLE), str(tmp_path / "out")]
    result = CliRunner().invoke(bergamot, arguments)
    assert result.exit_code == 1
    assert "T470" in result.output
    assert not (tmp_path / "out").exists()
