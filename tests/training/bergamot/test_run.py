import json
import os
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from confection import Config
from safetensors.torch import load_file
from transformers import AutoModel, AutoTokenizer

from spacy_bergamot.encoder.text_encoder import TextEncoder, fingerprint
from tests.processes import ROOT, Command
from tests.training.bergamot.runs import ONE_THREAD, equal, interrupt
from training.bergamot.checkpoint import newest_checkpoint
from training.bergamot.cli import device_of, parse_overrides
from training.bergamot.config import read_config, resolve
from training.bergamot.folder import sole_use
from training.bergamot.run import train
from training.errors import BergamotError


def test_a_run_lowers_the_loss_and_exports_a_hugging_face_folder(config: Config):
    config["training"]["max_steps"] = 60
    lm = train(config)
    history = json.loads((lm.parent / "history.json").read_text())
    logged = {"step", "total", "grad_norm", "pairs_per_s", "useful_tokens"}
    assert set(history[0]) == {"text", "node", "intermodal", "dgi"} | logged
    assert Config().from_disk(lm.parent / "config.cfg")["training"]["max_steps"] == 60
    first = np.mean([entry["total"] for entry in history[:5]])
    assert np.mean([entry["total"] for entry in history[-5:]]) < 0.8 * first
    model, tokenizer = AutoModel.from_pretrained(lm), AutoTokenizer.from_pretrained(lm)
    encoder = TextEncoder.open(lm)
    inputs = tokenizer("maladie 07", return_tensors="pt")
    hidden = model(input_ids=inputs["input_ids"]).last_hidden_state.mean(1)
    expected = torch.nn.functional.normalize(hidden, dim=-1).detach().numpy()
    np.testing.assert_allclose(encoder.encode(["Maladie 07"]), expected, atol=1e-5)


def test_the_same_seed_gives_the_same_weights(config: Config, tmp_path: Path):
    first = train(config)
    config["paths"]["output"] = str(tmp_path / "again")
    config["batches"]["workers"] = 2
    assert equal(first, train(config))
    config["paths"]["output"] = str(tmp_path / "other")
    config["system"]["seed"] = 1
    assert not equal(first, train(config))


@pytest.mark.parametrize("workers", [0, 2])
def test_a_resumed_run_ends_with_the_weights_of_an_uninterrupted_one(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
):
    whole = train(config)
    config["paths"]["output"] = str(tmp_path / "resumed")
    taken = interrupt(monkeypatch, 7)
    with pytest.raises(KeyboardInterrupt):
        train(config)
    config["batches"]["workers"] = workers
    resumed = train(config)
    assert taken[7:] == [4, 5, 6, 7]  # from the checkpoint of step 4
    assert equal(whole, resumed)


def test_a_killed_process_leaves_a_whole_checkpoint_to_go_on_from(config: Config, tmp_path: Path):
    config["training"].update(max_steps=100_000, epochs=100_000, checkpoint_every=2)
    path = tmp_path / "train.cfg"
    config.to_disk(path)
    checkpoints, errors = Path(config["paths"]["output"]) / "checkpoints", tmp_path / "errors"
    for number in (signal.SIGKILL, signal.SIGTERM):
        files = (os.devnull, os.devnull, errors)
        process = Command("training", "train", path, environment=ONE_THREAD, files=files)
        before = newest_checkpoint(checkpoints)
        deadline = time.monotonic() + 120
        while newest_checkpoint(checkpoints) == before and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(number)
        status = process.wait(60)
        assert newest_checkpoint(checkpoints) not in (None, before)
    assert status == 1
    assert "T209" in errors.read_text("utf8")


def test_a_run_killed_again_and_again_ends_bit_identical(config: Config, tmp_path: Path):
    config["training"].update(max_steps=60, checkpoint_every=5)
    whole = train(config)
    config["paths"]["output"] = str(tmp_path / "killed")
    environment = {**os.environ, "OMP_NUM_THREADS": str(torch.get_num_threads())}
    checkpoints = tmp_path / "killed/checkpoints"
    random = np.random.default_rng()
    kills = 0
    for workers in (0, 2, 1, 0):
        config["batches"]["workers"] = workers
        config.to_disk(tmp_path / "train.cfg")
        process = Command("training", "train", tmp_path / "train.cfg", environment=environment)
        before, deadline = newest_checkpoint(checkpoints), time.monotonic() + 120
        while process.poll() is None and time.monotonic() < deadline:
            if newest_checkpoint(checkpoints) != before:
                time.sleep(random.uniform(0, 0.2))
                process.kill()
                break
            time.sleep(0.01)
        kills += process.wait(60) == -signal.SIGKILL
        assert not list(checkpoints.glob("step-*/*.tmp"))
    assert kills >= 1
    assert equal(whole, train(config))


def test_a_truncated_checkpoint_is_skipped(config: Config):
    lm = train(config)
    checkpoints = lm.parent / "checkpoints"
    newest = newest_checkpoint(checkpoints)
    assert newest is not None
    assert newest.name == "step-00000008"
    file = newest / "optimizer.safetensors"
    file.write_bytes(file.read_bytes()[:-10])
    older = newest_checkpoint(checkpoints)
    assert older is not None
    assert older.name == "step-00000004"


def test_a_run_under_another_config_is_refused(config: Config):
    train(config)
    config["optimizer"]["learn_rate"] = 0.5
    with pytest.raises(BergamotError, match="T207"):
        train(config)


