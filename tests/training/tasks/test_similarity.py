import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr
from typer.testing import CliRunner

from training.__main__ import app
from training.errors import BergamotError
from training.tasks.similarity import correlate, read_judgements

UMNSRS = (
    '"Mean","Stdev","Term1","Term2","CUI1","CUI2"\n'
    '1455.75,115,"a0","a10","C1","C2"\n800,1,"a0","a45","C1","C3"\n'
    '900.5,1,"a10","a45","C2","C3"\n,1,"a0","a1","C1","C4"\n100,1,"a0","a90","C1","C5"\n'
)
MAYO = "Mean,CUI1,CUI2,TERM1,TERM2\n4,C1,C2,a0,a10\n3,C1,C3,a0,a45\n1,C1,C5,a0,a90\n"


class Angles:
    """An encoder of names such as a45: unit vectors at that angle."""

    def encode(self, names: list[str]) -> np.ndarray:
        angles = np.radians([float(name[1:]) for name in names])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_rank_correlation_by_hand(tmp_path: Path):
    (tmp_path / "u.csv").write_text(UMNSRS, encoding="utf-8-sig")
    read = read_judgements(tmp_path / "u.csv")
    assert read.pairs[0] == ("a0", "a10")
    assert (len(read.pairs), read.skipped) == (4, 1)
    result = correlate(Angles(), read)
    # Cosines of 10°, 45°, 35°, 90° fall as the judgements do: in perfect order.
    assert result["spearman"] == pytest.approx(1)
    (tmp_path / "m.csv").write_text(MAYO.replace("4,", "0.5,", 1))
    read = read_judgements(tmp_path / "m.csv")
    expected = spearmanr(np.cos(np.radians([10, 45, 90])), [0.5, 3, 1]).statistic
    assert correlate(Angles(), read)["spearman"] == pytest.approx(expected) == pytest.approx(-0.5)


def test_the_command(tmp_path: Path, lm: Path):
    path = tmp_path / "mayo.csv"
    path.write_text("Mean,TERM1,TERM2\n4,gout,Gout\n1,gout,fever\n2,MI,insulin\n")
    output = tmp_path / "s.json"
    result = CliRunner().invoke(app, ["tasks", "similarity", str(path), str(lm), str(output)])
    assert result.exit_code == 0, result.output
    assert json.loads(output.read_text())["pairs"] == 3


@pytest.mark.parametrize(
    ("content", "code"),
    [(None, "B001"), (b"a,b\n1,2\n", "T128"), (b"Mean,Term1,Term2\n1,a,b\n", "T152"),
     (b"Mean,Term1,Term2\n1,\xe9,b\n", "B049"), (b"", "T128")],
)  # fmt: skip
def test_bad_files(tmp_path: Path, content: bytes | None, code: str):
    if content is not None:
        (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(BergamotError, match=code):
        read_judgements(tmp_path / "x.csv")
