"""Vectors are those of the Hugging Face module on each name alone, however a batch is computed."""

from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertModel, DistilBertModel, RobertaModel, XLMRobertaModel

from spacy_bergamot.encoder.settings import POOLINGS
from tests.spacy_bergamot.encoder.small_models import (
    alone,
    calls,
    make_adapted,
    make_encoder,
    make_model,
    some_names,
)


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
