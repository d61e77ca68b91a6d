import logging
from dataclasses import asdict
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.filters import Filters
from tests.training.preprocess.conftest import line, name, relation, write_release
from training.__main__ import app as training
from training.errors import BergamotError
from training.preprocess.cli import CONFIG, preprocess_cli
from training.preprocess.training_set import TrainingSet

app = typer.Typer()
app.command()(preprocess_cli)


@pytest.fixture
def meta(tmp_path: Path) -> Path:
    names = [
        name(f"C{c}", f"{word} {c}", language, SUPPRESS="O" if word == "old" else "N")
        for c in range(4)
        for word, language in [
            ("x", "ENG"),
            ("y", "ENG"),
            ("z", "SPA"),
            ("w", "FRE"),
            ("old", "ENG"),
        ]
    ]
    types = [line("MRSTY", CUI="C1", TUI="T047"), line("MRSTY", CUI="C2", TUI="T121")]
    return write_release(
        tmp_path / "META",
        MRCONSO=[*names, "broken"],
        MRREL=[relation("C1", "C2", "PAR", "inverse_isa"), relation("C1", "C1")],
        MRSTY=types,
    )


def invoke(meta: Path, *options: str) -> tuple[str, TrainingSet]:
    out = meta.parent / "out"
    arguments = [str(meta), str(out), "--max-malformed", "0.1", "--held-out", "0", *options]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output, TrainingSet.open(out / "train")


def test_it_prints_a_summary_and_logs_seconds(meta: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        output, data = invoke(meta)
    rows = {text[:16].strip(): text[17:] for text in output.splitlines()}
    assert rows == {
        "concepts": "4",
        "aliases": "16 (ENG 8, FRE 4, SPA 4)",
        "relations": "1",
        "edges": "1 of 1 types",
        "pairs": "20 (ENG 4, ENG|FRE 8, ENG|SPA 8)",
        "training names": "16",
        "held-out names": "none",
        "malformed rows": "MRCONSO 1",
        "dropped rows": "names: suppressed 4, relations: from a concept to itself 1",
    }
    assert len(data.pairs) == 20
    assert "Drawing the pairs: 0." in caplog.text


@pytest.mark.parametrize(
    ("options", "concepts", "pairs"),
    [
        (["--languages", "ENG"], 4, 4),
        (["--languages", "SPA, ENG"], 4, 12),
        (["--sources", "SRC", "--term-types", "SY"], 4, 20),
        (["--keep-suppressed"], 4, 36),
        (["--suppress"], 4, 20),
        (["--semantic-types", "T047"], 1, 5),
        (["--semantic-groups", "DISO,CHEM"], 2, 10),
        (["--cap-english", "0"], 4, 16),
        (["--cap-crosslingual", "1"], 4, 12),
        (["--cap-monolingual", "0"], 4, 20),
        (["--all-crosslingual"], 4, 24),
        (["--english-crosslingual-only"], 4, 20),
    ],
)
def test_options_reach_the_filters_and_the_pairs(
    options: list[str], concepts: int, pairs: int, meta: Path
) -> None:
    _, data = invoke(meta, *options)
    assert (data.n_concepts, len(data.pairs)) == (concepts, pairs)


def test_options_reach_the_graph_and_the_split(meta: Path) -> None:
    _, data = invoke(meta, "--add-inverses", "--relation-label", "rela")
    assert data.relation_labels == ["inverse_isa", "isa"]
    output, data = invoke(meta, "--held-out", "0.5", "--seed", "3")
    assert "held-out names   none" not in output
    assert data.manifest["options"]["seed"] == 3


def test_without_a_training_set_the_rest_is_the_same(meta: Path) -> None:
    arguments = ["--max-malformed", "0.1", "--held-out", "0.3"]
    outputs = {}
    for folder, options in {"with": [], "without": ["--no-training-set"]}.items():
        out = meta.parent / folder
        result = CliRunner().invoke(app, [str(meta), str(out), *arguments, *options])
        assert result.exit_code == 0, result.output
        outputs[folder] = result.output.splitlines()
    assert (meta.parent / "with/train/manifest.json").is_file()
    assert {path.name for path in (meta.parent / "without").iterdir()} == {"kb", "eval"}
    for part in ("kb", "eval"):
        first, second = (meta.parent / folder / part / "manifest.json" for folder in outputs)
        assert first.read_bytes() == second.read_bytes()
    less = [row for row in outputs["with"] if row not in outputs["without"]]
    assert [row[:16].strip() for row in less] == ["edges", "pairs", "training names"]


def test_a_short_name_length_drops_names(meta: Path) -> None:
    with pytest.raises(BergamotError, match="'names: too long': 16"):
        invoke(meta, "--max-name-length", "2")


def test_malformed_rows_stop_it_by_default(meta: Path) -> None:
    with pytest.raises(BergamotError, match=r"(?s)T103.*--max-malformed"):
        CliRunner().invoke(app, [str(meta), str(meta.parent / "o")], catch_exceptions=False)


@pytest.mark.parametrize("option", ["--cap-english=-1", "--seed=-1", "--max-malformed=2"])
def test_numbers_out_of_range_are_refused(option: str, meta: Path) -> None:
    result = CliRunner().invoke(app, [str(meta), "out", option])
    assert result.exit_code == 2


def test_every_option_is_explained() -> None:
    output = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).output
    for option in ("languages", "keep-suppressed", "cap-monolingual", "all-crosslingual", "seed"):
        assert f"--{option}" in output


