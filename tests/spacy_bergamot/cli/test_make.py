"""`index`, `update` and `calibrate`: what is refused, before the work and in one line."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import huggingface_hub
import numpy as np
import pytest
import spacy
from typer.testing import CliRunner

from spacy_bergamot.cli import bergamot
from spacy_bergamot.encoder.settings import EncoderSettings
from spacy_bergamot.encoder.text_encoder import TextEncoder, fingerprint
from spacy_bergamot.errors import BergamotError
from spacy_bergamot.linking.settings import LinkerSettings
from tests.plain_models import write_bert


def invoke(*arguments: object, status: int = 0) -> str:
    result = CliRunner().invoke(bergamot, [str(argument) for argument in arguments])
    assert result.exit_code == status, result.output
    return result.output


@pytest.mark.parametrize(
    ("output", "options", "code"),
    [
        ("file", [], "B101"),
        ("file/below", [], "B007"),
        ("p", ["--lang", "klingon"], "B014"),
        ("p", ["--engine", "annoy"], "B014"),
        ("p", ["--pipeline", "nope"], "B046"),
        ("p", ["--pipeline", "file"], "B046"),
    ],
)
def test_what_cannot_be_is_said_before_the_names_are_encoded(
    concepts: Path, lm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    output: str, options: list[str], code: str,
):  # fmt: skip
    def encoded(*arguments: object, **more: object) -> None:
        raise AssertionError("names were encoded first")

    monkeypatch.setattr(TextEncoder, "encode_in_pieces", encoded)
    (tmp_path / "file").write_text("mine", "utf8")
    if "file" in options:
        options = [options[0], str(tmp_path / "file")]
    shown = invoke("index", concepts, lm, tmp_path / output, *options, status=1)
    (line,) = [line for line in shown.splitlines() if line.strip()]
    assert re.match(rf"✘ \[{code}", line)
    assert (tmp_path / "file").read_text("utf8") == "mine"


def test_a_folder_that_is_not_there_is_made(concepts: Path, lm: Path, tmp_path: Path):
    exact = ("--engine", "exact")
    output = tmp_path / "deep" / "er" / "p"
    named = ("--name", "ours", "--version", "2.1.0")
    invoke("index", concepts, lm, output, *exact, *named)
    nlp = spacy.load(output)
    assert (nlp.meta["name"], nlp.meta["version"]) == ("ours", "2.1.0")
    changes = tmp_path / "changes.jsonl"
    change = {"action": "add", "concept_id": "C10", "alias": "Pyrexie", "language": "GER"}
    changes.write_text(json.dumps(change) + "\n", "utf8")
    invoke("update", output, changes, tmp_path / "new" / "er" / "p")
    found = invoke("explain", tmp_path / "new" / "er" / "p", "Pyrexie", "--json")
    assert json.loads(found)["decision"] == "C10"

    assert "B107" in invoke("index", concepts, lm, tmp_path / "q", "--pipeline", output, status=1)
    invoke("index", concepts, lm, tmp_path / "q", *exact, "--pipeline", output, "--replace")
    assert spacy.load(tmp_path / "q").pipe_names == ["bergamot_mentions", "bergamot_linker"]


def test_missing_changes_and_gold_are_named(saved: Path, tmp_path: Path):
    for command in ("update", "calibrate"):
        missing = tmp_path / "none.jsonl"
        assert "B001" in invoke(command, "no_pipeline", missing, tmp_path / "o", status=1)
        assert "B108" in invoke(command, "no_pipeline", tmp_path, tmp_path / "o", status=1)
        (tmp_path / "f").write_text("", "utf8")
        assert "B101" in invoke(command, saved, tmp_path / "f", tmp_path / "f", status=1)


def test_models_as_others_publish_them(concepts: Path, tmp_path: Path, monkeypatch):
    snapshot = tmp_path / "hub/models--cambridge--sapbert/snapshots/abc"
    snapshot.parent.mkdir(parents=True)
    write_bert(snapshot)
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs/main").write_text("abc")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    options = ("--engine", "exact", "--pooling", "cls", "--prefix", "query: ", "--max-length", "9")
    invoke("index", concepts, "cambridge/sapbert", tmp_path / "p", *options)
    placed = tmp_path / "p/bergamot_linker/encoder"
    assert EncoderSettings.read(placed) == EncoderSettings("cls", 9, True, "query: ")
    encoder = TextEncoder.open(placed)
    written = encoder.tokenizer.encode("query: fever").ids
    assert encoder.tokenize(["Fever"]) == [written]
    assert "B104" in invoke("index", concepts, "cambridge/other", tmp_path / "q", status=1)


def test_a_prefix_changes_vectors_and_fingerprint_and_none_changes_neither(
    lm: Path, tmp_path: Path
):
    copy = Path(shutil.copytree(lm, tmp_path / "lm"))
    EncoderSettings("mean").write(copy)
    assert fingerprint(copy) == fingerprint(lm)
    plain = TextEncoder.open(copy).encode(["fever"])
    EncoderSettings("mean", prefix="heart ").write(copy)
    assert fingerprint(copy) != fingerprint(lm)
    assert not np.allclose(TextEncoder.open(copy).encode(["fever"]), plain)
    np.testing.assert_allclose(
        TextEncoder.open(copy).encode(["fever"]), TextEncoder.open(lm).encode(["heart fever"])
    )


def test_fewer_than_no_mentions_cannot_be_remembered():
    assert LinkerSettings(cache_size=0).cache_size == 0
    with pytest.raises(BergamotError, match=r"B037.*cache_size is -1.*at least 0"):
        LinkerSettings(cache_size=-1)


def test_nmslib_is_imported_without_a_word():
    code = (
        "import sys; from spacy_bergamot.index.engines.nmslib_file import import_nmslib\n"
        "assert import_nmslib() is import_nmslib() is sys.modules['nmslib']\n"
        "print('still heard', file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "still heard\n"


def test_an_id_is_searched_for(saved: Path):
    first = invoke("search", saved, "C06").splitlines()[0]
    assert first.split()[:2] == ["1.000", "C06"]
    assert invoke("search", saved, "c06").splitlines()[0] == first


def test_an_explanation_names_concepts_and_few_that_were_dropped(saved: Path):
    shown = invoke("explain", saved, "高血圧")
    assert "高血圧 (JPN, SRCJPN) = Hypertension" in shown
    assert "= Hypertension" not in invoke("explain", saved, "Hypertension").splitlines()[1]
    shown = invoke("explain", saved, "fever", "--lang", "JPN").splitlines()
    dropped = [line for line in shown if line.startswith("  dropped")]
    assert len(dropped) == 5
    (more,) = [line for line in shown if "more dropped" in line]
    every = more.split("--dropped ")[1].split()[0]
    shown = invoke("explain", saved, "fever", "--lang", "JPN", "--dropped", every)
    assert shown.count("  dropped") == int(every)
    assert "more dropped" not in shown
