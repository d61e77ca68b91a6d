"""Fine-tuning: the mean of the parameters over the steps."""

import contextlib
from pathlib import Path

import pytest
import torch
from torch import nn

from training.tuning import RunningMean, Tuning


class Model(nn.Module):
    """One number that is trained, one that is not; the language model is the first."""

    def __init__(self) -> None:
        super().__init__()
        self.lm = nn.Linear(1, 1, bias=False)
        self.frozen = nn.Parameter(torch.ones(1), requires_grad=False)


def test_the_mean_forgets_faster_at_first():
    model = Model()
    model.lm.weight.data.fill_(0.0)
    mean, expected = RunningMean(model, 0.5), 0.0
    for step in range(1, 21):
        model.lm.weight.data.fill_(float(step))
        mean.update()
        decay = min(0.5, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * step
    with mean.in_place():
        assert model.lm.weight.item() == pytest.approx(expected, rel=1e-6)
        assert model.frozen.item() == 1
    assert model.lm.weight.item() == 20


def test_a_model_gets_its_parameters_back_from_what_fails():
    model = Model()
    model.lm.weight.data.fill_(1.0)
    mean = RunningMean(model, 0.5)
    model.lm.weight.data.fill_(2.0)
    with contextlib.suppress(KeyboardInterrupt), mean.in_place():
        assert model.lm.weight.item() == 1
        raise KeyboardInterrupt
    assert model.lm.weight.item() == 2


def test_without_a_decay_no_mean_is_kept(tmp_path: Path):
    model = Model()
    tuning = Tuning(model, learn_rate=0.1, output=tmp_path, run="x")
    model.lm(torch.ones(1, 1)).sum().backward()
    tuning.step(1.0)
    now = model.lm.weight.item()
    with tuning.averaged():
        assert model.lm.weight.item() == now
