from pathlib import Path

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.training.preprocess.conftest import build, name, relation
from training.preprocess.graph import homonym_pairs

NAMES = [name(f"C{i}", f"{word} {i}") for i in range(4) for word in ("x", "y")]


def test_a_node_is_told_by_the_heads_of_its_relations(tmp_path: Path) -> None:
    """MRREL's `C1|PAR|C2` is an edge from C1 to C2: the neighbours of C2 have C1."""
    built = build(tmp_path, NAMES, [relation("C1", "C2", "PAR"), relation("C3", "C2", "RO")])
    assert built.edges() == [("C2", "C1", "PAR"), ("C2", "C3", "RO")]
    assert built.train.graph_indptr.tolist() == [0, 0, 0, 2, 2]
    assert built.train.graph_sources.tolist() == [1, 3]
    assert built.train.graph_relations.tolist() == [0, 1]
    assert built.train.relation_labels == ["PAR", "RO"]


def test_edges_are_counted_once_per_label(tmp_path: Path) -> None:
    rows = [
        relation("C1", "C2", "RO", "treats"),
        relation("C1", "C2", "RO", "treats", SAB="OTHER"),
        relation("C1", "C2", "RO", "prevents"),
        relation("C1", "C2", "RO"),
    ]
    coarse = build(tmp_path / "rel", NAMES, rows)
    assert coarse.edges() == [("C2", "C1", "RO")]
    fine = build(tmp_path / "rela", NAMES, rows, relation_label="rela")
    assert fine.edges() == [("C2", "C1", label) for label in ("RO", "prevents", "treats")]


def test_a_label_that_is_rel_here_and_rela_there_is_one(tmp_path: Path) -> None:
    rows = [relation("C1", "C2", "RO", "RQ"), relation("C1", "C3", "RQ")]
    built = build(tmp_path, NAMES, rows, relation_label="rela")
    assert built.train.relation_labels == ["RQ"]


@settings(max_examples=50, deadline=None)
@given(
    named=st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30),
    most=st.integers(1, 7),
)
def test_homonyms_equal_those_of_plain_loops(named: set[tuple[int, int]], most: int) -> None:
    schema = {"concept": pl.Int32, "name": pl.Int32}
    units = pl.DataFrame([*named, *named], schema=schema, orient="row")
    pairs, left_out = homonym_pairs(units, most=most)
    owners = {text: {c for c, t in named if t == text} for _, text in named}
    expected = {
        (c, d)
        for them in owners.values()
        if len(them) <= most
        for c in them
        for d in them
        if c != d
    }
    assert pairs.rows() == sorted(expected)
    assert left_out == sum(len(them) > most for them in owners.values())


def test_a_name_of_very_many_concepts_makes_no_homonyms(tmp_path: Path) -> None:
    rows = [name(f"C{i:04d}", text) for i in range(1001) for text in ("common", f"own {i}")]
    built = build(tmp_path, [*rows, name("D1", "own 7"), name("D1", "own d")])
    assert built.manifests["train"]["names_of_too_many_concepts"] == 1
    assert {cui: them for cui, them in built.homonyms().items() if them} == {
        "C0007": ["D1"],
        "D1": ["C0007"],
    }
