import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.text import normalize
from tests.spacy_bergamot.conftest import GROUPS, write_concepts
from tests.training.preprocess.conftest import line, name, preprocessed, write_release
from training.__main__ import app
from training.errors import BergamotError
from training.preprocess.training_set import TrainingSet
from training.tasks.groups import GroupNames, choose, choose_by_training, classify, folds
from training.tasks.scores import AVERAGES


class Letters:
    """An encoder that knows the first letter of a name, and nothing else."""

    def encode(self, names: list[str]) -> np.ndarray:
        vectors = np.zeros((len(names), 26), dtype=np.float32)
        vectors[np.arange(len(names)), [ord(name[0]) - ord("a") for name in names]] = 1
        return vectors


def invented(concepts: int = 40) -> GroupNames:
    """Concepts of three names; the group is told by the first letter of every name."""
    labels = np.repeat(np.arange(concepts) % 2, 3)
    names = [f"{'ab'[label]}{row}" for row, label in enumerate(labels)]
    return GroupNames(names, labels, np.repeat(np.arange(concepts), 3), ["DISO", "CHEM"])


def test_folds_keep_equal_keys_together_and_are_even():
    keys = np.repeat(np.arange(50), 3)
    fold = folds(keys)
    assert all(len(set(fold[keys == key])) == 1 for key in range(50))
    assert np.bincount(fold).tolist() == [30] * 5


def test_a_linear_classifier_learns_what_the_vectors_tell():
    result = classify(Letters(), invented())
    for kind in ("by_name", "by_concept"):
        assert result[kind]["folds"] == 5
        for figure in AVERAGES:
            assert (result[kind][figure], result[kind][f"{figure}_spread"]) == (100, 0)
    assert result["groups"] == {"DISO": 60, "CHEM": 60}


def test_other_concepts_cannot_be_learnt_by_heart():
    # A letter a concept: a concept's own names tell its group, other concepts' names do not.
    data = invented(concepts=24)
    names = [f"{chr(ord('a') + concept)}{n}" for n, concept in enumerate(data.concepts)]
    result = classify(Letters(), replace(data, names=names))
    assert result["by_name"]["accuracy"] > 80
    assert result["by_concept"]["accuracy"] < 75


def test_weighted_recall_is_accuracy_and_precision_counts_what_is_guessed():
    """Every name has the same vector, so that the larger group is guessed: two of three."""
    labels = np.array([0, 0, 1] * 20)
    names = [f"z{row}" for row in range(60)]
    data = GroupNames(names, labels, np.arange(60), ["DISO", "CHEM"])
    found = classify(Letters(), data)["by_name"]
    shares = 1 - np.array([(labels[folds(np.arange(60)) == fold]).mean() for fold in range(5)])
    assert found["accuracy"] == found["weighted_recall"] == pytest.approx(100 * shares.mean())
    assert found["weighted_precision"] == pytest.approx(100 * (shares**2).mean())
    assert found["weighted_f1"] == pytest.approx(100 * (2 * shares**2 / (1 + shares)).mean())


def test_names_are_of_one_group_and_one_concept(concepts: Path):
    table = ConceptTable.open(concepts)
    data = choose(table, groups=["DISO", "CHEM"])
    assert "cold" not in data.names  # names C04 and C05, of two groups
    assert "diabetes" in data.names
    assert {data.groups[label] for label in data.labels} == {"DISO", "CHEM"}
    assert len(set(data.names)) == len(data.names)
    assert len(choose(table).groups) == 4
    with pytest.raises(BergamotError, match="T150"):
        choose(table, groups=["DISO", "NONE"])


