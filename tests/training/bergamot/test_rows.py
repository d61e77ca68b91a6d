"""Word embeddings trained row by row: a plain loop, a resumed run, several processes."""

import json
from pathlib import Path

import pytest
import torch
from confection import Config
from safetensors.torch import load_file
from torch import nn

from tests.training.bergamot.reference import make_trainer
from tests.training.bergamot.runs import run_processes
from training.bergamot.row_gradients import train_by_rows
from training.bergamot.run import train
from training.errors import BergamotError

WORDS = "embeddings.word_embeddings.weight"
RATE, DECAY, BETAS, EPS, CLIP, STEPS = 1e-3, 0.1, (0.9, 0.999), 1e-8, 0.5, 5


@pytest.fixture
def config(config: Config) -> Config:
    config["text_encoder"]["dropout"] = config["graph_encoder"]["dropout"] = 0.0
    config["optimizer"] = {
        "@optimizers": "adamw.v1", "learn_rate": RATE, "weight_decay": DECAY,
    }  # fmt: skip
    config["training"].update(word_embeddings="rows", clip=CLIP, max_steps=STEPS, epochs=9)
    config["training"].update(warmup_steps=0, schedule="constant")
    return config


def lazily(table: torch.Tensor, moments: list, rows: torch.Tensor, gradient: torch.Tensor) -> None:
    """Take Adam's step, without weight decay, of some rows alone; moments: count, first, second."""
    moments[0] += 1
    for row in rows.tolist():
        first, second = (moment[row] for moment in moments[1:])
        first.mul_(BETAS[0]).add_((1 - BETAS[0]) * gradient[row])
        second.mul_(BETAS[1]).add_((1 - BETAS[1]) * gradient[row] ** 2)
        rate = RATE * (1 - BETAS[1] ** moments[0]) ** 0.5 / (1 - BETAS[0] ** moments[0])
        table[row] -= rate * first / (second.sqrt() + EPS)


@pytest.mark.parametrize("autocast", ["none", "bf16"])
def test_rows_take_the_steps_of_a_plain_loop(config: Config, tmp_path: Path, autocast: str):
    config["training"]["autocast"] = autocast
    trainer = make_trainer(config)
    config["training"]["word_embeddings"] = "trained"
    config["paths"]["output"] = str(tmp_path / "plain")
    plain = make_trainer(config)
    table = plain.model.lm.get_input_embeddings().weight
    before, seen = table.detach().clone(), set()
    others = [p for p in plain.model.parameters() if p is not table]
    adamw = torch.optim.AdamW(
        [
            {"params": [p for p in others if p.ndim > 1], "weight_decay": DECAY},
            {"params": [p for p in others if p.ndim == 1], "weight_decay": 0.0},
        ],
        lr=RATE,
        fused=True,
    )
    moments = [0, torch.zeros_like(table), torch.zeros_like(table)]
    for step in range(STEPS):
        batch = plain.batches[step]
        _, norm = trainer.step(trainer.batches[step], step)
        assert trainer.model.lm.get_input_embeddings().weight.grad.is_sparse
        plain.model.zero_grad(set_to_none=True)
        plain.gradients(batch, step)
        expected = nn.utils.clip_grad_norm_(plain.model.parameters(), CLIP)
        assert expected > CLIP
        torch.testing.assert_close(norm, expected, rtol=1e-4, atol=0)
        adamw.step()
        with torch.no_grad():
            lazily(table, moments, batch.vocabulary, table.grad)
        seen |= set(batch.vocabulary.tolist())
    found = trainer.model.state_dict()
    for name, weight in plain.model.state_dict().items():
        torch.testing.assert_close(found[name], weight, rtol=1e-3, atol=1e-5, msg=name)
    still = [row for row in range(len(table)) if row not in seen]
    assert 0 < len(still) < len(table)
    assert found[f"lm.{WORDS}"][still].equal(before[still])  # not even their weights decay


def test_a_resumed_run_ends_with_the_same_weights(config: Config, tmp_path: Path):
    config["training"]["checkpoint_every"] = 2
    config["text_encoder"]["dropout"] = 0.1
    whole = train(config)
    config["paths"]["output"] = str(tmp_path / "resumed")
    trainer = make_trainer(config)
    for step in range(2):
        trainer.step(trainer.batches[step], step)
    trainer.save(2)
    resumed = train(config)
    one, other = (load_file(lm / "model.safetensors") for lm in (whole, resumed))
    assert all(one[name].equal(other[name]) for name in one)


def test_several_processes_take_the_steps_of_one(config: Config, tmp_path: Path):
    config["training"].update(max_steps=4, checkpoint_every=2)
    config["batches"]["chunk_tokens"] = 60
    config["optimizer"]["learn_rate"] = 1e-4
    alone = train(config).parent
    together = run_processes(config, 3, tmp_path)
    first, second = (json.loads((run / "history.json").read_text()) for run in (alone, together))
    for a, b in zip(first, second, strict=True):
        for name in ("total", "grad_norm"):
            assert b[name] == pytest.approx(a[name], rel=1e-3), (name, a["step"])
    weights = [load_file(run / "lm/model.safetensors") for run in (alone, together)]
    for name, weight in weights[0].items():
        torch.testing.assert_close(weights[1][name], weight, rtol=1e-3, atol=2e-5, msg=name)


def test_embeddings_of_another_kind_are_refused():
    with pytest.raises(BergamotError, match=r"T250.*Sequential"):
        train_by_rows(nn.Sequential())
