"""What the stage `card` refuses, and that it writes nothing then."""

from pathlib import Path

import pytest
import spacy

from spacy_bergamot.errors import BergamotError
from tests.spacy_bergamot.conftest import CONCEPTS, write_concepts, write_lm
from tests.training.card.conftest import run


def refused(code: str, pipeline: Path, *arguments: object) -> None:
    """Check that the stage raises an error that names the code, and writes nothing."""
    before = {p: p.read_bytes() for p in pipeline.rglob("*") if p.is_file()}
    with pytest.raises(BergamotError, match=code):
        run("card", pipeline, "--no-speed", *arguments)
    assert {p: p.read_bytes() for p in pipeline.rglob("*") if p.is_file()} == before


def test_what_is_no_pipeline_is_refused(pipeline: Path, tmp_path: Path):
    refused("T501.*the folder is missing", tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    refused("T501.*config.cfg, meta.json is missing", tmp_path / "empty")
    spacy.blank("xx").to_disk(tmp_path / "blank")
    refused("B047", tmp_path / "blank")
    refused("T504.*not a name", pipeline, "--name", "not a name")
    refused("T504.*newest", pipeline, "--version", "newest")
    (pipeline / "README.md").write_text("mine", "utf8")
    refused("B101.*README.md", pipeline)
    (pipeline / "README.md").unlink()
    (pipeline / "meta.json").write_text("[]", "utf8")
    refused("T501.*readable meta.json", pipeline)
    (pipeline / "meta.json").write_text('{"lang": "xx"}', "utf8")
    refused("B046.*name", pipeline)


def test_a_damaged_pipeline_is_refused(pipeline: Path):
    (pipeline / "bergamot_linker/index/strings.arrow").write_bytes(b"")
    refused("B006.*strings.arrow", pipeline)


def test_parts_of_another_pipeline_are_refused(pipeline: Path, tmp_path: Path):
    refused("T502.*language model", pipeline, "--lm", write_lm(tmp_path / "lm", seed=1))
    type_, by_language = CONCEPTS["C01"]
    other = {**CONCEPTS, "C01": (type_, {**by_language, "FRE": ["hypertension artérielle"]})}
    refused("T502.*concept table", pipeline, "--kb", write_concepts(tmp_path / "kb", other))


@pytest.mark.parametrize(
    "text", ["{", "[1]", "{}", '{"ents_f": 0.5}', '{"systems": {}, "lms": []}']
)
def test_what_has_no_figures_is_refused(pipeline: Path, tmp_path: Path, text: str):
    (tmp_path / "figures.json").write_text(text, "utf8")
    refused("B002.*figures.json", pipeline, "--figures", tmp_path / "figures.json")
