"""Names come from Wikidata page by page, once."""

from pathlib import Path

import pytest
from confection import Config
from typer.testing import CliRunner

from tests.training.download import server as server_module
from tests.training.download.server import Server
from training.__main__ import app
from training.download.wikidata import fetch_names
from training.errors import BergamotError
from training.preprocess.training_set import TrainingSet

ROOT = Path(__file__).parents[3]


def wikidata(
    server: Server, folder: Path, languages: tuple[str, ...] = ("ru", "ko"), **options
) -> dict:
    options = {"page": 2, "batch": 2, "pause": 0.0, "server": server.url, **options}
    return fetch_names(folder, list(languages), **options)


def test_names_come_from_wikidata_page_by_page(server: Server, tmp_path: Path):
    server.failures = 2
    counts = wikidata(server, tmp_path)
    lines = (tmp_path / "MRCONSO.RRF").read_text("utf8").splitlines()
    fields = [line.split("|") for line in lines]
    assert {len(f) for f in fields} == {19}
    found = {(f[0], f[1], f[11], f[12], f[13], f[14]) for f in fields}
    assert found == {
        ("C0000001", "RUS", "WIKIDATA", "PT", "Q1", "гипертония"),
        ("C0000001", "RUS", "WIKIDATA", "SY", "Q1", "а б"),
        ("C0000002", "KOR", "WIKIDATA", "PT", "Q2", "열"),
    }
    assert counts["kept"] == 3
    assert counts["dropped: several CUIs or items"] == 2
    assert counts["dropped: no letters"] == 1
    assert counts["dropped: known already"] == 1


def test_a_second_run_asks_for_nothing_and_a_broken_page_is_asked_again(server, tmp_path):
    wikidata(server, tmp_path)
    before = (tmp_path / "MRCONSO.RRF").read_bytes()
    server.queries.clear()
    wikidata(server, tmp_path)
    assert not server.queries
    page = sorted((tmp_path / "names").iterdir())[0]
    page.write_text("{")
    wikidata(server, tmp_path)
    assert len(server.queries) == 1
    assert (tmp_path / "MRCONSO.RRF").read_bytes() == before


def test_only_new_names_of_the_tables_own_concepts(server, tmp_path):
    meta = tmp_path / "META"
    meta.mkdir()
    row = ["C0000001", "RUS", *[""] * 12, "ГИПЕРТОНИЯ", "", "N", "", ""]
    (meta / "MRCONSO.RRF").write_text("|".join(row) + "\n", encoding="utf8")
    counts = wikidata(server, tmp_path / "w", into=meta)
    assert counts["kept"] == 1
    assert counts["dropped: concept not in the table"] == 1


def test_pairs_are_made_of_the_names_alone(server, tmp_path, monkeypatch):
    """As configs/train/bioelx.cfg says: they are a release, of which `preprocess` makes pairs."""
    more = [("Q1", "PT", "hypertension", "en"), ("Q2", "PT", "fever", "en")]
    monkeypatch.setattr(server_module, "NAMES", [*server_module.NAMES, *more])
    wikidata(server, tmp_path / "wikidata", languages=("ru", "ko", "en"))
    command = ["preprocess", tmp_path / "wikidata", tmp_path / "corpus", "--held-out", "0"]
    result = CliRunner().invoke(app, [str(part) for part in command])
    assert result.exit_code == 0, result.output
    train = TrainingSet.open(tmp_path / "corpus/train")
    pairs = {
        frozenset(train.names[n].as_py() for n in pair) for pair in train.pairs[:, 1:].tolist()
    }
    assert pairs == {
        frozenset({"гипертония", "а б"}),
        frozenset({"гипертония", "hypertension"}),
        frozenset({"а б", "hypertension"}),
        frozenset({"열", "fever"}),
    }
    config = Config().from_disk(ROOT / "configs/train/bioelx.cfg")
    assert config["paths"]["training_set"] == "corpus/wikidata/train"


def test_an_unknown_language_is_refused(server, tmp_path):
    with pytest.raises(BergamotError, match="B014"):
        fetch_names(tmp_path, ["xx"], server=server.url)
