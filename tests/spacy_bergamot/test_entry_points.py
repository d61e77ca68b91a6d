"""What another distribution registers by its entry points is found without an import."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULE = """
from spacy_bergamot.index.engines import ExactEngine
from spacy_bergamot.linking.generators import ExactGenerator

class Mine(ExactEngine):
    name = "mine"

def make():
    return ExactGenerator("mine")
"""
POINTS = """
[spacy_bergamot_engines]
mine = my_linking:Mine

[spacy_misc]
mine.Generator.v1 = my_linking:make
"""
TRAINING = [
    "text_encoders", "graph_encoders", "losses", "adapters", "loggers", "validations", "objectives",
    "optimizers", "batches", "trainers",
]  # fmt: skip
LINK = """
import spacy, sys
nlp = spacy.load(sys.argv[1])
linker = nlp.get_pipe("bergamot_linker")
assert linker.parts.index.engine.name == "mine"
assert linker.explain("hypertension")["candidates"][0]["generator"] == "mine"
"""
BUILD = """
import sys
from spacy_bergamot.pipeline.build import build_pipeline
import spacy
nlp = build_pipeline(lm=sys.argv[2], concepts=sys.argv[3], pooling="mean", engine="mine")
nlp.to_disk(sys.argv[1])
config = spacy.util.load_config(sys.argv[1] + "/config.cfg")
config["components"]["bergamot_linker"]["generator"] = {"@misc": "mine.Generator.v1"}
config.to_disk(sys.argv[1] + "/config.cfg")
"""
RESOLVE = """
from training.registry import registry
for name in NAMES:
    assert getattr(registry, name).get("mine.v1") is not None, name
    assert "mine.v1" in getattr(registry, name).get_all(), name
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder with a distribution, as pip leaves it."""
    about = tmp_path / "my_linking-1.0.dist-info"
    about.mkdir()
    (tmp_path / "my_linking.py").write_text(MODULE)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my_linking\nVersion: 1.0\n")
    further = "".join(f"\n[spacy_bergamot_{n}]\nmine.v1 = my_linking:make\n" for n in TRAINING)
    (about / "entry_points.txt").write_text(POINTS + further)
    return tmp_path


def run(code: str, installed: Path, *arguments: object) -> None:
    path = os.pathsep.join([str(installed), str(ROOT)])
    subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        check=True, timeout=600, cwd=installed, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip


def test_a_packaged_pipeline_finds_engine_and_generator(
    installed: Path, lm: Path, concepts: Path, tmp_path: Path
):
    run(BUILD, installed, tmp_path / "pipeline", lm, concepts)
    run(LINK, installed, tmp_path / "pipeline")


def test_a_training_config_finds_its_functions(installed: Path):
    run(f"NAMES = {TRAINING}\n{RESOLVE}", installed)
