"""A cross-encoder's folder is written whole, and refused where it does not fit."""

import json
import shutil
from pathlib import Path

import pytest

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.linking.cross_encoder.files import Trained
from spacy_bergamot.linking.cross_encoder.reading import Blend
from spacy_bergamot.storage.manifest import write_manifest


def test_what_is_saved_is_opened(trained: Path):
    opened = Trained.open(trained, device="cpu", precision="fp32")
    assert (opened.blend, opened.size, opened.context) == (Blend(0.5, 1.0, 0.1), 40, 30)
    assert opened.generator == "any generator"
    assert opened.weights.candidate["score"] == 4.0
    assert len(opened.fingerprint) == 64
    assert {path.name for path in trained.iterdir()} == {
        "bergamot.json", "config.json", "model.safetensors", "pair.safetensors", "tokenizer.json",
        "mix", "manifest.json",
    }  # fmt: skip


def test_another_precision_and_damaged_files_are_refused(trained: Path, tmp_path: Path):
    with pytest.raises(BergamotError, match="B014"):
        Trained.open(trained, device="cpu", precision="fp8")
    damaged = tmp_path / "damaged"
    shutil.copytree(trained, damaged)
    (damaged / "pair.safetensors").write_bytes(b"x")
    with pytest.raises(BergamotError, match="B006"):
        Trained.open(damaged, device="cpu", precision="fp32")


@pytest.mark.parametrize("blend", [{"other": 1.0}, {"mix": "much"}, {"mix": None}])
def test_a_blend_that_is_none_is_refused(trained: Path, blend: dict):
    facts = json.loads((trained / "manifest.json").read_text())
    kept = {key: facts[key] for key in ("index", "generator", "size", "context")}
    (trained / "manifest.json").unlink()
    write_manifest(trained, kind="cross-encoder", version=1, blend=blend, **kept)
    with pytest.raises(BergamotError, match="B149"):
        Trained.open(trained, device="cpu", precision="fp32")
