"""Ablation: variants of one config trained alike, evaluated alike, compared over seeds."""

import json
from pathlib import Path

import numpy as np
import pytest
from confection import Config
from typer.testing import CliRunner

from tests.processes import instead_of_subprocess
from tests.training.conftest import CONCEPTS, names_of
from training.__main__ import app
from training.ablation.dictionary import cut_dictionary
from training.ablation.figures import render, summarize
from training.ablation.published import published_differences, render_beside_published
from training.ablation.runs import TrainingRun, plan
from training.ablation.variants import FULL, VARIANTS, chosen, variant
from training.bergamot.config import read_config
from training.corpora.schema import GoldMention
from training.errors import BergamotError
from training.evaluate.ranking import Ranked
from training.evaluate.results import Choices, Results

TINY = Path(__file__).parents[2] / "configs/train/tiny.cfg"


def test_variants_leave_out_what_they_say():
    config = read_config(TINY, {})
    kept = {name: sorted(variant(config, name)["objectives"]) for name in VARIANTS}
    assert kept["without node"] == ["dgi", "intermodal", "text"]
    assert kept["without text"] == ["dgi", "intermodal", "node"]
    assert kept["text only"] == ["text"]
    assert kept["rgcn"] == kept[FULL] == ["dgi", "intermodal", "node", "text"]
    assert variant(config, "graphsage")["graph_encoder"] == {
        "@graph_encoders": "graphsage.v1", "layers": 3, "dropout": 0.1,
    }  # fmt: skip
    assert sorted(config["objectives"]) == kept[FULL]  # the config itself stays
    assert "gatv2" not in chosen(config, [], {})  # it is the config
    assert list(chosen(config, ["rgcn"], {})) == [FULL, "rgcn"]
    with pytest.raises(BergamotError, match="B014"):
        chosen(config, ["without luck"], {})
    for taken in (FULL, "before", "rgcn"):
        with pytest.raises(BergamotError, match="T173"):
            chosen(config, [], {taken: Path("german")})
    (_, full), (name, other) = chosen(config, [], {"German alone": Path("german")}).items()
    assert (name, other["paths"].pop("training_set")) == ("German alone", "german")
    full["paths"].pop("training_set")
    assert other == full == {**config, "paths": full["paths"]}


def test_a_folder_is_of_one_config(tmp_path: Path):
    config = read_config(TINY, {})
    runs = plan(chosen(config, ["text only"], {}), 2, tmp_path)
    assert [(run.variant, run.seed) for run in runs] == [
        (FULL, 0), ("text only", 0), (FULL, 1), ("text only", 1),
    ]  # fmt: skip
    made = Config().from_disk(runs[3].folder / "config.cfg")
    assert made["system"]["seed"] == 1
    assert list(made["objectives"]) == ["text"]
    plan({FULL: config}, 1, tmp_path)
    config["training"]["max_steps"] = 5
    with pytest.raises(BergamotError, match="B040"):
        plan({FULL: config}, 1, tmp_path)


def ranked(*concepts: str) -> Ranked:
    return Ranked(list(concepts), [1.0] * len(concepts), [0] * len(concepts), [""], False)


def test_figures_by_hand(tmp_path: Path):
    """Two sets of 1 and 3 mentions; `all` finds 3 and 1 of 4, the variant 2 and 2."""
    queries = [GoldMention("a", frozenset({"C1"}), group) for group in ("x", "y", "y", "y")]
    hit, miss = ranked("C1"), ranked("C2", "C1")
    systems = {
        "all 0": [hit, hit, hit, miss],
        "all 1": [miss, hit, miss, miss],
        "text only 0": [hit, hit, miss, miss],
        "text only 1": [hit, hit, miss, miss],
        "before 0": [miss] * 4,
        "before 1": [miss] * 4,
        "exact": [hit] * 4,
    }
    results = Results(queries, {"full": [True] * 4}, systems, Choices(k=5), {})
    runs = [TrainingRun(name, seed, tmp_path) for name in (FULL, "text only") for seed in (0, 1)]
    found = summarize(results, runs)
    table = found["variants"][FULL]["accuracy"]
    assert table["micro"]["acc@1"]["mean"] == 50
    assert table["micro"]["acc@1"]["spread"] == pytest.approx(np.std([75, 25], ddof=1), abs=0.01)
    assert table["micro"]["acc@5"]["mean"] == 100
    # macro of seed 0: (100 + 2/3) / 2, of seed 1: (0 + 1/3) / 2
    assert table["macro"]["acc@1"]["mean"] == pytest.approx(50, abs=0.01)
    against = found["variants"]["text only"]["against_all"]
    assert against["micro"]["difference"] == 0
    assert against["x"]["difference"] == 50
    assert against["y"]["difference"] == pytest.approx(100 * (1 / 3 - 1 / 2), abs=0.01)
    assert found["variants"]["before"]["against_all"]["micro"]["difference"] == -50
    assert list(found["baselines"]) == ["exact"]
    assert found["seeds"] == 2
    text = render(found)
    assert "| set | mentions | all | before | text only |" in text
    assert "| x | 1 | 50.0 | 0.0 (-50.0) | 100.0 (+50.0) |" in text
    assert "| text only | +0.00 | -4.50 | -0.80 | ours within chance |" in text
    del found["variants"]["text only"]
    assert "theirs" not in render(found)  # nothing that the paper has


