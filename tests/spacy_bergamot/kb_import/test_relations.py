from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_bergamot.kb_import.filters import Filters
from tests.training.preprocess.conftest import build, name, relation

NAMES = [name(f"C{i}", f"{word} {i}") for i in range(4) for word in ("x", "y")]


def test_relations_keep_direction_labels_and_source(tmp_path: Path) -> None:
    rows = [relation("C2", "C1", "CHD", "isa", SAB="B"), relation("C1", "C3", "RO")] * 2
    built = build(tmp_path, NAMES, rows)
    kept = built.rows("relations", "head", "rel", "rela", "tail", "source")
    assert kept == [("1", "RO", "", "3", "SRC"), ("2", "CHD", "isa", "1", "B")]
    assert built.counts["relations_by_label"] == {"CHD|isa": 1, "RO|": 1}


def test_dropped_relations_are_counted_by_reason(tmp_path: Path) -> None:
    rows = [
        relation("C1", "C1"),
        relation("C1", "C9"),
        relation("C9", "C1"),
        relation("C9", "C9"),
        relation("C1", "C2", SUPPRESS="O"),
        relation("C1", "C9", SUPPRESS="Y"),
        relation("C1", "C2", SAB="OTHER"),
        relation("C1", "C3"),
    ]
    built = build(tmp_path, NAMES, rows, filters=Filters(sources=("SRC",)))
    assert built.edges() == [("C3", "C1", "RO")]
    assert built.counts["dropped"] == {
        "relations: concept not in the table": 3,
        "relations: from a concept to itself": 1,
        "relations: source": 1,
        "relations: suppressed": 2,
    }


def test_suppressed_relations_stay_where_asked(tmp_path: Path) -> None:
    rows = [relation("C1", "C2", SUPPRESS="O")]
    built = build(tmp_path, NAMES, rows, filters=Filters(suppress=()))
    assert built.edges() == [("C2", "C1", "RO")]


INVERSES = {
    ("PAR", "inverse_isa"): ("CHD", "isa"),
    ("RB", "has_tradename"): ("RN", "tradename_of"),
    ("RO", "finding_site_of"): ("RO", "has_finding_site"),
    ("RO", "may_treat"): ("RO", "inverse_may_treat"),
    ("AQ", ""): ("QB", ""),
    ("SIB", ""): ("SIB", ""),
}


def test_inverses_are_added_both_ways(tmp_path: Path) -> None:
    labels = INVERSES | {value: key for key, value in INVERSES.items()}
    for number, ((rel, rela), (back, back_rela)) in enumerate(labels.items()):
        folder = tmp_path / str(number)
        built = build(folder, NAMES, [relation("C1", "C2", rel, rela)], add_inverses=True)
        found = built.rows("relations", "head", "rel", "rela", "tail")
        assert found == [("1", rel, rela, "2"), ("2", back, back_rela, "1")]


def test_inverses_that_are_there_are_not_doubled(tmp_path: Path) -> None:
    rows = [relation("C1", "C2", "PAR", "inverse_isa"), relation("C2", "C1", "CHD", "isa")]
    built = build(tmp_path, NAMES, rows, add_inverses=True)
    assert len(built.edges()) == 2


triples = st.tuples(
    st.integers(0, 5),
    st.integers(0, 5),
    st.sampled_from(["PAR", "CHD"]),
    st.sampled_from(["", "a"]),
)


@settings(max_examples=25, deadline=None)
@given(rows=st.lists(triples, max_size=30), label=st.sampled_from(["rel", "rela"]))
def test_edges_equal_those_of_plain_loops(
    rows: list[tuple[int, int, str, str]], label: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lines = [relation(f"C{a}", f"C{b}", rel, rela) for a, b, rel, rela in rows]
    built = build(tmp_path_factory.mktemp("r"), NAMES, lines, relation_label=label)
    expected = {
        (f"C{b}", f"C{a}", rela if label == "rela" and rela else rel)
        for a, b, rel, rela in rows
        if a != b and a < 4 and b < 4
    }
    assert built.edges() == sorted(expected)
    assert built.train.relation_labels == sorted({edge[2] for edge in expected})
    assert built.manifests["train"]["edges"] == len(expected)
