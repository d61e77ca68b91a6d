"""Everything that a config can ask for beside the main recipe, run for a few steps."""

import json
from pathlib import Path

import pytest
import torch
from confection import Config
from safetensors.torch import load_file
from transformers import AutoModel
from typer.testing import CliRunner

from tests.training.conftest import names_of
from training.__main__ import app
from training.bergamot.checkpoint import newest_checkpoint
from training.bergamot.config import read_config
from training.bergamot.run import train
from training.errors import BergamotError

ROOT = Path(__file__).parents[3]
CONFIGS = sorted((ROOT / "configs/train").glob("*.cfg"))


def history(lm: Path) -> list[dict]:
    return json.loads((lm.parent / "history.json").read_text())


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_shipped_config_trains(config: Config, path: Path):
    """With the tiny base model, batch and length; all else as shipped."""
    shipped = read_config(path, {})
    shipped["text_encoder"] = config["text_encoder"]
    shipped["paths"] = config["paths"]
    shipped["batches"].update(size=16, workers=0)
    shipped["training"].update(max_steps=2, log_every=1, epochs=1, schedule="constant")
    lm = train(shipped)
    assert len(history(lm)) == 2
    assert AutoModel.from_pretrained(lm).config.hidden_size == 32


@pytest.fixture
def validated(config: Config, tmp_path: Path) -> Config:
    """The config with validation on invented words for the concepts."""
    folder = tmp_path / "valid"
    (folder / "queries").mkdir(parents=True)
    words = [(f"C{c:03}", names_of(c)) for c in range(60)]
    dictionary = "".join(f"{cui}||{name}\n" for cui, names in words for name in names[1:])
    (folder / "dictionary.txt").write_text(dictionary)
    queries = "".join(f"{cui}||{names[0]}\n" for cui, names in words)
    (folder / "queries/ENG.txt").write_text(queries)
    config["validation"] = {"@validations": "recall.v1", "path": str(folder), "every": 4}
    return config


def test_validation_keeps_the_best_model(validated: Config):
    validated["training"]["max_steps"] = 24
    lm = train(validated)
    found = [entry for entry in history(lm) if "recall@1" in entry]
    assert [entry["step"] for entry in found] == [4, 8, 12, 16, 20, 24]
    assert max(entry["recall@1"] for entry in found) > 10
    best, exported = (load_file(lm.parent / f / "model.safetensors") for f in ("best", "lm"))
    assert all(best[name].equal(exported[name]) for name in best)


def test_training_stops_when_recall_no_longer_rises_and_stays_stopped(validated: Config):
    validated["training"].update(max_steps=400, checkpoint_every=1000)
    validated["optimizer"]["learn_rate"] = 0.0
    validated["validation"]["patience"] = 2
    lm = train(validated)
    assert history(lm)[-1]["step"] == 12  # the first validation, and two that were no better
    assert newest_checkpoint(lm.parent / "checkpoints").name == "step-00000012"
    train(validated)
    assert history(lm)[-1]["step"] == 12


def test_validation_changes_no_weights_and_survives_a_resume(validated: Config, tmp_path: Path):
    validated["training"].update(max_steps=12, checkpoint_every=6)
    whole = train(validated)
    config = Config(validated)
    del config["validation"]
    config["paths"]["output"] = str(tmp_path / "without")
    plain = train(config)
    for run in (whole, plain):
        assert (run.parent / "checkpoints/step-00000012").is_dir()
    a, b = (
        load_file(run.parent / "checkpoints/step-00000012/model.safetensors")
        for run in (whole, plain)
    )
    assert all(a[name].equal(b[name]) for name in a)


def test_validation_without_queries_is_refused(validated: Config):
    (Path(validated["validation"]["path"]) / "queries/ENG.txt").write_text("\n")
    with pytest.raises(BergamotError, match="T111"):
        train(validated)


