"""What a manifest says is checked before anything is done with it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.kb.concept_table import ConceptTable
from tests.spacy_bergamot.conftest import write_concepts

Change = Callable[[dict[str, Any]], object]
ENTRY = {"bytes": 1, "sha256": "0" * 64}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = write_concepts(tmp_path_factory.mktemp("kb") / "concepts")
    return (folder / "manifest.json").read_text(encoding="utf8")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_concepts(tmp_path / "concepts")


def rewritten(path: Path, change: Change) -> None:
    """Change a manifest as an attacker would, who leaves its checksum away."""
    manifest = json.loads((path / "manifest.json").read_text(encoding="utf8"))
    manifest.pop("manifest_sha256", None)
    change(manifest)
    (path / "manifest.json").write_text(json.dumps(manifest), encoding="utf8")


@pytest.mark.parametrize(
    "name",
    ["../outside", "/dev/zero", "/etc/passwd", "a/../../outside", "x" * 5000, "", ".", "a\0b",
     "a//b", "./a"],
)  # fmt: skip
@pytest.mark.parametrize("checksums", [True, False])
def test_names_that_lead_out_are_refused(table: Path, name: str, checksums: bool):
    (table.parent / "outside").write_text("x")
    rewritten(table, lambda manifest: manifest["files"].update({name: ENTRY}))
    with pytest.raises(BergamotError, match=r"B110.*manifest\.json"):
        ConceptTable.open(table, checksums=checksums)


def test_links_that_lead_out_are_refused_and_links_within_are_followed(table: Path):
    path = table / "aliases.arrow"
    path.rename(table / "moved")
    path.symlink_to("moved")
    ConceptTable.open(table)
    outside = (table / "moved").rename(table.parent / "outside")
    path.unlink()
    path.symlink_to(outside)
    with pytest.raises(BergamotError, match=r"B110.*aliases\.arrow"):
        ConceptTable.open(table)


@pytest.mark.parametrize(
    "change",
    [
        lambda manifest: manifest.update(files=[]),
        lambda manifest: manifest.update(files=3),
        lambda manifest: manifest["files"].update({"a": []}),
        lambda manifest: manifest["files"].update({"a": {"bytes": 1}}),
        lambda manifest: manifest["files"].update({"a": {**ENTRY, "bytes": "1"}}),
        lambda manifest: manifest["files"].update({"a": {**ENTRY, "bytes": True}}),
        lambda manifest: manifest.update(kind=["concept-table"]),
        lambda manifest: manifest.update(format_version="1"),
        lambda manifest: manifest.pop("files"),
    ],
)
def test_a_manifest_of_another_form_is_refused(table: Path, change: Change):
    rewritten(table, change)
    with pytest.raises(BergamotError, match=r"B002.*manifest\.json"):
        ConceptTable.open(table)


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "3", '"x"', "{}", "[" * 100_000, '{"kind":' * 100_000, "\0", "9" * 5000],
    ids=lambda text: text[:8],
)
def test_what_is_no_manifest_is_refused(table: Path, text: str):
    (table / "manifest.json").write_text(text)
    with pytest.raises(BergamotError, match=r"B002.*manifest\.json"):
        ConceptTable.open(table)


def test_every_changed_line_of_a_manifest_is_noticed(table: Path, text: str):
    """Two lines that change places, or one digit, are JSON as before, and mean something else."""
    lines = text.splitlines()
    refused = 0
    for row in range(1, len(lines) - 2):
        swapped = [*lines[:row], lines[row + 1], lines[row], *lines[row + 2 :]]
        (table / "manifest.json").write_text("\n".join(swapped), encoding="utf8")
        if swapped != lines:
            with pytest.raises(BergamotError):
                ConceptTable.open(table)
            refused += 1
    assert refused > 10
    (table / "manifest.json").write_text(text, encoding="utf8")
    ConceptTable.open(table)


def test_swapped_labels_of_mentions_are_noticed(saved: Path):
    import spacy

    path = saved / "bergamot_mentions/manifest.json"
    manifest = json.loads(path.read_text(encoding="utf8"))
    assert len(manifest["groups"]) > 1
    manifest["groups"] = manifest["groups"][::-1]
    path.write_text(json.dumps(manifest, indent=1), encoding="utf8")
    with pytest.raises(BergamotError, match=r"B006.*bergamot_mentions"):
        spacy.load(saved)
    del manifest["groups"], manifest["manifest_sha256"]
    path.write_text(json.dumps(manifest, indent=1), encoding="utf8")
    with pytest.raises(BergamotError, match=r"B002.*groups"):
        spacy.load(saved)
