"""The sources of a release, and their licences."""

import json
from pathlib import Path

import pytest

from tests.training.preprocess.conftest import TWO, line, run, write_release
from training.errors import BergamotError


def test_licences_stand_in_a_table_beside_the_release(tmp_path: Path) -> None:
    write_release(tmp_path / "META", MRCONSO=TWO, MRSAB=[line("MRSAB", RSAB="SRC", SVER="7")])
    table = tmp_path / "META/MRSAB.tsv"
    table.write_text("SAB\tversion\tlicense\nSRC\t6\tCC0\nOTHER\t2 (part)\t\n", "utf8")
    run(tmp_path)
    manifest = json.loads((tmp_path / "out/kb/manifest.json").read_text("utf8"))
    assert manifest["release"] == [
        {"source": "OTHER", "version": "2 (part)", "restriction": "", "name": ""},
        {"source": "SRC", "version": "7", "restriction": "", "name": "", "licence": "CC0"},
    ]
    assert "MRSAB.tsv" in [entry["name"] for entry in manifest["sources"]]
    table.write_text("a\tb\n", "utf8")
    with pytest.raises(BergamotError, match=r"T128.*MRSAB\.tsv"):
        run(tmp_path)
