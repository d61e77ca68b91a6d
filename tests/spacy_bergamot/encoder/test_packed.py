"""Vectors are those of the Hugging Face module on each name alone, however a batch is computed."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.nn.functional import normalize
from transformers import BertModel, DistilBertModel, RobertaModel, XLMRobertaModel

from spacy_bergamot.encoder.ordered import keep_ordered
from spacy_bergamot.encoder.settings import POOLINGS, EncoderSettings
from spacy_bergamot.encoder.text_encoder import TextEncoder

PAD = 1
WORDS = ["[unk]", "[pad]", *(f"w{number}" for number in range(40))]
SIZES: dict[str, Any] = {
    "vocab_size": len(WORDS), "hidden_size": 32, "num_hidden_layers": 3, "pad_token_id": PAD,
    "num_attention_heads": 4, "intermediate_size": 48, "max_position_embeddings": 40,
    "initializer_range": 0.5,
}  # fmt: skip


def make_model(family: Any, **settings: Any) -> Any:
    torch.manual_seed(0)
    model = family(family.config_class(**SIZES | settings))
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(parameter)
    return model.eval()


def make_adapted() -> Any:
    from peft import LoraConfig, inject_adapter_in_model

    adapter = LoraConfig(target_modules=["query", "dense"], init_lora_weights=False)
    return inject_adapter_in_model(adapter, make_model(BertModel)).eval()


def make_encoder(model: Any, pooling: str = "mean", **settings: Any) -> TextEncoder:
    words = models.WordLevel({word: row for row, word in enumerate(WORDS)}, unk_token="[unk]")
    tokenizer = Tokenizer(words)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.enable_truncation(25)
    return TextEncoder(model, tokenizer, EncoderSettings(pooling=pooling), **settings)


def some_names() -> list[str]:
    """Return names of 1 to 27 tokens, three of each length, shuffled; one holds a padding token."""
    rng = np.random.default_rng(0)
    names = [" ".join(rng.choice(WORDS[2:], 1 + n % 27)) for n in range(81)]
    return [*rng.permutation(names).tolist(), "w1 [pad] w2 w3"]


def alone(encoder: TextEncoder, names: list[str]) -> np.ndarray:
    """Encode every name by the module's own forward pass, without padding."""
    vectors = []
    for ids in encoder.tokenize(names):
        with torch.no_grad():
            hidden = encoder.model(input_ids=torch.tensor([ids])).last_hidden_state[0].float()
        vectors.append(hidden[0] if encoder.settings.pooling == "cls" else hidden.mean(0))
    return normalize(torch.stack(vectors), dim=-1).numpy()


def calls(module: Any) -> list[torch.Size]:
    """Return a list that gets the shape of the module's output at every call, or None."""
    seen: list[Any] = []
    module.register_forward_hook(lambda _, __, out: seen.append(getattr(out, "shape", None)))
    return seen


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("activation", ["gelu", "gelu_new", "relu"])
@pytest.mark.parametrize("family", [BertModel, RobertaModel, XLMRobertaModel])
def test_packed_names_have_the_vectors_of_each_alone(family: Any, activation: str, pooling: str):
    encoder = make_encoder(make_model(family, hidden_act=activation), pooling)
    names = some_names()
    expected = alone(encoder, names)
    padded = calls(encoder.model)
    for batch_tokens in (1, 100, 4096):
        found = encoder.encode(names, batch_tokens=batch_tokens)
        np.testing.assert_allclose(found, expected, atol=1e-5)
    assert not padded


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize(
    "make",
    [
        make_adapted,
        lambda: make_model(BertModel, is_decoder=True),
        lambda: make_model(BertModel, position_embedding_type="relative_key"),
        lambda: make_model(DistilBertModel),
    ],
    ids=["adapted", "decoder", "relative positions", "another family"],
)
def test_other_models_run_their_own_forward_pass(make: Any, pooling: str):
    encoder = make_encoder(make(), pooling)
    names = some_names()[:-1]
    expected = alone(encoder, names)
    padded = calls(encoder.model)
    np.testing.assert_allclose(encoder.encode(names), expected, atol=1e-5)
    assert padded


def test_no_layer_sees_padding_and_the_last_one_only_first_tokens_for_cls():
    names = some_names()
    for pooling, rows in (("cls", len(names)), ("mean", None)):
        encoder = make_encoder(make_model(BertModel), pooling)
        layers = [calls(layer.output.LayerNorm) for layer in encoder.model.encoder.layer]
        encoder.encode(names)
        total = even(sum(map(len, encoder.tokenize(names))))
        last = even(rows) if rows else total
        assert [sum(shape[0] for shape in seen) for seen in layers] == [total, total, last]


