"""One step's losses and gradients against a plain step, and against itself in other forms."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from unittest import mock

import pytest
import torch
from confection import Config
from safetensors.torch import load_file

from tests.training.bergamot.reference import make_trainer, plain_losses
from tests.training.bergamot.runs import run_processes
from training.bergamot.batches import Batch
from training.bergamot.run import train
from training.bergamot.trainer import Trainer

ROOT = Path(__file__).parents[3]
GRAPH_ENCODERS = {
    "gat": {"@graph_encoders": "gatv2.v1", "dropout": 0.0},
    "gat with relations": {
        "@graph_encoders": "gatv2.v1", "dropout": 0.0, "edge_features": "relation",
    },
    "sage": {"@graph_encoders": "graphsage.v1", "dropout": 0.0},
    "rgcn bases": {"@graph_encoders": "rgcn.v1", "dropout": 0.0},
    "rgcn blocks": {"@graph_encoders": "rgcn.v1", "dropout": 0.0, "decomposition": "blocks"},
}  # fmt: skip


@pytest.fixture
def config(config: Config) -> Config:
    """No dropout, homonyms among the negatives as in the reference, names in several chunks."""
    config["text_encoder"]["dropout"] = 0.0
    config["graph_encoder"]["dropout"] = 0.0
    config["batches"].update(exclude_homonyms=False, chunk_tokens=100)
    return config


def gradients(trainer: Trainer, step: int = 0) -> tuple[dict[str, float], dict]:
    trainer.model.zero_grad(set_to_none=True)
    losses = trainer.gradients(trainer.batches[step], step)
    found = {n: p.grad.clone() for n, p in trainer.model.named_parameters() if p.grad is not None}
    return {name: float(loss) for name, loss in losses.items()}, found


def compare_with_the_plain_step(trainer: Trainer, step: int = 0) -> None:
    permutations: list[torch.Tensor] = []
    randperm = torch.randperm

    def recorded(*args, **kwargs):
        permutations.append(randperm(*args, **kwargs))
        return permutations[-1]

    with mock.patch("torch.randperm", recorded):
        losses, found = gradients(trainer, step)
    trainer.model.zero_grad(set_to_none=True)
    expected = plain_losses(trainer.model, trainer.batches[step], permutations)
    total = sum(trainer.model.weights[name] * loss for name, loss in expected.items())
    total.backward()
    for name, loss in {**expected, "total": total}.items():
        assert losses[name] == pytest.approx(float(loss), rel=1e-4), name
    plain = {n: p.grad for n, p in trainer.model.named_parameters() if p.grad is not None}
    assert plain.keys() == found.keys()
    for name, gradient in plain.items():
        torch.testing.assert_close(found[name], gradient, rtol=2e-3, atol=2e-5, msg=name)


@pytest.mark.parametrize("encoder", sorted(GRAPH_ENCODERS))
@pytest.mark.parametrize("corruption", ["edges", "centres"])
def test_a_step_equals_the_plain_step(config: Config, encoder: str, corruption: str):
    config["graph_encoder"] = GRAPH_ENCODERS[encoder]
    config["objectives"]["dgi"]["corruption"] = corruption
    trainer = make_trainer(config)
    compare_with_the_plain_step(trainer)
    assert len(set(trainer.batches[0].labels[0].tolist())) < 16, "no concept is there twice"


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize(
    "objectives", [("text",), ("node",), ("intermodal",), ("dgi",), ("text", "node", "dgi")]
)
def test_any_subset_of_objectives_equals_the_plain_step(
    config: Config, pooling: str, objectives: tuple[str, ...]
):
    config["text_encoder"]["pooling"] = pooling
    config["objectives"] = {name: config["objectives"][name] for name in objectives}
    compare_with_the_plain_step(make_trainer(config), step=3)


def test_homonyms_change_the_loss_when_they_are_excluded(config: Config):
    with_them, _ = gradients(make_trainer(config))
    config["batches"]["exclude_homonyms"] = True
    config["paths"]["output"] += "_other"
    without, _ = gradients(make_trainer(config))
    assert without["text"] < with_them["text"]


def test_weights_and_rates_are_applied_once(config: Config):
    """A weight of 3 makes a gradient 3 times as large; each parameter is in one group."""
    config["objectives"] = {"text": config["objectives"]["text"]}
    _, once = gradients(make_trainer(config))
    config["objectives"]["text"]["weight"] = 3.0
    config["paths"]["output"] += "_other"
    trainer = make_trainer(config)
    _, thrice = gradients(trainer)
    for name, gradient in once.items():
        torch.testing.assert_close(thrice[name], 3 * gradient, rtol=1e-4, atol=1e-7)
    grouped = [id(p) for group in trainer.optimizer.param_groups for p in group["params"]]
    assert sorted(grouped) == sorted(id(p) for p in trainer.model.parameters())
    trainer.settings = type(trainer.settings)(warmup_steps=4)
    trainer.step(trainer.batches[1], 1)
    assert {group["lr"] for group in trainer.optimizer.param_groups} == {0.001 * 2 / 4}


@pytest.mark.parametrize("change", ["gradient_cache", "activation_checkpointing"])
def test_saving_memory_changes_nothing(config: Config, change: str):
    config["text_encoder"]["dropout"] = config["graph_encoder"]["dropout"] = 0.1
    losses, found = gradients(make_trainer(config))
    config["training"][change] = True
    config["paths"]["output"] += "_other"
    again, same = gradients(make_trainer(config))
    assert again == pytest.approx(losses, rel=1e-5)
    for name, gradient in found.items():
        torch.testing.assert_close(same[name], gradient, rtol=1e-4, atol=1e-6)


def test_the_gradient_of_the_vectors_is_bit_identical_on_several_threads(config: Config):
    config["objectives"] = {"text": config["objectives"]["text"]}
    model = make_trainer(config).model
    generator = torch.Generator().manual_seed(0)
    table = torch.randn(200, 64, generator=generator, requires_grad=True)
    rows = torch.randint(0, 200, (2, 2000), generator=generator)
    weights = torch.randn(2, 2000, 64, generator=generator)
    batch = SimpleNamespace(rows=rows, labels=torch.arange(2000)[None], excluded=None)
    batch.links = batch.known = batch.targets = None

    def gradient() -> torch.Tensor:
        text = model.embed(table, cast("Batch", batch)).text
        return torch.autograd.grad((text * weights).sum(), table)[0]

    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        first = gradient()
        assert all(gradient().equal(first) for _ in range(20))
    finally:
        torch.set_num_threads(threads)


def test_detached_neighbours_get_no_gradient(config: Config):
    config["objectives"] = {"node": config["objectives"]["node"]}
    whole, _ = gradients(make_trainer(config))
    config["batches"]["detach_neighbours"] = True
    config["paths"]["output"] += "_other"
    trainer = make_trainer(config)
    losses, _ = gradients(trainer)
    assert losses == pytest.approx(whole, rel=1e-5)
    batch = trainer.batches[0]
    centres = set(batch.rows[:, :16].flatten().tolist())
    assert {c.trains for c in batch.chunks} == {True, False}
    for chunk in batch.chunks:
        rows = set(range(chunk.start, chunk.start + len(chunk.ids)))
        assert rows <= centres if chunk.trains else not rows & centres


def test_most_encoded_tokens_are_real_and_distinct(config: Config):
    batch = make_trainer(config).batches[0]
    assert batch.tokens / batch.slots >= 0.6
    assert batch.slots == sum(chunk.ids.numel() for chunk in batch.chunks)
    assert batch.names == sum(len(chunk.ids) for chunk in batch.chunks)


def test_several_processes_take_the_steps_of_one(config: Config, tmp_path: Path):
    config["text_encoder"]["dropout"] = config["graph_encoder"]["dropout"] = 0.1
    config["training"].update(max_steps=4, checkpoint_every=2)
    config["batches"]["chunk_tokens"] = 60
    config["optimizer"] = {"@optimizers": "adamw.v1", "learn_rate": 1e-4}
    alone = train(config).parent
    together = run_processes(config, 4, tmp_path)
    first, second = (json.loads((run / "history.json").read_text()) for run in (alone, together))
    for a, b in zip(first, second, strict=True):
        for name in ("total", "text", "node", "intermodal", "dgi", "grad_norm"):
            assert b[name] == pytest.approx(a[name], rel=1e-3), (name, a["step"])
    weights = [load_file(run / "lm/model.safetensors") for run in (alone, together)]
    for name, weight in weights[0].items():
        torch.testing.assert_close(weights[1][name], weight, rtol=1e-3, atol=2e-5, msg=name)


def test_chunks_are_shared_out_without_overlap(config: Config):
    trainer = make_trainer(config)
    whole = trainer.batches[2]
    parts = []
    for rank in range(3):
        trainer.batches.rank, trainer.batches.processes = rank, 3
        parts.append(trainer.batches[2])
    indices = [chunk.index for part in parts for chunk in part.chunks]
    assert sorted(indices) == [chunk.index for chunk in whole.chunks]
    for part in parts:
        assert part.rows.equal(whole.rows)
        assert part.edges.equal(whole.edges)
        assert part.chunks
