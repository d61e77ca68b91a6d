"""`publish` into a folder: what would be uploaded."""

import shutil
from pathlib import Path

import pytest
import spacy
import srsly

from spacy_bergamot.pipeline.pipeline_files import list_files
from tests.spacy_bergamot.factories import invoke

WHEEL = "xx_pipeline-0.0.0-py3-none-any.whl"


@pytest.fixture
def package(saved: Path, tmp_path: Path) -> Path:
    """Write a package as `spacy package` lays it out; the wheel is none."""
    folder = tmp_path / "xx_pipeline-0.0.0"
    inside = folder / "xx_pipeline/xx_pipeline-0.0.0"
    shutil.copytree(saved, inside)
    list_files(inside)
    source = {"name": "Names of ours", "license": "MIT", "url": "", "author": ""}
    meta = srsly.read_json(inside / "meta.json") | {"sources": [source, {"name": "Others"}]}
    srsly.write_json(folder / "meta.json", meta)
    (folder / "README.md").write_text("# Ours\n")
    (folder / "dist").mkdir()
    (folder / "dist" / WHEEL).write_bytes(b"wheel")
    (folder / "dist/xx_pipeline-9.0.0-py3-none-any.whl").write_bytes(b"another")
    return folder


def test_a_dry_run_writes_a_repository_that_loads_and_is_whole(package: Path, tmp_path: Path):
    output = tmp_path / "repository"
    said = invoke("publish", package, "me/ours", "--dry-run", output).output
    assert "Names of ours: MIT" in said
    assert "Others: licence not said" in said
    assert [path.name for path in output.glob("*.whl")] == [WHEEL]
    text = (output / "README.md").read_text()
    assert text.startswith("---\nlibrary_name: spacy\n")
    assert "# Ours" in text
    assert spacy.load(output)("A heart attack.").ents[0].kb_id_ == "C03"
    (output / ".gitattributes").write_text("the hub adds it")
    invoke("check", output)
    invoke("publish", package, "me/ours", "--dry-run", output)  # again, over its own


def test_what_is_wrong_is_named_and_nothing_is_written(package: Path, tmp_path: Path):
    output = tmp_path / "repository"

    def refused(code: str, *arguments: object) -> None:
        said = invoke("publish", *arguments, "--dry-run", output, status=1).output
        assert f"[{code}]" in said
        assert not output.exists()

    refused("B222", package, "ours")
    refused("B222", package, "me/ours/more")
    refused("B220", tmp_path, "me/ours")
    vectors = next(package.rglob("engine/vectors*"))
    whole = vectors.read_bytes()
    vectors.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    refused("B006", package, "me/ours")
    vectors.write_bytes(whole)
    (package / "dist" / WHEEL).unlink()
    refused("B221", package, "me/ours")
    srsly.write_json(package / "meta.json", {"lang": "xx"})
    refused("B220", package, "me/ours")


def test_the_files_of_somebody_else_are_left_alone(package: Path, tmp_path: Path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("mine")
    said = invoke("publish", package, "me/ours", "--dry-run", tmp_path / "mine", status=1).output
    assert "B101" in said
    assert (tmp_path / "mine/thesis.txt").read_text() == "mine"
