"""`align --method ontoea` and `both`, as a user runs them."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.build import table_of
from tests.spacy_bergamot.conftest import write_lm
from tests.training.align.command import mapped, rows, run
from tests.training.align.conftest import many
from training.align.confidence import Confidence, tuned
from training.align.measure import measured
from training.align.ontoea import graphs, similarity
from training.align.ontoea.graphs import Graphs
from training.align.ontoea.schedule import Settings
from training.align.ontoea.train import train
from training.align.pairs import Pairs

COUNT = 60


def with_parents(prefix: str) -> str:
    """Return concepts in a tree whose every third is called otherwise on each side."""
    header, *lines = many(prefix, COUNT).splitlines()
    parents = ["", *(f"{prefix}:{(number - 1) // 3}" for number in range(1, COUNT))]
    both = zip(lines, parents, strict=True)
    return "\n".join([f"{header}\tparents", *(f"{line}\t{parent}" for line, parent in both)]) + "\n"


@pytest.fixture(scope="module")
def lm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a language model that knows the names' words, so that their vectors differ."""
    words = ["disease", "place", "of", "a", "b", *map(str, range(COUNT))]
    return write_lm(tmp_path_factory.mktemp("lm") / "lm", words=words)


@pytest.fixture
def given(tmp_path: Path, lm: Path, monkeypatch) -> list[object]:
    """Return two sides in trees, the output, 40 seeds and all pairs as the reference."""
    for prefix in ("A", "B"):
        (tmp_path / f"{prefix}.tsv").write_text(with_parents(prefix), "utf8")
    lines = [f"A:{number}\tskos:exactMatch\tB:{number}\n" for number in range(COUNT)]
    header = "subject_id\tpredicate_id\tobject_id\n"
    (tmp_path / "all.tsv").write_text(header + "".join(lines), "utf8")
    (tmp_path / "seeds.tsv").write_text(header + "".join(lines[:40]), "utf8")
    quick = Settings(epochs=dict.fromkeys("EOCM", 1) | {"A": 20}, iterations=4)
    monkeypatch.setattr(similarity, "train", partial(train, settings=quick))
    options = ("--lm", lm, "--seeds", tmp_path / "seeds.tsv", "--reference", tmp_path / "all.tsv")
    return [tmp_path / "A.tsv", tmp_path / "B.tsv", tmp_path / "out.sssom.tsv", *options]


@pytest.mark.parametrize("method", ["ontoea", "both"])
def test_what_it_matches_is_merged_by_the_importer(method, given, tmp_path: Path):
    said = run(*given, "--method", method)
    found = mapped(given[2])
    right = [one for one, other in found.items() if one[1:] == other[1:]]
    assert len(right) > (30 if method == "both" else 15)
    assert "hits@1 (CSLS) " in said
    assert "reference: p " in said
    assert not (tmp_path / "out.ontoea").exists()
    justified = {row["mapping_justification"] for row in rows(given[2])}
    assert justified <= {
        "semapv:SemanticSimilarityThresholdMatching",
        "semapv:LexicalMatching" if method == "both" else "",
    }
    table_of([*given[:2], given[2]], tmp_path / "kb")
    kb = ConceptTable.open(tmp_path / "kb")
    assert len(kb) == 2 * COUNT - len(found)
    assert "taken" in (tmp_path / "out.html").read_text("utf8")


def test_names_are_measured_by_a_reference_too(given):
    said = run(*given)
    assert "reference: p " in said
    assert "ontoea" not in said


def test_too_few_seeds_are_refused(given):
    seeds = given.index("--seeds")
    assert "has 0 seeds" in run(*given[:seeds], "--method", "ontoea", status=1)
    path = given[seeds + 1]
    path.write_text("\n".join(path.read_text("utf8").splitlines()[:21]), "utf8")
    assert "has 20 seeds" in run(*given, "--method", "both", status=1)
    assert not given[2].exists()


def test_a_side_without_parents_is_refused(given):
    given[1].write_text(many("B", COUNT), "utf8")
    assert "right side has no concept with a parent" in run(*given, "--method", "ontoea", status=1)


def test_a_side_too_large_is_refused(given, monkeypatch):
    monkeypatch.setattr(graphs, "MOST", COUNT - 1)
    assert "left side has 60 concepts" in run(*given, "--method", "ontoea", status=1)


def test_a_hierarchy_is_read_from_parents_and_children(given, tmp_path: Path):
    for name in ("A", "B"):
        table_of([tmp_path / f"{name}.tsv"], tmp_path / name)
    left, right = (ConceptTable.open(tmp_path / name) for name in ("A", "B"))
    found = Graphs.of(left, right)
    assert found.sizes == (COUNT, COUNT)
    triples = {tuple(triple) for triple in found.triples.tolist()}
    expected = {
        (start + table.row(f"{name}:{n}"), 0, start + table.row(f"{name}:{(n - 1) // 3}"))
        for name, table, start in (("A", left, 0), ("B", right, COUNT))
        for n in range(1, COUNT)
    }
    assert triples == expected
    assert found.members.sum() == 2 * COUNT
    assert "T047" in found.classes.ids


def test_the_threshold_is_that_of_the_best_f1():
    pairs = Pairs(np.array([0, 0, 1, 2, 3]), np.array([0, 1, 1, 2, 0]), np.zeros((5, 0)))
    confidence = Confidence(np.array([0.1, 0.3, 0.25, 0.2, 0.9]), 0.5)
    # The best of 0 (0.3) and of 1 (0.25) are right, that of 2 (0.2) is not; 3 is not known.
    found = tuned(pairs, confidence, np.array([[0, 1], [1, 1], [2, 0]]))
    assert found.threshold == 0.25
    assert (found.values == confidence.values).all()


def test_pairs_are_measured_by_a_reference():
    pairs = Pairs(
        np.array([0, 0, 1, 2, 3]), np.array([0, 1, 1, 2, 3]), np.zeros((5, 1)), names=("score",)
    )
    confidence = Confidence(np.array([0.6, 0.9, 0.4, 0.8, 0.7]), 0.5)
    gold = np.array([[0, 0], [1, 1]])
    # Of 0-1, 2-2 and 3-3, which are taken, the last one's left concept is a seed's.
    found = measured(pairs, confidence, gold, left_out=np.array([3]))
    assert found == {
        "p": 0, "r": 0, "f1": 0, "hits@1": 0.5, "hits@5": 1, "hits@10": 1, "mrr": 0.75,
    }  # fmt: skip
    found = measured(pairs, confidence, np.array([[0, 1], [1, 1]]), left_out=np.array([3]))
    assert (found["p"], found["r"], found["f1"]) == (0.5, 0.5, 0.5)
