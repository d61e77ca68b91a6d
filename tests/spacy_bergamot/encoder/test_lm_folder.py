"""Folders of others: opened without running what comes with them, converted once."""

import builtins
import json
import pickle
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from spacy_bergamot.encoder import lm_folder
from spacy_bergamot.encoder.lm_folder import LM_KIND, LM_VERSION, place_lm
from spacy_bergamot.encoder.settings import EncoderSettings
from spacy_bergamot.encoder.text_encoder import TextEncoder, fingerprint
from spacy_bergamot.errors import BergamotError
from spacy_bergamot.pipeline.loaders import language_model
from spacy_bergamot.storage.manifest import write_manifest
from tests.plain_models import NAMES, plain_vectors, write_bert, write_xlmr
from tests.spacy_bergamot.conftest import write_lm


@pytest.fixture(scope="module")
def xlmr(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_xlmr(tmp_path_factory.mktemp("models") / "xlmr")


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture
def copied(xlmr: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(xlmr, tmp_path / "copied"))


def test_a_bin_with_a_word_list_becomes_safetensors_and_a_fast_tokenizer(
    bert: Path, tmp_path: Path
):
    with pytest.raises(BergamotError, match=r"B010.*training base"):
        TextEncoder.open(bert)
    settings = place_lm(bert, tmp_path / "lm", pooling="cls")
    assert settings == EncoderSettings("cls", 25, True) == EncoderSettings.read(tmp_path / "lm")
    names = [name.lower() for name in NAMES]
    found = TextEncoder.open(tmp_path / "lm").encode(names)
    np.testing.assert_allclose(found, plain_vectors(bert, names, "cls"), atol=1e-5)
    place_lm(bert, tmp_path / "again", pooling="cls")
    assert fingerprint(tmp_path / "again") == fingerprint(tmp_path / "lm")


def test_what_is_in_todays_files_is_copied_without_what_nobody_needs(copied: Path, tmp_path: Path):
    (copied / "onnx").mkdir()
    for name in ("onnx/model.onnx", "tf_model.h5", "pytorch_model.bin", "modeling.py"):
        (copied / name).write_text("x")
    place_lm(copied, tmp_path / "lm", pooling="mean", max_length=12)
    names = {path.name for path in (tmp_path / "lm").rglob("*")}
    assert {"config.json", "model.safetensors", "tokenizer.json", "bergamot.json"} <= names
    assert not names & {"onnx", "model.onnx", "tf_model.h5", "pytorch_model.bin", "modeling.py"}
    assert EncoderSettings.read(tmp_path / "lm") == EncoderSettings("mean", 12, True)
    weights = [(folder / "model.safetensors").read_bytes() for folder in (copied, tmp_path / "lm")]
    assert weights[0] == weights[1]


@pytest.mark.parametrize("anew", [False, True])
def test_no_path_of_this_machine_is_written(xlmr: Path, bert: Path, tmp_path: Path, anew: bool):
    for source in (xlmr, bert):
        target = tmp_path / source.name
        place_lm(source, target, pooling="mean", anew=anew)
        for file in target.glob("*.json"):
            assert str(source.parent).encode() not in file.read_bytes()


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
@pytest.mark.parametrize("known", [True, False])
def test_code_that_comes_with_a_folder_is_never_run(
    copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, known: bool
):
    """Not where transformers knows the architecture either: its weights may mean something else."""
    marker = tmp_path / "was_run"
    code = f"open({str(marker)!r}, 'w')\nfrom transformers import *\nclass Own(BertModel): pass\n"
    (copied / "own.py").write_text(code)
    config = json.loads((copied / file).read_text())
    config["auto_map"] = {"AutoModel": "own.Own", "AutoTokenizer": ["own.Own", None]}
    if not known and file == "config.json":
        config["model_type"] = "own"
    (copied / file).write_text(json.dumps(config))
    EncoderSettings("cls").write(copied)
    monkeypatch.setattr(builtins, "input", lambda *_: pytest.fail("asked on standard input"))
    for attempt in (
        lambda: TextEncoder.open(copied),
        lambda: place_lm(copied, tmp_path / "lm"),
        lambda: place_lm(copied, tmp_path / "lm", anew=True),
    ):
        with pytest.raises(BergamotError, match=rf"B083.*{file}.*own\.Own"):
            attempt()
    assert not marker.exists()
    assert not (tmp_path / "lm").exists()


def test_a_bin_that_would_run_something_is_refused(bert: Path, tmp_path: Path):
    class Harmful:
        def __reduce__(self) -> tuple[Any, tuple[str, str]]:
            return open, (str(tmp_path / "was_run"), "w")

    folder = Path(shutil.copytree(bert, tmp_path / "bert"))
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"weight": Harmful()}))
    with pytest.raises(BergamotError, match="B002"):
        place_lm(folder, tmp_path / "lm", pooling="cls")
    assert not (tmp_path / "was_run").exists()