def test_the_papers_ablation_stands_beside_ours():
    assert published_differences() == {
        "text only": {"Mantra": -4.5, "XL-BEL": -0.8},
        "without text": {"Mantra": -5.29, "XL-BEL": -5.0},
        "without node": {"Mantra": -3.38, "XL-BEL": 0.5},
        "without intermodal": {"Mantra": -0.52, "XL-BEL": -0.7},
        "without dgi": {"Mantra": -1.68, "XL-BEL": -1.5},
    }
    assert set(published_differences()) <= set(VARIANTS)
    ours = {
        "without node": {"difference": -0.37, "low": -0.69, "high": -0.06},
        "without intermodal": {"difference": 0.58, "low": 0.28, "high": 0.88},
        "without text": {"difference": -3.0, "low": -4.0, "high": -2.0},
        "without dgi": {"difference": 0.06, "low": -0.23, "high": 0.38},
        "rgcn": {"difference": 1.0, "low": 0.5, "high": 1.5},
    }
    *_, text, node, intermodal, dgi = render_beside_published(ours)
    assert text == "| without text | -3.00 | -5.29 | -5.00 | as Mantra and XL-BEL |"
    assert node == "| without node | -0.37 | -3.38 | +0.50 | as Mantra, other than XL-BEL |"
    assert intermodal.endswith("| +0.58 | -0.52 | -0.70 | other than Mantra and XL-BEL |")
    assert dgi == "| without dgi | +0.06 | -1.68 | -1.50 | ours within chance |"


def test_a_cut_dictionary_keeps_the_golds(tmp_path: Path):
    lines = [f"C{number % 50}||name {number}" for number in range(200)]
    (tmp_path / "all.txt").write_text("\n".join(lines))
    (tmp_path / "q.txt").write_text("C7||something\nC9|C11||else\n")
    cut = cut_dictionary(tmp_path / "all.txt", [tmp_path / "q.txt"], tmp_path / "c.txt", names=40)
    kept = cut.read_text().splitlines()
    assert len(kept) == 40
    assert {line for line in lines if line.startswith(("C7|", "C9|", "C11|"))} <= set(kept)


@pytest.mark.timeout(300)
def test_the_command_trains_compares_and_goes_on(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("training.ablation.runs.subprocess.run", instead_of_subprocess)
    config["training"]["max_steps"] = 2
    config.to_disk(tmp_path / "config.cfg")
    (tmp_path / "again").symlink_to(config["paths"]["training_set"])
    entries = [(f"C{c}", name) for c in range(CONCEPTS) for name in names_of(c)]
    (tmp_path / "dictionary.txt").write_text("".join(f"{c}||{name}\n" for c, name in entries))
    (tmp_path / "q.txt").write_text("".join(f"{c}||{name}s\n" for c, name in entries[::7]))
    command = [
        "ablation", str(tmp_path / "config.cfg"), str(tmp_path / "dictionary.txt"),
        str(tmp_path / "q.txt"), str(tmp_path / "out"), "--variants", "text only", "--seeds", "1",
        "--processes", "2", "--training-set", f"again={tmp_path / 'again'}",
    ]  # fmt: skip
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert set(summary["variants"]) == {"all", "text only", "again", "before"}
    assert summary["variants"]["again"]["accuracy"] == summary["variants"]["all"]["accuracy"]
    assert summary["names"] == "all"
    text = (tmp_path / "out/summary.md").read_text()
    assert "| text only |" in text
    lm = tmp_path / "out/runs/text-only-0/model/lm/model.safetensors"
    written = lm.stat().st_mtime_ns
    CliRunner().invoke(app, command, catch_exceptions=False)
    assert lm.stat().st_mtime_ns == written
    (tmp_path / "out/runs/all-0/model/lm/manifest.json").unlink()
    (tmp_path / "out/runs/all-0/model/checkpoints").rename(tmp_path / "gone")
    (tmp_path / "out/runs/all-0/model/tokens/manifest.json").write_text("broken")
    with pytest.raises(BergamotError, match="T284"):
        CliRunner().invoke(app, command, catch_exceptions=False)