@pytest.mark.parametrize("name", ["graphsage.v1", "rgcn.v1", "gatv2.v1"])
@pytest.mark.parametrize("objectives", [("text",), ("node",), ("intermodal", "dgi")])
def test_any_graph_encoder_with_any_objectives(config: Config, name: str, objectives: tuple):
    config["graph_encoder"] = {"@graph_encoders": name}
    config["objectives"] = {key: config["objectives"][key] for key in objectives}
    config["training"]["max_steps"] = 2
    lm = train(config)
    history = json.loads((lm.parent / "history.json").read_text())
    assert {"text", "node", "intermodal", "dgi"} & set(history[-1]) == set(objectives)
    names = load_file(newest_checkpoint(lm.parent / "checkpoints") / "model.safetensors")
    assert any(key.startswith("graph_encoder") for key in names) == (objectives != ("text",))


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("batches.size", 100_000, "B232"),
        ("batches.sizes", 4, "T212"),
        ("training.nonsense", 1, "T212"),
        ("graph_encoder.heads", 5, "T203"),
        ("graph_encoder.self_loops", False, "T202"),
        ("objectives.text.weight", -1.0, "T213"),
        ("system.speed", 3, "T211"),
        ("optimizer.learn_rate", float("nan"), "T208"),
        ("text_encoder.@text_encoders", "nothing.v1", "T212"),
    ],
)
def test_a_wrong_setting_is_a_clear_error(config: Config, tmp_path: Path, key, value, code):
    section, *rest, last = key.split(".")
    target = config[section]
    for part in rest:
        target = target[part]
    target[last] = value
    path = tmp_path / "wrong.cfg"
    config.to_disk(path)
    with pytest.raises(BergamotError, match=code):
        train(read_config(path, {}))
    assert not (tmp_path / "run" / "lm").exists()


def test_two_runs_cannot_write_to_one_folder(config: Config, tmp_path: Path):
    (tmp_path / "run").mkdir()
    with sole_use(tmp_path / "run"), pytest.raises(BergamotError, match="T214"):
        train(config)


def test_a_gpu_that_is_not_there_is_refused():
    assert device_of(-1) == "cpu"
    with pytest.raises(BergamotError, match="T201"):
        device_of(99)


def test_overrides_are_read_as_json_or_text():
    overrides = parse_overrides(["--a.b", "1", "--c.d=x", "--e.f", "false"])
    assert overrides == {"a.b": 1, "c.d": "x", "e.f": False}
    with pytest.raises(BergamotError, match="T215"):
        parse_overrides(["--plain", "1"])


def test_every_shipped_config_names_functions_that_exist():
    for path in sorted((ROOT / "configs/train").glob("*.cfg")):
        assert resolve(read_config(path, {}))


def test_the_fingerprint_changes_with_the_pooling(config: Config):
    lm = train(config)
    before = fingerprint(lm)
    settings = lm / "bergamot.json"
    settings.write_text(settings.read_text().replace("mean", "cls"))
    assert fingerprint(lm) != before


def zeroed(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:-64] + bytes(64))


HEALED = ["tokens/indptr.npy", "tokens/tokens.npy", "tokens/manifest.json", "history.json",
          "base/manifest.json", "checkpoints/step-00000004/history.json",
          "checkpoints/step-00000004/manifest.json"]  # fmt: skip
REFUSED = ["base/bergamot.json", "base/config.json", "base/model.safetensors",
           "base/tokenizer.json"]  # fmt: skip
DAMAGES = [Path.unlink, zeroed, lambda path: path.write_bytes(b""), lambda p: p.write_text("[[")]


def test_whatever_of_a_run_is_changed_it_ends_bit_identical_or_says_so(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    config["training"]["max_steps"] = 6
    whole = train(config)
    config["paths"]["output"] = str(tmp_path / "cut")
    interrupt(monkeypatch, 6)
    with pytest.raises(KeyboardInterrupt):
        train(config)
    for number, name in enumerate([*HEALED, *REFUSED]):
        output = tmp_path / f"run-{number}"
        shutil.copytree(tmp_path / "cut", output)
        config["paths"]["output"] = str(output)
        damage = DAMAGES[number % 4]
        if name == "base/manifest.json":
            damage = Path.unlink
        damage(output / name)
        if name in HEALED:
            assert equal(whole, train(config)), name
        else:
            with pytest.raises(BergamotError, match=r"B00[1-6]") as error:
                train(config)
            assert name in str(error.value)


def test_a_process_that_a_killed_run_leaves_behind_does_not_hold_its_lock(tmp_path: Path):
    read, write = os.pipe()
    holder = os.fork()
    if holder == 0:
        with sole_use(tmp_path):
            if os.fork() == 0:
                time.sleep(20)
                os._exit(0)
            os.write(write, b"x")
            time.sleep(20)
        os._exit(0)
    os.read(read, 1)
    time.sleep(0.1)
    with pytest.raises(BergamotError, match="T214"), sole_use(tmp_path):
        pass
    os.kill(holder, signal.SIGKILL)
    os.waitpid(holder, 0)
    with sole_use(tmp_path):
        pass


@pytest.mark.parametrize(
    ("added", "line"),
    [("[training]\nmax_steps = 1\n", 2), ("x = 1\nx = 2\n", 3), ("hello\n", 2), ("[a\n", 2),
     ("x = ${nothing.here}\n", None)],
)  # fmt: skip
def test_a_broken_config_is_named_with_the_line(tmp_path: Path, added: str, line: int | None):
    path = tmp_path / "broken.cfg"
    path.write_text("[training]\n" + added)
    with pytest.raises(BergamotError, match=rf"T210.*broken\.cfg{f':{line}' if line else ''}: "):
        read_config(path, {})
