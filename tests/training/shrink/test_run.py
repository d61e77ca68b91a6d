"""A smaller language model: what is on disk, what computes, who opens it, what is refused."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from confection import Config
from safetensors import safe_open
from tokenizers import Tokenizer, models
from transformers import AutoModel, AutoTokenizer
from typer.testing import CliRunner

from spacy_bergamot.encoder.text_encoder import TextEncoder, fingerprint
from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.pipeline.loaders import alias_index, language_model
from spacy_bergamot.storage.manifest import read_manifest
from tests.training.shrink.conftest import NAMES, SIZES, save, write_unigram
from training.__main__ import app
from training.bergamot.run import train
from training.shrink.run import shrink
from training.shrink.vocabulary import Vocabulary
from training.tasks.finetune import FinetuneSettings, finetune
from training.tasks.records import Record

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


@pytest.fixture(params=["fp16", "fp8"])
def small(request: pytest.FixtureRequest, lm: Path, concepts: Path, tmp_path: Path) -> Path:
    vocabulary = Vocabulary("cut", names=concepts)
    shrink(lm, tmp_path / "small", dtype=request.param, vocabulary=vocabulary)
    return tmp_path / "small"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("precision", DTYPES)
def test_computes_in_what_is_asked_for_whatever_is_on_disk(
    unigram: Path, tmp_path: Path, dtype: str, precision: str
):
    shrink(unigram, tmp_path / "s", dtype=dtype)
    with safe_open(tmp_path / "s/model.safetensors", "pt") as file:
        assert {file.get_tensor(key).dtype for key in file.keys()} == {DTYPES[dtype]}  # noqa: SIM118
    encoder = TextEncoder.open(tmp_path / "s", precision=precision)
    assert {weights.dtype for weights in encoder.model.parameters()} == {DTYPES[precision]}
    rounded = TextEncoder.open(unigram)
    rounded.model.to(DTYPES[dtype]).to(DTYPES[precision])
    np.testing.assert_allclose(encoder.encode(NAMES), rounded.encode(NAMES), atol=1e-6)


@pytest.mark.parametrize("precision", DTYPES)
def test_matrices_in_8_bits(unigram: Path, tmp_path: Path, precision: str):
    shrink(unigram, tmp_path / "s", dtype="fp8")
    with safe_open(tmp_path / "s/model.safetensors", "pt") as file:
        tensors = [file.get_tensor(key) for key in file.keys()]  # noqa: SIM118
    kinds = {(tensor.dim() > 1, tensor.dtype) for tensor in tensors}
    assert kinds == {(True, torch.float8_e4m3fn), (False, torch.float16)}
    encoder = TextEncoder.open(tmp_path / "s", precision=precision)
    assert {weights.dtype for weights in encoder.model.parameters()} == {DTYPES[precision]}
    vectors = TextEncoder.open(unigram, precision=precision).encode(NAMES)
    assert 0.97 < (encoder.encode(NAMES) * vectors).sum(1).mean() < 0.9999


def test_keeping_all_pieces_changes_no_token(lm: Path, tmp_path: Path):
    facts = shrink(lm, tmp_path / "s")
    before, after = TextEncoder.open(lm), TextEncoder.open(tmp_path / "s")
    assert before.tokenizer.get_vocab() == after.tokenizer.get_vocab()
    assert before.tokenize(NAMES) == after.tokenize(NAMES)
    assert facts["pieces"] == facts["pieces_before"]
    assert (after.encode(NAMES) * before.encode(NAMES)).sum(1).min() > 0.999
    # Written without indentation.
    files = [folder / "tokenizer.json" for folder in (lm, tmp_path / "s")]
    assert files[1].stat().st_size < 0.7 * files[0].stat().st_size


def test_transformers_opens_it_too(lm: Path, small: Path):
    tokenizer, model = AutoTokenizer.from_pretrained(small), AutoModel.from_pretrained(small)
    first = AutoTokenizer.from_pretrained(lm)
    assert model.config.vocab_size == len(tokenizer) == model.get_input_embeddings().num_embeddings
    config = AutoModel.from_pretrained(lm).config
    for key in ("pad_token_id", "bos_token_id", "eos_token_id"):
        old, new = getattr(config, key), getattr(model.config, key)
        assert (old is None) == (new is None)
        if old is not None:
            assert tokenizer.convert_ids_to_tokens(new) == first.convert_ids_to_tokens(old)
    assert tokenizer.added_tokens_encoder.keys() == first.added_tokens_encoder.keys()
    assert tokenizer.mask_token_id == tokenizer.get_vocab()[first.mask_token] != first.mask_token_id
    texts = ["hypertension", "сахарный диабет"]
    for text, pair in ((texts[0], None), (texts[0], texts[1])):
        tokens = [t.convert_ids_to_tokens(t(text, pair)["input_ids"]) for t in (first, tokenizer)]
        assert tokens[0] == tokens[1]


def test_manifest_and_settings_go_with_it(lm: Path, small: Path):
    manifest = read_manifest(small, kind="language-model", version=1)
    assert manifest["fingerprint"] == fingerprint(small) != fingerprint(lm)
    facts = manifest["shrunk"]
    assert facts["vocabulary"] == "cut"
    assert facts["dtype"] in ("fp16", "fp8")
    assert json.loads((small / "config.json").read_text())["torch_dtype"] == "float16"
    assert facts["bytes"] < 0.7 * facts["bytes_before"]
    assert facts["pieces"] < facts["pieces_before"]
    assert (small / "bergamot.json").read_text() == (lm / "bergamot.json").read_text()


def test_the_linker_indexes_with_it(small: Path, concepts: Path, tmp_path: Path):
    language_model(str(small))(tmp_path / "encoder")
    alias_index(str(concepts), engine="exact")(tmp_path / "index", tmp_path / "encoder")
    vector = TextEncoder.open(tmp_path / "encoder").encode(["insulin"])
    index = AliasIndex.open(tmp_path / "index")
    rows, scores = index.search(vector, 1)
    assert index.vector_rows(pa.array(["insulin"])) == rows[0]
    assert scores[0, 0] == pytest.approx(1, abs=1e-5)


def test_training_starts_from_it_in_float32(small: Path, config: Config):
    config["text_encoder"] = {"@text_encoders": "huggingface.v1", "name": str(small)}
    config["training"]["max_steps"] = 2
    lm = train(config)
    with safe_open(lm / "model.safetensors", "pt") as file:
        assert {file.get_tensor(key).dtype for key in file.keys()} == {torch.float32}  # noqa: SIM118
    assert TextEncoder.open(lm).tokenize(NAMES) == TextEncoder.open(small).tokenize(NAMES)


def test_other_tasks_are_learnt_from_it(small: Path):
    records = [Record("is it", name, label) for name, label in (("fever", "a"), ("heart", "b"))]
    settings = FinetuneSettings(epochs=1, batch=8)
    assert 0 <= finetune(small, records, records, settings=settings)["accuracy"] <= 100


def test_a_model_can_be_shrunk_again_and_onto_itself(lm: Path, concepts: Path, tmp_path: Path):
    vocabulary = Vocabulary("cut", names=concepts)
    shrink(lm, tmp_path / "a", dtype="fp32", vocabulary=vocabulary)
    before = TextEncoder.open(tmp_path / "a").encode(NAMES)
    facts = shrink(tmp_path / "a", tmp_path / "a", dtype="fp32", vocabulary=vocabulary)
    assert facts["pieces"] == facts["pieces_before"]
    np.testing.assert_allclose(TextEncoder.open(tmp_path / "a").encode(NAMES), before, atol=1e-6)


def test_the_command_says_what_became_smaller(unigram: Path, concepts: Path, tmp_path: Path):
    call: Callable[..., str] = lambda *arguments: (  # noqa: E731
        CliRunner().invoke(app, ["shrink", *map(str, arguments)], catch_exceptions=False).output
    )
    before = TextEncoder.open(unigram).tokenizer.get_vocab_size()
    assert f"{before} to {before} pieces" in call(unigram, tmp_path / "a")
    text = tmp_path / "t.txt"
    text.write_text("herzklopfen", "utf8")
    options = ["--text", text, "--text", text, "--script", "thai", "--dtype", "bf16"]
    said = call(unigram, tmp_path / "b", "--names", concepts, *options)
    assert f"{before} to " in said
    assert f"{before} pieces" not in said
    assert {"▁ปวดหัว", "▁herzklopfen"} < TextEncoder.open(
        tmp_path / "b"
    ).tokenizer.get_vocab().keys()


def test_a_project_asks_for_a_cut_or_none_by_one_word(
    unigram: Path, concepts: Path, tmp_path: Path
):
    """`project.yml` always names the concept table; without a cut all of its names stay."""
    pieces = {}
    for kind, script, size in (
        ("keep", "", 0), ("cut", "", 0), ("cut", "thai,cyrillic", 0), ("cut", "thai", 120)
    ):  # fmt: skip
        arguments = ["--names", concepts, "--vocabulary", kind, "--script", script, "--size", size]
        output = tmp_path / f"{kind}{script}{size}"
        command = ["shrink", unigram, output, *arguments]
        CliRunner().invoke(app, list(map(str, command)), catch_exceptions=False)
        pieces[kind, script, size] = TextEncoder.open(output).tokenizer.get_vocab_size()
    everything, cut, scripts, sized = pieces.values()
    assert cut < scripts < everything
    assert sized == 120


def write_bpe(path: Path) -> Path:
    from transformers import BertConfig, BertModel

    tokenizer = Tokenizer(models.BPE({"[PAD]": 0, "a": 1, "b": 2, "ab": 3}, [("a", "b")]))
    return save(path, BertModel, BertConfig(vocab_size=4, **SIZES), tokenizer, pad_token="[PAD]")


def test_byte_pairs_cannot_be_cut_but_kept(concepts: Path, tmp_path: Path):
    lm = write_bpe(tmp_path / "lm")
    with pytest.raises(BergamotError, match=r"T232.*lm.*BPE"):
        shrink(lm, tmp_path / "small", vocabulary=Vocabulary("cut", names=concepts))
    assert not list(tmp_path.glob("*small*"))
    assert shrink(lm, tmp_path / "small")["pieces"] == 4


def test_a_tokenizer_of_another_model_is_refused(concepts: Path, tmp_path: Path):
    lm = write_unigram(tmp_path / "lm", spare_rows=-1)
    for vocabulary in (Vocabulary(), Vocabulary("cut", names=concepts)):
        with pytest.raises(BergamotError, match=r"T233.*tokenizer.json.*largest id is \d+.* \d+ "):
            shrink(lm, tmp_path / "small", vocabulary=vocabulary)
    assert not list(tmp_path.glob("*small*"))


def test_weights_beyond_half_precision_are_named(unigram: Path, tmp_path: Path):
    model = AutoModel.from_pretrained(unigram)
    model.encoder.layer[1].output.dense.weight.data[0, 0] = 1e5
    model.save_pretrained(unigram)
    with pytest.raises(BergamotError, match=r"T236.*layer.1.output.dense.weight.*1e\+05.*fp16"):
        shrink(unigram, tmp_path / "small")
    assert not list(tmp_path.glob("*small*"))
    shrink(unigram, tmp_path / "small", dtype="bf16")
    model.encoder.layer[1].output.dense.weight.data[0, 0] = 1
    model.embeddings.word_embeddings.weight.data[0, 0] = 500
    model.save_pretrained(unigram)
    with pytest.raises(BergamotError, match=r"T236.*word_embeddings.*500.*fp8.*448"):
        shrink(unigram, tmp_path / "small", dtype="fp8")
    shrink(unigram, tmp_path / "small")


def test_a_post_processor_that_names_ids_in_its_own_way_is_refused(
    unigram: Path, concepts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from training.shrink import tokenizer_file

    monkeypatch.setattr(tokenizer_file, "open_tokenizer", lambda folder, length: None)
    data = json.loads((unigram / "tokenizer.json").read_text("utf8"))
    data["post_processor"]["type"] = "NewProcessing"
    (unigram / "tokenizer.json").write_text(json.dumps(data), "utf8")
    with pytest.raises(BergamotError, match=r"T232.*NewProcessing"):
        shrink(unigram, tmp_path / "small", vocabulary=Vocabulary("cut", names=concepts))


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_folder_that_is_not_whole_is_refused(unigram: Path, tmp_path: Path, name: str):
    (unigram / name).unlink()
    with pytest.raises(BergamotError, match=f"B010.*{name}"):
        shrink(unigram, tmp_path / "small")
    with pytest.raises(BergamotError, match="B014"):
        shrink(unigram, tmp_path / "small", dtype="int8")


def test_a_folder_of_somebody_else_is_left_alone(unigram: Path, tmp_path: Path):
    (tmp_path / "small").mkdir()
    (tmp_path / "small/mine.txt").write_text("x")
    with pytest.raises(BergamotError, match="B101"):
        shrink(unigram, tmp_path / "small")
    assert [file.name for file in (tmp_path / "small").iterdir()] == ["mine.txt"]
