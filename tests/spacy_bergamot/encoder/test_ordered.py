"""Layers whose weights are in oneDNN's order give the vectors of the module."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertModel, XLMRobertaModel

from spacy_bergamot.encoder.ordered import keep_ordered
from spacy_bergamot.encoder.settings import POOLINGS
from spacy_bergamot.encoder.text_encoder import TextEncoder
from tests.spacy_bergamot.encoder.small_models import (
    alone,
    calls,
    make_encoder,
    make_model,
    some_names,
)


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
