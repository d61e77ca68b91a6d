import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from spacy_bergamot.kb.concept_table import ConceptTable
from tests.spacy_bergamot.conftest import GROUPS, write_concepts
from training.__main__ import app
from training.errors import BergamotError
from training.tasks.groups import GroupNames, choose, classify, folds


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
    assert result["seen"]["accuracy"] == result["unseen"]["accuracy"] == 100
    assert result["unseen"]["folds"] == 5
    assert result["unseen"]["macro_f1"] == 100
    assert result["unseen"]["macro_f1_spread"] == 0
    assert result["groups"] == {"DISO": 60, "CHEM": 60}


def test_unseen_concepts_cannot_be_learnt_by_heart():
    # A letter a concept: a concept's own names tell its group, other concepts' names do not.
    data = invented(concepts=24)
    names = [f"{chr(ord('a') + concept)}{n}" for n, concept in enumerate(data.concepts)]
    result = classify(Letters(), replace(data, names=names))
    assert result["seen"]["accuracy"] > 90
    assert result["unseen"]["accuracy"] < 75


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
    assert report["unseen"]["accuracy"] > report["unseen"]["majority"]