@pytest.mark.parametrize("reduction", [1, 16])
def test_adapters_train_alone_and_are_exported_merged_and_apart(config: Config, reduction: int):
    config["adapter"] = {"@adapters": "lora.v1", "reduction": reduction}
    config["objectives"] = {"text": config["objectives"]["text"]}
    lm = train(config)
    base = load_file(lm.parent / "base/model.safetensors")
    checkpoint = load_file(newest_checkpoint(lm.parent / "checkpoints") / "model.safetensors")
    assert checkpoint
    assert all("lora" in name for name in checkpoint)
    merged = load_file(lm / "model.safetensors")
    changed = {name for name, weight in base.items() if not merged[name].equal(weight)}
    assert changed
    assert all(
        name.endswith(("query.weight", "key.weight", "value.weight", "dense.weight"))
        for name in changed
    )
    ranks = {v.shape[0] for k, v in checkpoint.items() if "lora_A" in k}
    assert ranks == {32 // reduction}
    assert (lm.parent / "adapter/adapter_model.safetensors").is_file()
    from peft import PeftModel

    apart = PeftModel.from_pretrained(
        AutoModel.from_pretrained(lm.parent / "base"), lm.parent / "adapter"
    ).eval()
    whole = AutoModel.from_pretrained(lm).eval()
    ids = torch.tensor([[2, 9, 8, 7, 3]])
    expected = apart(input_ids=ids).last_hidden_state
    torch.testing.assert_close(whole(input_ids=ids).last_hidden_state, expected, atol=1e-5, rtol=0)


def test_tensorboard_gets_every_value(config: Config):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    config["loggers"] = {"board": {"@loggers": "tensorboard.v1"}}
    lm = train(config)
    events = EventAccumulator(str(lm.parent / "tensorboard"))
    events.Reload()
    assert {"total", "text", "grad_norm", "useful_tokens"} <= set(events.Tags()["scalars"])
    totals = [event.value for event in events.Scalars("total")]
    assert totals == pytest.approx([entry["total"] for entry in history(lm)])


def test_a_logger_whose_package_is_missing_is_named(config: Config, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "wandb", None)
    config["loggers"] = {"wandb": {"@loggers": "wandb.v1", "project": "p"}}
    with pytest.raises(BergamotError, match=r"B109.*wandb"):
        train(config)


def test_an_exploding_loss_stops_the_run(config: Config):
    config["optimizer"]["learn_rate"] = 0.5
    config["training"].update(max_steps=200, explosion=1.01)
    config["objectives"] = {"text": config["objectives"]["text"]}
    with pytest.raises(BergamotError, match="T216"):
        train(config)


@pytest.mark.parametrize("precision", ["bf16"])
def test_half_precision_trains(config: Config, precision: str):
    config["training"].update(autocast=precision, max_steps=40)
    entries = history(train(config))
    assert entries[-1]["total"] < entries[0]["total"]


def test_a_changed_config_section_goes_through_the_command_line(config: Config, tmp_path: Path):
    path = tmp_path / "run.cfg"
    config.to_disk(path)
    from training.bergamot.cli import parse_overrides

    arguments = ["--objectives.text.margin", "null", "--training.max_steps=3"]
    read = read_config(path, parse_overrides(arguments))
    assert read["objectives"]["text"]["margin"] is None
    assert read["training"]["max_steps"] == 3


def test_pair_files_bitext_and_mentions_make_a_training_set(config: Config, tmp_path: Path):
    (tmp_path / "sap.txt").write_text("C1||Fever||pyrexia\nC1||fever||Fever\nC2||cough||tussis\n")
    (tmp_path / "ENDE.tsv").write_text("heart\therz\nliver\tleber\n")
    (tmp_path / "dictionary.txt").write_text("C3||anaemia\nC3||anemia\n")
    (tmp_path / "queries.txt").write_text("C3||low blood\nC9||unknown\n")
    arguments = ["pairs", str(tmp_path / "set")]
    arguments += ["--pairs", str(tmp_path / "sap.txt"), "--bitext", str(tmp_path / "ENDE.tsv")]
    arguments += ["--mentions", str(tmp_path / "queries.txt")]
    arguments += ["--dictionary", str(tmp_path / "dictionary.txt")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    out = tmp_path / "out.txt"
    CliRunner().invoke(app, ["export-pairs", str(tmp_path / "set"), str(out)])
    pairs = {tuple(line.split("||")[1:]) for line in out.read_text().splitlines()}
    assert pairs == {
        ("fever", "pyrexia"), ("cough", "tussis"), ("heart", "herz"), ("liver", "leber"),
        ("low blood", "anaemia"), ("low blood", "anemia"),
    }  # fmt: skip
    config["paths"]["training_set"] = str(tmp_path / "set")
    config["batches"]["size"] = 4
    config["objectives"] = {"text": config["objectives"]["text"]}
    config["training"]["epochs"] = 8
    assert (train(config) / "model.safetensors").is_file()


@pytest.mark.parametrize("text", ["C1||only one\n", "C1||a||b||c\n", "C1|| ||b\n"])
def test_a_malformed_pair_file_is_named_with_its_line(tmp_path: Path, text: str):
    (tmp_path / "bad.txt").write_text("C1||a||b\n" + text)
    arguments = ["pairs", str(tmp_path / "set"), "--pairs", str(tmp_path / "bad.txt")]
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, BergamotError)
    assert "bad.txt:2" in str(result.exception)
    assert not (tmp_path / "set").exists()
