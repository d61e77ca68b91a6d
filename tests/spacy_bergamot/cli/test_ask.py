"""`explain`, `search` and `info`."""

import json
from pathlib import Path

import torch

from spacy_bergamot.finder import Tagger
from spacy_bergamot.storage.bundle import FileBundle
from tests.spacy_bergamot.conftest import write_lm
from tests.spacy_bergamot.factories import invoke


def test_an_explanation(run):
    shown = run("explain", "Cold", "--lang", "ENG")
    assert shown == run("explain", "Cold", "--lang", "en")
    assert "C04" in shown
    assert "Decision: C04" in shown
    found = json.loads(run("explain", "Cold", "--json"))
    assert found["decision"] == "C04"
    assert "B033" in run("explain", "Cold", "--lang", "XYZ", status=1)


def test_search_and_info(run):
    assert "C01" in run("search", "hypertensions")
    assert json.loads(run("search", "hypertension", "--json"))[0]["concept_id"] == "C01"
    facts = json.loads(run("info", "--json"))
    assert facts["concepts"] == 10
    assert facts["checksums"] == "as written"
    assert "engine" in run("info")


def test_what_was_dropped_is_shown_as_far_as_is_asked(make_nlp, tmp_path: Path):
    make_nlp(semantic_groups=["ANAT"]).to_disk(tmp_path / "p")
    some = invoke("explain", tmp_path / "p", "heart attack", "--dropped", 1).output
    assert "semantic type" in some
    assert "more dropped" in some
    none = invoke("explain", tmp_path / "p", "heart attack", "--dropped", 0).output
    assert "semantic type" not in none
    assert "Decision: C06" in none


def test_a_changed_file_is_named_by_info(saved: Path):
    path = saved / "bergamot_linker/encoder/tokenizer.json"
    path.write_text(path.read_text("utf8") + " ", "utf8")
    assert "tokenizer.json" in invoke("info", saved, status=1).output


def test_names_without_a_language_are_counted_by_that(saved: Path, tmp_path: Path):
    change = {"action": "add", "concept_id": "C01", "alias": "HTN"}
    (tmp_path / "changes.jsonl").write_text(json.dumps(change), "utf8")
    invoke("update", saved, tmp_path / "changes.jsonl", tmp_path / "updated")
    (line,) = [
        line for line in invoke("info", tmp_path / "updated").output.splitlines()
        if line.startswith("languages")
    ]  # fmt: skip
    assert "none 1" in line


def test_info_says_what_a_finder_finds(make_nlp, tmp_path: Path):
    torch.manual_seed(0)
    Tagger.begin(write_lm(tmp_path / "lm"), ["DISO", "PROC"]).save(tmp_path / "finder")
    nlp = make_nlp()
    nlp.add_pipe("bergamot_finder", before="bergamot_linker").set_files(
        FileBundle(tmp_path / "finder")
    )
    nlp.to_disk(tmp_path / "p")
    assert "bergamot_finder finds DISO, PROC" in invoke("info", tmp_path / "p").output