def test_weights_that_are_missing_are_not_made_up(copied: Path, tmp_path: Path):
    EncoderSettings("mean").write(copied)
    weights = load_file(copied / "model.safetensors")
    del weights["encoder.layer.1.attention.self.key.weight"]
    save_file(weights, copied / "model.safetensors", metadata={"format": "pt"})
    for attempt in (
        lambda: TextEncoder.open(copied),
        lambda: place_lm(copied, tmp_path, anew=True),
    ):
        with pytest.raises(BergamotError, match=r"B084.* 1 weights of a XLMRobertaModel.*key"):
            attempt()


@pytest.mark.parametrize("lacking", ["sentencepiece", "google.protobuf"])
def test_the_packages_that_a_sentencepiece_model_needs_are_named(
    copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacking: str
):
    (copied / "tokenizer.json").rename(copied / "sentencepiece.bpe.model")
    monkeypatch.setattr(lm_folder, "_is_installed", lambda module: module != lacking)
    package = lacking.rpartition(".")[2]
    with pytest.raises(BergamotError, match=f"B109.*pip install {package}$"):
        place_lm(copied, tmp_path / "lm", pooling="cls")


def test_a_sentencepiece_model_becomes_a_fast_tokenizer_of_the_same_ids(
    copied: Path, tmp_path: Path
):
    sentencepiece = pytest.importorskip("sentencepiece")
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(list(NAMES) * 20),
        model_prefix=str(tmp_path / "pieces"),
        vocab_size=80,
        hard_vocab_limit=False,
        character_coverage=1.0,
        minloglevel=2,
    )
    (copied / "tokenizer.json").unlink()
    (tmp_path / "pieces.model").rename(copied / "sentencepiece.bpe.model")
    path = str(copied / "sentencepiece.bpe.model")
    pieces = sentencepiece.SentencePieceProcessor(model_file=path)
    place_lm(copied, tmp_path / "lm", pooling="cls")
    encoder = TextEncoder.open(tmp_path / "lm")
    for name in [name.lower() for name in NAMES]:
        # XLM-R numbers pieces from one on, as <pad> is its second.
        ids = [piece + 1 if piece else 3 for piece in pieces.encode(name)]
        assert encoder.tokenize([name]) == [[0, *ids, 2]]


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_folder_that_lacks_a_file_is_refused(copied: Path, tmp_path: Path, missing: str):
    (copied / missing).unlink()
    with pytest.raises(BergamotError, match=r"B0(10|02)"):
        place_lm(copied, tmp_path / "lm", pooling="cls")
    with pytest.raises(BergamotError, match=r"B010.*config\.json, tokenizer\.json"):
        place_lm(tmp_path / "nowhere", tmp_path / "lm", pooling="cls")


def with_manifest(lm: Path, path: Path) -> Path:
    shutil.copytree(lm, path)
    write_manifest(path, kind=LM_KIND, version=LM_VERSION, fingerprint=fingerprint(path))
    return path


def without_a_line(path: Path) -> None:
    lines = path.read_text().splitlines()
    path.write_text("\n".join(line for line in lines if "num_attention_heads" not in line))


def zeroed(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:-4000] + bytes(4000))


@pytest.mark.parametrize(
    ("name", "change", "code"),
    [
        ("config.json", without_a_line, "B006"),
        ("model.safetensors", zeroed, "B006"),
        ("model.safetensors", lambda path: shutil.copyfile(path.parents[1] / "w", path), "B006"),
        ("bergamot.json", lambda path: path.unlink(), "B001"),
        ("model-2.safetensors", lambda path: path.write_bytes(b""), "B112"),
        ("manifest.json", lambda path: path.write_text("{}"), "B002"),
    ],
)
def test_a_model_that_is_not_as_its_manifest_says_is_refused(
    lm: Path, tmp_path: Path, name: str, change: Callable[[Path], object], code: str
):
    folder = with_manifest(lm, tmp_path / "lm")
    other = write_lm(tmp_path / "other", seed=1)
    shutil.copyfile(other / "model.safetensors", tmp_path / "w")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        language_model(str(folder))(tmp_path / "first")
    change(folder / name)
    for take in (language_model(str(folder)), lambda _: TextEncoder.open(folder)):
        with pytest.raises(BergamotError, match=code) as error:
            take(tmp_path / "target")
        assert name in str(error.value)
    assert not (tmp_path / "target").exists()


def test_a_model_without_a_manifest_is_taken_with_a_warning(lm: Path, tmp_path: Path):
    with pytest.warns(UserWarning, match=r"W110.*/lm "):
        language_model(str(lm))(tmp_path / "target")