def written(folder: Path, text: str) -> Path:
    """Return a config in which some lines have been changed to others."""
    path = folder / "mine.cfg"
    path.write_text(text, "utf8")
    return path


def test_a_config_has_the_defaults_and_options_override_them(meta: Path) -> None:
    text = CONFIG.read_text("utf8")
    changed = text.replace('languages = ""', 'languages = "ENG"', 1).replace("seed = 0", "seed = 7")
    config = ["--config", str(written(meta.parent, changed))]
    _, data = invoke(meta, *config)
    assert len(data.pairs) == 4
    assert data.manifest["options"]["seed"] == 7
    for options in ([*config, "--languages", "ENG,SPA"], ["--languages", "ENG,SPA", *config]):
        assert len(invoke(meta, *options)[1].pairs) == 12
    changed = text.replace("suppress = true", "suppress = false").replace("true", "false")
    config = ["--config", str(written(meta.parent, changed.replace("set = false", "set = true")))]
    assert len(invoke(meta, *config, "--suppress", "--english-crosslingual-only")[1].pairs) == 20


def test_the_defaults_of_the_filters_are_those_of_the_kb_command(meta: Path) -> None:
    invoke(meta)
    table = ConceptTable.open(meta.parent / "out/kb")
    defaults = {key: list(v) if type(v) is tuple else v for key, v in asdict(Filters()).items()}
    assert table.manifest["options"] == {**defaults, "add_inverses": False}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("seed = 0", "", "T211.*mine.cfg.*missing: seed; unknown: none"),
        ("seed = 0", "sede = 0", "T211.*missing: seed; unknown: sede"),
        ("[preprocess]", "[train]", "T211.*unknown: train"),
        ("[preprocess]", "", "T210.*mine.cfg"),
        ("seed = 0", "seed 0", "T210.*mine.cfg"),
    ],
)
def test_a_config_with_other_settings_is_refused(old: str, new: str, said: str, meta: Path) -> None:
    config = written(meta.parent, CONFIG.read_text("utf8").replace(old, new))
    with pytest.raises(BergamotError, match=f"(?s){said}"):
        invoke(meta, "--config", str(config))
    with pytest.raises(BergamotError, match=r"T210.*none\.cfg"):
        invoke(meta, "--config", str(meta.parent / "none.cfg"))


@pytest.mark.parametrize("setting", ["held_out = 'much'", "seed = -1", "suppress = 3"])
def test_a_value_of_another_kind_in_a_config_is_refused(setting: str, meta: Path) -> None:
    name = setting.split()[0]
    lines = CONFIG.read_text("utf8").splitlines()
    text = "\n".join(setting if line.startswith(f"{name} =") else line for line in lines)
    config = written(meta.parent, text.replace("'", '"'))
    result = CliRunner().invoke(app, [str(meta), "out", "--config", str(config)])
    assert result.exit_code == 2
    assert f"--{name.replace('_', '-')}" in result.output


@pytest.mark.parametrize("option", ["--pairs", "--bitext"])
@pytest.mark.parametrize("line", ["", "same{0}Same\n"])
def test_a_file_without_pairs_is_named(tmp_path: Path, option: str, line: str) -> None:
    whole, poor = tmp_path / "whole.txt", tmp_path / "poor.txt"
    bars, start = ("||", "c||") if option == "--pairs" else ("\t", "")
    whole.write_text(f"{start}one{bars}two\n")
    poor.write_text(start + line.format(bars) if line else "")
    arguments = ["pairs", str(tmp_path / "out"), option, str(whole), option, str(poor)]
    result = CliRunner().invoke(training, arguments)
    assert "[T296]" in str(result.exception)
    assert str(poor) in str(result.exception)
    assert not (tmp_path / "out").exists()