def even(count: int) -> int:
    """Round up to the next of eight sizes between powers of two, 8 apart at least."""
    step = 8
    while step * 16 < count:
        step *= 2
    return -(-count // step) * step


@pytest.mark.parametrize("pooling", POOLINGS)
def test_layers_see_matrices_of_few_sizes(pooling: str):
    """oneDNN keeps what it prepared for every size, and never lets go of most of it."""
    encoder = make_encoder(make_model(BertModel), pooling)
    seen = calls(encoder.model.encoder.layer[0].output.LayerNorm)
    for count in range(1, 300):
        encoder.encode(["w1 w2 w3"] * count)
    assert len({shape[0] for shape in seen}) < 40
    assert all(even(3 * count) == shape[0] for count, shape in enumerate(seen, 1))


def test_a_name_without_tokens_leaves_the_others_alone():
    encoder = make_encoder(make_model(BertModel))
    found = encoder.encode(["w1 w2", "", "w3"])
    np.testing.assert_allclose(found[[0, 2]], alone(encoder, ["w1 w2", "w3"]), atol=1e-5)
    assert not found[1].any()
    assert encoder.encode([]).shape == (0, 32)


def test_weights_that_change_are_followed():
    """Validation during training encodes with the module that is trained."""
    encoder = make_encoder(make_model(BertModel))
    before = encoder.encode(["w1 w2"])
    with torch.no_grad():
        encoder.model.encoder.layer[1].attention.self.key.weight.mul_(-1)
    assert np.abs(encoder.encode(["w1 w2"]) - before).max() > 1e-3
    np.testing.assert_allclose(encoder.encode(["w1 w2"]), alone(encoder, ["w1 w2"]), atol=1e-5)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_half_precision_stays_near(pooling: str):
    names = some_names()
    settings = {"initializer_range": 0.1}
    expected = make_encoder(make_model(BertModel, **settings), pooling).encode(names)
    for precision, dtype in (("bf16", torch.bfloat16), ("fp16", torch.float16)):
        model = make_model(BertModel, **settings).to(dtype)
        found = make_encoder(model, pooling, precision=precision).encode(names)
        assert found.dtype == np.float32
        assert (found * expected).sum(1).min() > 0.999


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_gpu_gives_the_same_vectors(pooling: str):
    names = some_names()
    expected = make_encoder(make_model(BertModel), pooling).encode(names)
    encoder = make_encoder(make_model(BertModel).to("cuda"), pooling, device="cuda")
    np.testing.assert_allclose(encoder.encode(names), expected, atol=1e-3)


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("activation", ["gelu", "relu"])
@pytest.mark.parametrize("family", [BertModel, XLMRobertaModel])
def test_layers_in_order_give_the_same_vectors(family: Any, activation: str, pooling: str):
    model = make_model(family, hidden_act=activation)
    keep_ordered(model)
    encoder = make_encoder(model, pooling)
    names = some_names()
    expected = alone(encoder, names)
    own = calls(model.encoder.layer[0].output.LayerNorm)
    for batch_tokens in (1, 100, 4096):
        found = encoder.encode(names, batch_tokens=batch_tokens)
        np.testing.assert_allclose(found, expected, atol=1e-5)
    if not torch.backends.mkldnn.is_available():
        pytest.skip("no oneDNN")
    assert not own


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_weights_in_order_change_nothing(lm: Path, precision: str):
    encoder = TextEncoder.open(lm, precision=precision)
    plain = TextEncoder(
        deepcopy(encoder.model), encoder.tokenizer, encoder.settings, precision=precision
    )
    vars(plain.model).pop("ordered_layers", None)
    names = ["fever", "cold", "heart attack of the aorta", "insulin " * 9]
    expected = encoder.encode(names)
    np.testing.assert_allclose(plain.encode(names), expected, atol=1e-6)
    assert "ordered" not in " ".join(encoder.model.state_dict())


@pytest.mark.parametrize("how", ["load", "assign", "bias", "norm"])
def test_weights_in_order_are_left_when_the_modules_own_change(lm: Path, how: str):
    encoder, again = TextEncoder.open(lm), TextEncoder.open(lm)
    names = ["fever", "cold", "heart attack of the aorta"]
    before = encoder.encode(names)
    layer = again.model.encoder.layer[-1]
    changed = {"bias": layer.attention.self.value.bias, "norm": layer.output.LayerNorm.weight}
    with torch.no_grad():
        for weights in [changed[how]] if how in changed else again.model.parameters():
            weights.copy_(torch.randn_like(weights))
    encoder.model.load_state_dict(again.model.state_dict(), assign=how == "assign")
    np.testing.assert_allclose(again.encode(names), encoder.encode(names), atol=1e-6)
    np.testing.assert_allclose(encoder.encode(names), alone(encoder, names), atol=1e-5)
    assert np.abs(encoder.encode(names) - before).max() > 1e-3
