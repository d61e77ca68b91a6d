"""The check of the embedded sample against an open knowledge base."""

import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "assets" / "sample" / "verify.py"


def row(cui: str, name: str, *, language="ENG", term_type="PT", suppress="N") -> str:
    """Return a row of MRCONSO."""
    atom = (cui, language, "P", "L1", "PF", "S1", "Y", "A1", "", "", "", "X", term_type, "1")
    return "|".join((*atom, name, "0", suppress, "")) + "|\n"


SAMPLE = (
    row("C9000001", "Glimmer fever")
    + row("C9000001", "GF", term_type="AB")
    + row("C9000001", "Pyrexia", language="GER")
    + row("C9000002", "Fever")
    + row("C9000003", "Dimmerol")
    + row("C9000004", "Dimmax")
    + row("C9000004", "shimmer")
    + row("C9000005", "Shimmer")
)
OPEN_KB = (
    row("C9000001", "glimmer  FEVER")
    + row("C9000002", "Pyrexia")
    + row("C8000000", "gf")
    + row("HP_0000001", "Dimmerol")
    + row("C8000000", "Dimmax", suppress="Y")
    + row("C8000000", "Dimmax", language="GER")
    + row("C9000005", "shimmer")
)


@pytest.fixture(params=["folder", "archive"])
def verify(request, tmp_path):
    """Return a function that compares SAMPLE with an open knowledge base of the given rows."""

    def run(content: str) -> tuple[int, list[str]]:
        path = tmp_path / request.param
        if request.param == "archive":
            with tarfile.open(path, "w:xz") as archive:
                member = tarfile.TarInfo("META/MRCONSO.RRF")
                member.size = len(content.encode())
                archive.addfile(member, io.BytesIO(content.encode()))
        else:
            write_table(path, content)
        return run_script(path, write_table(tmp_path / "sample", SAMPLE))

    return run


def write_table(folder: Path, content: str) -> Path:
    """Write MRCONSO into a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "MRCONSO.RRF").write_text(content, encoding="utf-8")
    return folder


def run_script(open_kb: Path, sample: Path) -> tuple[int, list[str]]:
    """Run the script; return its exit status and the lines it printed."""
    command = [sys.executable, str(SCRIPT), "--open-kb", str(open_kb), "--sample", str(sample)]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    return result.returncode, (result.stdout + result.stderr).strip().split("\n")


def test_shared_names_confirm(verify):
    status, lines = verify(OPEN_KB)
    assert status == 0
    assert "no shared name: C9000002 'Fever', there 'pyrexia'" in lines
    assert "other sense there: 'shimmer' is C9000004 here, C9000005 there" in lines
    assert "abbreviation of another concept there: 'GF' is C9000001 here, C8000000 there" in lines
    assert json.loads(lines[-1]) == {
        "cuis": 5,
        "cuis_known": 3,
        "confirmed": 2,
        "unconfirmed": 1,
        "names": 7,
        "names_known": 4,
        "agreeing": 2,
        "other_sense": 1,
        "contradicting_abbreviations": 1,
        "contradicting": 0,
    }


def test_a_name_of_another_concept_contradicts(verify):
    status, lines = verify(OPEN_KB + row("C8000001", "dimmax"))
    assert status == 1
    assert "contradiction: 'Dimmax' is C9000004 here, C8000001 there" in lines


def test_one_of_several_concepts_is_enough(verify):
    status, _ = verify(OPEN_KB + row("C8000001", "dimmax") + row("C9000004", "DIMMAX"))
    assert status == 0


def test_an_absent_knowledge_base_is_skipped(tmp_path):
    status, lines = run_script(tmp_path / "none", write_table(tmp_path / "sample", SAMPLE))
    assert status == 0
    assert "not present, skipped" in lines[0]


def test_an_absent_sample_is_an_error(tmp_path):
    status, lines = run_script(write_table(tmp_path / "open", OPEN_KB), tmp_path / "none")
    assert status == 1
    assert "no sample to compare" in lines[0]
