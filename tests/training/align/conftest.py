"""A hospital's own codes beside a knowledge base, and which of them mean the same."""

from pathlib import Path

import pytest

from tests.spacy_bergamot.conftest import write_lm

LEFT = """id\tname\tsynonyms\ttype
LOCAL:1\tHigh blood pressure\tarterial hypertension\tT047
LOCAL:2\tDiabetes, mellitus\t\tT047
LOCAL:3\tattacks that hearts have\tmyocardial infarct\tT047
LOCAL:4\tcold\t\tT047
LOCAL:5\theart\t\tT023
LOCAL:6\tentirely other words\t\tT047
"""
RIGHT = """id\tname\tsynonyms\ttype
KB:01\tHypertension\thigh blood pressure\tT047
KB:02\tdiabetes mellitus\tdiabetes\tT047
KB:03\tmyocardial infarction\theart attack\tT047
KB:04\tcommon cold\tcold\tT047
KB:05\tcold temperature\tcold\tT070
KB:06\theart\tcardiac organ\tT023
KB:07\taspirin\t\tT121
"""
SEEDS = """# mapping_set_id: seeds
subject_id\tpredicate_id\tobject_id
LOCAL:1\tskos:exactMatch\tKB:01
KB:02\tskos:exactMatch\tLOCAL:2
"""


@pytest.fixture(scope="session")
def lm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lm(tmp_path_factory.mktemp("lm") / "lm")


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    for name, text in (("left.tsv", LEFT), ("right.tsv", RIGHT)):
        (tmp_path / name).write_text(text, "utf8")
    return tmp_path / "left.tsv", tmp_path / "right.tsv"


def many(prefix: str, count: int, *, word: str = "disease") -> str:
    """Return a table of concepts, every third of which is called otherwise on each side."""
    rows = [
        f"{prefix}:{number}\t{word if number % 3 else prefix} {number} of place {number % 7}\tT047"
        for number in range(count)
    ]
    return "\n".join(["id\tname\ttype", *rows]) + "\n"
