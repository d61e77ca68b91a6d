"""`check`: what differs from the list that was made at packaging is named, and the remedy."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spacy_bergamot.cli import bergamot
from spacy_bergamot.pipeline.pipeline_files import list_files


def check(pipeline: object, *options: str) -> tuple[int, str]:
    result = CliRunner().invoke(bergamot, ["check", str(pipeline), *options])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def test_all_that_differs_is_named_and_what_is_new(saved: Path):
    list_files(saved)
    (saved / "tokenizer").write_bytes(b"")
    (saved / "vocab/strings.json").unlink()
    (saved / "bergamot_linker/more").write_text("x")
    (saved / "README.md").write_text("spaCy writes one")
    status, output = check(saved)
    assert status == 1
    assert output.count("✘") == 3
    assert check(saved, "--write")[0] == 0
    assert check(saved)[0] == 0


def test_without_a_list_the_remedy_is_named(saved: Path, tmp_path: Path):
    status, output = check(saved)
    assert status == 1
    assert "B113" in output
    assert "--write" in output
    assert "B046" in check(tmp_path / "nothing")[1]


@pytest.mark.parametrize("name", ["vocab/strings.json", "tokenizer", "config.cfg", "meta.json"])
def test_a_pipeline_that_spacy_cannot_load_is_pointed_to_the_check(saved: Path, name: str):
    (saved / name).write_bytes(b"\xff\x00{[")
    result = CliRunner().invoke(bergamot, ["info", str(saved)])
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert "B046" in result.output
    assert "bergamot check" in result.output


def test_update_lists_the_files_of_what_it_writes(saved: Path, tmp_path: Path):
    changes = tmp_path / "changes.jsonl"
    changes.write_text(json.dumps({"action": "remove", "concept_id": "C03"}))
    command = ["update", str(saved), str(changes), str(tmp_path / "updated")]
    assert CliRunner().invoke(bergamot, command).exit_code == 0
    assert check(tmp_path / "updated")[0] == 0
