import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr
from typer.testing import CliRunner

from tests.training.preprocess.conftest import (
    line,
    name,
    preprocessed,
    relation,
    write_release,
)
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


def test_a_model_that_tells_nothing_apart_has_no_order(tmp_path: Path):
    (tmp_path / "u.csv").write_text("Mean,Term1,Term2\n4,a0,a0\n3,a0,a0\n1,a0,a0\n")
    result = correlate(Angles(), read_judgements(tmp_path / "u.csv"))
    assert (result["spearman"], result["p"], result["pairs"]) == (None, None, 3)


def test_graded_pairs_of_held_out_names(tmp_path: Path):
    """Names tell the depth of their concepts, whose hierarchy is a chain; MRHIER has a path each.

    By turning 10 degrees a level, cosines fall with the distance; scores also know the path's
    length.
    """
    words, depths = "abcdefgh", range(9)
    rows = [name(f"C{c}", f"{w}{10 * c}", AUI=f"{w}{c}") for c in depths for w in words]
    above = {(w, c): ".".join(f"{w}{i}" for i in range(c)) for c in depths for w in words}
    hier = [line("MRHIER", CUI=f"C{c}", AUI=f"{w}{c}", PTR=p) for (w, c), p in above.items()]
    meta = write_release(tmp_path / "META", MRCONSO=rows, MRHIER=hier)
    preprocessed(meta, tmp_path, held_out=0.4, hierarchy="mrhier")
    read = read_judgements(tmp_path / "eval/graded.csv")
    ends = [[int(text[1:]) // 10 for text in pair] for pair in read.pairs]
    assert all(one[0] == other[0] for one, other in read.pairs)  # the atoms of one path
    expected = [min(0.9, 1 - math.log(d - e) / math.log(d + 1)) for d, e in ends]
    assert read.means == pytest.approx(expected, abs=1e-6)
    result = correlate(Angles(), read)
    distances = [d - e for d, e in ends]
    rho = -spearmanr(distances, expected).statistic
    # Cosines of 32 bits put equal distances in some order.
    assert result["spearman"] == pytest.approx(rho, abs=0.05)
    assert rho > 0.95
    assert (result["pairs"], result["skipped"]) == (len(ends), 0)


def test_the_command_on_held_out_names(tmp_path: Path, lm: Path):
    rows = [name(f"C{c}", f"{w} {c}") for c in range(8) for w in ("fever", "gout", "aspirin", "mi")]
    tree = [relation(f"C{c}", f"C{c - 1}", "PAR") for c in range(1, 8)]
    meta = write_release(tmp_path / "META", MRCONSO=rows, MRREL=tree)
    preprocessed(meta, tmp_path, held_out=0.4, hierarchy="relations")
    paths = map(str, (tmp_path / "eval/graded.csv", lm, tmp_path / "s.json"))
    result = CliRunner().invoke(app, ["tasks", "similarity", *paths])
    assert result.exit_code == 0, result.output
    report = json.loads((tmp_path / "s.json").read_text())
    assert report["pairs"] == len((tmp_path / "eval/graded.csv").read_text().splitlines()) - 1
    assert -1 < report["spearman"] < 1


@pytest.mark.parametrize(
    ("content", "code"),
    [(None, "B001"), (b"a,b\n1,2\n", "T128"), (b"Mean,Term1,Term2\n1,a,b\n", "T152"),
     (b"Mean,Term1,Term2\n1,\xe9,b\n", "B049"), (b"", "T128"),
     (b"Mean,Term1,Term2\n2,a,b\n2.0,a,c\n2,b,c\n", "T161")],
)  # fmt: skip
def test_bad_files(tmp_path: Path, content: bytes | None, code: str):
    if content is not None:
        (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(BergamotError, match=code):
        read_judgements(tmp_path / "x.csv")