def test_the_command(tmp_path: Path, lm: Path):
    words = (("fever", "cough"), ("aspirin", "insulin"))
    known = {
        f"C{n:02d}": (("T047", "T121")[n % 2], {"ENG": [f"{word} {n}" for word in words[n % 2]]})
        for n in range(20)
    }
    assert GROUPS["T047"] != GROUPS["T121"]
    kb = write_concepts(tmp_path / "kb", known)
    output = tmp_path / "groups.json"
    result = CliRunner().invoke(app, ["tasks", "groups", str(kb), str(lm), str(output)])
    assert result.exit_code == 0, result.output
    report = json.loads(output.read_text())
    assert report["names"] == 40
    assert report["by_concept"]["accuracy"] > report["by_concept"]["majority"]


def release(folder: Path) -> Path:
    """Preprocess disorders and chemicals of eight names each, three in ten of them held out."""
    kinds = (("T047", "disorder"), ("T121", "chemical"))
    known = [(f"C{n:02d}", *kinds[n % 2]) for n in range(40)]
    rows = [name(cui, f"{kind} {cui} {letter}") for cui, _, kind in known for letter in "abcdefgh"]
    rows += [name(f"C{n}", f"single {n}") for n in (40, 41)]  # in the training set, in no pair
    types = [line("MRSTY", CUI=cui, TUI=tui) for cui, tui, _ in known]
    types += [line("MRSTY", CUI=f"C{n}", TUI=kinds[n % 2][0]) for n in (40, 41)]
    meta = write_release(folder / "META", MRCONSO=rows, MRSTY=types)
    preprocessed(meta, folder, held_out=0.3)
    return folder


def test_seen_names_are_in_pairs_and_unseen_ones_not_in_the_training_set(tmp_path: Path):
    folder = release(tmp_path)
    lines = (folder / "eval/queries/ENG.txt").read_text("utf8").splitlines()
    held_out = {normalize(entry.split("||")[1]) for entry in lines}
    table, training_set = ConceptTable.open(folder / "kb"), TrainingSet.open(folder / "train")
    kinds = choose_by_training(table, training_set)
    assert set(kinds["unseen"].names) == held_out
    assert len(kinds["seen"].names) == len(held_out) > 50
    assert not held_out & set(kinds["seen"].names)
    assert not [text for text in kinds["seen"].names if text.startswith("single")]
    few = choose_by_training(table, training_set, count=20, seed=1)
    assert [len(data.names) for data in few.values()] == [20, 20]
    assert few["seen"].names != choose_by_training(table, training_set, count=20)["seen"].names


def test_names_of_graded_pairs_were_trained_on(tmp_path: Path):
    folder = release(tmp_path)
    table, training_set = ConceptTable.open(folder / "kb"), TrainingSet.open(folder / "train")
    texts = training_set.names.to_pylist()
    graded = np.array([[40, texts.index("single 40"), 41, texts.index("single 41")]])
    alone = replace(training_set, pairs=training_set.pairs[:0], graded_pairs=graded)
    assert choose_by_training(table, alone)["seen"].names == ["single 40", "single 41"]


def test_the_command_by_what_was_trained_on(tmp_path: Path, lm: Path):
    folder = release(tmp_path)
    output = tmp_path / "groups.json"
    paths = map(str, (folder / "kb", lm, output))
    options = ["--training-set", str(folder / "train"), "--group", "DISO", "--group", "CHEM"]
    result = CliRunner().invoke(app, ["tasks", "groups", *paths, *options])
    assert result.exit_code == 0, result.output
    report = json.loads(output.read_text())
    assert set(report) == {"seen", "unseen"}
    for kind in report.values():
        assert kind["names"] == report["seen"]["names"]
        assert kind["by_name"]["weighted_recall"] == kind["by_name"]["accuracy"]
        assert kind["by_name"]["weighted_f1"] > kind["by_name"]["majority"]


def test_a_training_set_of_all_names_has_no_unseen_ones(tmp_path: Path):
    folder = release(tmp_path)
    preprocessed(folder / "META", tmp_path / "all")
    table = ConceptTable.open(folder / "kb")
    with pytest.raises(BergamotError, match=r"T159.*unseen"):
        choose_by_training(table, TrainingSet.open(tmp_path / "all/train"))
