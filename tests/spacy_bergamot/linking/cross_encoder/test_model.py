"""Logits of lines: packed as by the module's own forward pass, whatever else is in the batch."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from spacy_bergamot.encoder.settings import EncoderSettings
from spacy_bergamot.errors import BergamotError
from spacy_bergamot.linking.cross_encoder import model as module
from spacy_bergamot.linking.cross_encoder.model import PairModel
from spacy_bergamot.linking.cross_encoder.texts import Line

LINES = [
    Line([2, 5, 6, 23, 0, 24, 7, 0], 5),
    Line([2, 5, 0, 25, 8, 9, 0], 3),
    Line([2, 5, 7, 0, 24, 8, 0, 9, 0], 4),
    Line([2, 9, 6, 23, 0, 24, 7, 0], 5),
]


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_packed_logits_are_those_of_the_modules_own_forward_pass(
    family: str,
    pooling: str,
    make_folder: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
):
    folder = make_folder(family)
    EncoderSettings(pooling=pooling).write(folder)
    model = PairModel.begin(folder).eval()
    assert model.pooling == pooling
    packed = model.logits(LINES)
    monkeypatch.setattr(module, "is_packable", lambda _: False)
    assert model.logits(LINES) == pytest.approx(packed, abs=1e-5)
    assert len(set(packed)) == len(packed)


def test_batches_and_order_change_nothing(pair_model: PairModel):
    together = pair_model.logits(LINES)
    alone = [pair_model.logits([line])[0] for line in LINES]
    backwards = pair_model.logits(LINES[::-1], batch_tokens=10)[::-1]
    assert together == pytest.approx(alone, abs=1e-5)
    assert backwards == pytest.approx(alone, abs=1e-5)
    assert pair_model.logits([]) == []


def test_marks_and_where_the_candidate_begins_are_read(pair_model: PairModel):
    line = LINES[0]
    (before,) = pair_model.logits([line])
    other_mark = line._replace(ids=[one + (one == 23) for one in line.ids])
    for changed in (other_mark, line._replace(second=4)):
        assert pair_model.logits([changed])[0] != pytest.approx(before, abs=1e-4)


def test_marks_and_head_learn_with_frozen_words(make_folder: Callable[[str], Path]):
    model = PairModel.begin(make_folder("bert"))
    model.lm.get_input_embeddings().requires_grad_(False)
    model(LINES).sum().backward()
    assert model.marks.weight.grad.abs().sum() > 0
    assert model.head.weight.grad.abs().sum() > 0
    assert model.lm.get_input_embeddings().weight.grad is None


def test_saved_and_opened_it_gives_the_same(pair_model: PairModel, tmp_path: Path):
    pair_model.save(tmp_path)
    opened = PairModel.open(tmp_path)
    assert opened.pooling == pair_model.pooling
    # The language model is kept in half precision.
    assert opened.logits(LINES) == pytest.approx(pair_model.logits(LINES), abs=0.05)
    assert PairModel.open(tmp_path).logits(LINES) == opened.logits(LINES)
    half = PairModel.open(tmp_path, precision="bf16")
    assert half.marks.weight.dtype == torch.bfloat16
    assert half.logits(LINES) == pytest.approx(opened.logits(LINES), abs=0.3)


def test_weights_that_do_not_fit_are_refused(pair_model: PairModel, tmp_path: Path):
    pair_model.save(tmp_path)
    (tmp_path / "pair.safetensors").write_bytes(b"nothing")
    with pytest.raises(BergamotError, match="B149"):
        PairModel.open(tmp_path)
    (tmp_path / "pair.safetensors").unlink()
    with pytest.raises(BergamotError, match="B149"):
        PairModel.open(tmp_path)
