"""Two releases of one small knowledge base, and a pipeline of the first."""

from collections.abc import Callable
from pathlib import Path

import pytest
from spacy.language import Language

from spacy_bergamot.kb_import.build import table_of
from spacy_bergamot.pipeline.build import build_pipeline
from spacy_bergamot.pipeline.pipeline_files import list_files
from tests.spacy_bergamot.conftest import CONCEPTS, write_lm
from tests.training.preprocess.conftest import line, name, write_release

BEFORE = {
    cui: [(text, lat) for lat, names in by.items() for text in names]
    for cui, (_, by) in CONCEPTS.items()
}
MORE = {f"X{number:02}": [(f"heart attack {number}", "ENG")] for number in range(20)}
BEFORE |= MORE
NOW = {
    **{cui: names for cui, names in BEFORE.items() if cui not in ("C04", "C05", "C08")},
    "C01": [("Arterial hypertension", "ENG"), *BEFORE["C01"]],
    "C02": [*BEFORE["C02"], ("sugar diabetes", "ENG")],
    "C06": [("cold", "ENG"), *BEFORE["C06"]],
    "C11": [("cold fever", "ENG")],
}
MRCUI = ["C04|2025AB|SY|||C99|Y|", "C99|2025AB|SY|||C06|Y|", "C05|2025AB|RB|||C10|Y|"]


def write_meta(folder: Path, concepts: dict, mrcui: list[str] | None = None) -> Path:
    """Write names by CUI as a release; the first is preferred."""
    types = {cui: kind for cui, (kind, _) in CONCEPTS.items()}
    rank = {True: {"TS": "P", "STT": "PF", "ISPREF": "Y", "TTY": "PT"}, False: {}}
    tables = {
        "MRCONSO": [
            name(cui, text, lat, **rank[number == 0])
            for cui, names in concepts.items()
            for number, (text, lat) in enumerate(names)
        ],
        "MRSTY": [line("MRSTY", CUI=cui, TUI=types.get(cui, "T047")) for cui in concepts],
    }
    return write_release(folder, **tables, **({"MRCUI": mrcui} if mrcui else {}))


@pytest.fixture(scope="session")
def lm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lm(tmp_path_factory.mktemp("lm") / "lm")


@pytest.fixture(scope="session")
def releases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("releases")
    return write_meta(folder / "AA", BEFORE), write_meta(folder / "AB", NOW, MRCUI)


@pytest.fixture(scope="session")
def built(lm: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Language]:
    """Build a pipeline of a release from nothing."""

    def build(meta: Path, engine: str = "exact", languages: str = "") -> Language:
        table = tmp_path_factory.mktemp("kb") / "kb"
        table_of([meta], table, languages=languages)
        return build_pipeline(lm=lm, concepts=table, engine=engine)

    return build


@pytest.fixture(scope="session")
def old(releases: tuple[Path, Path], built: Callable[..., Language], tmp_path_factory) -> Path:
    """Return the folder of a pipeline of the first release."""
    folder = tmp_path_factory.mktemp("old") / "pipeline"
    built(releases[0]).to_disk(folder)
    list_files(folder)
    return folder
