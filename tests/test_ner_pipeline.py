"""NER trained from a language model, the linker behind it: trained, scored, packaged, loaded."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.cli.evaluate import evaluate
from spacy.cli.package import package
from spacy.cli.train import train
from spacy.util import load_config

from tests.spacy_bergamot.conftest import CONCEPTS, write_concepts, write_lm
from training.corpora.registry import read_corpus
from training.corpora.spacy_files import write_docbin
from training.report import report

ROOT = Path(__file__).parents[1]
SENTENCES = [
    "She has {} since Monday .", "No sign of {} was seen .", "Known {} , treated at home .",
    "Today {} and {} were noted .",
]  # fmt: skip


def write_gold(path: Path) -> Path:
    """Write 120 sentences that mention concepts of the invented knowledge base in English."""
    draw = random.Random(0)
    names = [(name, concept) for concept, (_, by) in CONCEPTS.items() for name in by["ENG"]]
    lines = []
    for number in range(120):
        sentence = draw.choice(SENTENCES)
        text, entities = "", []
        for piece in sentence.split("{}")[:-1]:
            name, concept = draw.choice(names)
            start = len(text) + len(piece)
            text += piece + name
            entities.append({"start": start, "end": len(text), "concept_id": concept})
        text += sentence.split("{}")[-1]
        lines.append({"id": f"s{number}", "language": "en", "text": text, "entities": entities})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train for a few steps on the invented sentences."""
    root = tmp_path_factory.mktemp("ner")
    write_docbin(
        read_corpus(write_gold(root / "gold.jsonl")),
        root / "train.spacy",
        dev=root / "dev.spacy",
        share=0.3,
    )
    overrides: dict[str, Any] = {
        "paths.train": str(root / "train.spacy"),
        "paths.dev": str(root / "dev.spacy"),
        "paths.lm": str(write_lm(root / "lm")),
        "paths.concepts": str(write_concepts(root / "kb")),
        "training.max_steps": 120,
        "training.eval_frequency": 60,
        "training.optimizer.learn_rate.initial_rate": 0.005,
        "training.optimizer.learn_rate.warmup_steps": 5,
        "training.batcher.size": 300,
    }
    train(ROOT / "configs/ner_linker.cfg", root / "models", overrides=overrides)
    return root


@pytest.fixture(scope="module")
def packaged(folder: Path) -> Path:
    """Package the best pipeline; the folder is what its wheel would hold."""
    (folder / "packages").mkdir()
    package(
        folder / "models/model-best",
        folder / "packages",
        name="ner_test",
        version="0.0.1",
        create_sdist=False,
        create_wheel=False,
    )
    return folder / "packages/xx_ner_test-0.0.1/xx_ner_test"


def test_the_evaluation_reports_mentions_links_and_both(folder: Path):
    evaluate(str(folder / "models/model-best"), folder / "dev.spacy", output=folder / "ner.json")
    scores = json.loads((folder / "ner.json").read_text())
    assert scores["ents_f"] > 0.7
    assert scores["link_accuracy"] > 0.7
    assert 0 < scores["link_end_to_end_f"] <= scores["ents_f"]
    assert scores["link_end_to_end_r"] <= scores["ents_r"]
    (folder / "any.whl").touch()
    printed = report(folder / "ner.json", folder)
    assert f"{100 * scores['ents_f']:.1f}" in printed.splitlines()[1]
    assert f"{100 * scores['link_end_to_end_f']:.1f}" in printed.splitlines()[2]
    assert f"accuracy {100 * scores['link_accuracy']:.1f}" in printed
    best = json.loads((folder / "models/model-best/meta.json").read_text())["performance"]
    assert {"ents_f", "link_end_to_end_f", "link_accuracy", "link_mrr"} <= best.keys()


def test_a_mention_found_by_the_model_gets_its_concept(packaged: Path, folder: Path):
    (folder / "lm").rename(folder / "moved")
    nlp = spacy.load(packaged / "xx_ner_test-0.0.1")
    assert nlp.pipe_names == ["transformer", "ner", "bergamot_linker"]
    links = {e.text: e.kb_id_ for e in nlp("She has aspirin since Monday .").ents}
    assert links == {"aspirin": "C07"}
    assert nlp.get_pipe("bergamot_linker").kb.cui_to_entity["C07"].canonical_name == "aspirin"


def test_no_path_of_this_machine_is_packaged(folder: Path, packaged: Path):
    config = load_config(folder / "models/model-best/config.cfg")
    assert set(config["paths"].values()) == {None}
    for file in packaged.rglob("*"):
        assert file.is_dir() or str(folder).encode() not in file.read_bytes(), file
