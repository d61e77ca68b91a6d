"""The check of the embedded sample against an open knowledge base."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from spacy_bergamot.kb_import.concept_table import build_concept_table
from spacy_bergamot.kb_import.filters import Filters
from spacy_bergamot.kb_import.rrf_writer import write_rrf

ROOT = Path(__file__).resolve().parents[1]
Name = tuple[str, str] | tuple[str, str, dict[str, str]]

SAMPLE: list[Name] = [
    ("C9000001", "Glimmer fever"), ("C9000001", "GF", {"TTY": "AB"}),
    ("C9000001", "Pyrexia", {"LAT": "GER"}), ("C9000002", "Fever"), ("C9000003", "Dimmerol"),
    ("C9000004", "Dimmax"), ("C9000004", "shimmer"), ("C9000005", "Shimmer"),
]  # fmt: skip
OPEN_KB: list[Name] = [
    ("C9000001", "glimmer  FEVER"), ("C9000002", "Pyrexia"), ("C8000000", "gf"),
    ("HP_0000001", "Dimmerol"), ("C8000000", "Dimmax", {"SUPPRESS": "Y"}),
    ("C8000000", "Dimmax", {"LAT": "GER"}), ("C9000005", "shimmer"),
]  # fmt: skip


def table(folder: Path, names: list[Name]) -> Path:
    """Write names as a concept table; return its folder."""
    usual = {"LAT": "ENG", "SAB": "X", "TTY": "PT", "SUPPRESS": "N"}
    atoms = [{**usual, "CUI": cui, "STR": text, **dict(*more)} for cui, text, *more in names]
    write_rrf(folder / "META", {"MRCONSO": atoms})
    build_concept_table(folder / "META", folder / "kb", filters=Filters(), max_malformed=0)
    return folder / "kb"


@pytest.fixture
def verify(tmp_path: Path):
    """Return a function that compares SAMPLE with an open knowledge base of the given names."""

    def run(*more: Name) -> tuple[int, list[str]]:
        tables = table(tmp_path / "sample", SAMPLE), table(tmp_path / "open", OPEN_KB + list(more))
        command = [sys.executable, str(ROOT / "assets/sample/verify.py"), *map(str, tables)]
        result = subprocess.run(
            command, capture_output=True, encoding="utf8", cwd=ROOT, check=False
        )
        return result.returncode, (result.stdout + result.stderr).strip().split("\n")

    return run


def test_shared_names_confirm(verify):
    status, lines = verify()
    assert status == 0
    assert lines[0] == "GF (AB): C9000001 here, ['C8000000'] there"
    assert json.loads(lines[-1]) == {
        "cuis": 5,
        "cuis_known": 3,
        "confirmed": 2,
        "names": 7,
        "names_known": 4,
        "agreeing": 2,
        "other_sense": 1,
        "contradicting_abbreviations": 1,
        "contradicting": 0,
    }


def test_a_name_of_another_concept_contradicts(verify):
    status, lines = verify(("C8000001", "dimmax"))
    assert status == 1
    assert "Dimmax (PT): C9000004 here, ['C8000001'] there" in lines


def test_one_of_several_concepts_is_enough(verify):
    status, _ = verify(("C8000001", "dimmax"), ("C9000004", "DIMMAX"))
    assert status == 0
