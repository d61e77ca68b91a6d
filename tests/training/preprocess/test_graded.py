"""Graded pairs: HierCODER's scores, from MRHIER's paths and from relations."""

import csv
import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from tests.training.preprocess.conftest import (
    Run,
    line,
    name,
    preprocessed,
    relation,
    write_release,
)
from training.errors import BergamotError
from training.preprocess.graded import score

CHAIN = [f"A{depth}" for depth in range(6)]
"""Atoms of a path from the top to Blood Clot, of one concept each."""


def atom(number: int, text: str, aui: str | None = None, **values: str) -> str:
    return name(f"C{number}", text, AUI=aui or f"A{number}", **values)


def path(aui: str, *above: str) -> str:
    return line("MRHIER", CUI=aui.replace("A", "C"), AUI=aui, PTR=".".join(above), SUPPRESS="")


def graded(
    folder: Path,
    rows: Iterable[str],
    hier: Iterable[str] = (),
    relations: Iterable[str] = (),
    **options,
) -> Run:
    synonyms = [name(f"C{c}", f"synonym {c}", AUI=f"S{c}") for c in range(10)]
    tables = {"MRCONSO": [*rows, *synonyms], "MRREL": relations, "MRHIER": hier}
    meta = write_release(folder / "META", **{k: list(v) for k, v in tables.items()})
    settings = {"hierarchy": "mrhier" if hier else "relations", **options}
    return Run(folder / "out", preprocessed(meta, folder / "out", **settings))


def pairs(run: Run) -> dict[tuple[str, str], float]:
    """Return the score of every pair of texts, after a look that the concepts are theirs."""
    names = run.node_names()
    found = {}
    for row, value in zip(run.train.graded_pairs.tolist(), run.train.graded_scores, strict=True):
        for concept, text in (row[:2], row[2:]):
            assert run.strings[text] in names[run.cuis[concept]]
        found[run.strings[row[1]], run.strings[row[3]]] = round(float(value), 3)
    return found


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (range(6), range(5), 0.9),  # the thesis's table of Blood Clot: 0.90, 0.61, 0.38
        (range(6), range(4), 0.613),
        (range(6), range(3), 0.387),
        (range(4), range(2), 0.5),
        (range(3), range(1), 0.369),
        (range(2), range(1), 0.9),
        (range(3), range(3), 0.9),
        (range(1), range(1), 0.9),
        (range(3), range(5, 9), 0.0),
    ],
)
def test_the_score_is_the_thesis_s(one: range, other: range, expected: float):
    assert score(set(one), set(other)) == pytest.approx(expected, abs=5e-4)
    assert score(set(other), set(one)) == score(set(one), set(other))


@pytest.mark.parametrize("nodes", range(2, 9))
def test_on_a_path_it_depends_on_nodes_and_distance(nodes: int):
    for distance in range(1, nodes):
        expected = min(0.9, 1 - math.log(distance) / math.log(nodes))
        found = score(set(range(nodes)), set(range(nodes - distance)))
        assert found == pytest.approx(expected)


def test_a_name_is_paired_with_its_ancestors_but_the_two_topmost(tmp_path: Path):
    rows = [atom(depth, f"level {depth}") for depth in range(6)]
    run = graded(tmp_path, rows, [path(a, *CHAIN[:i]) for i, a in enumerate(CHAIN)])
    of_lowest = {b: s for (a, b), s in pairs(run).items() if a == "level 5"}
    assert of_lowest == {"level 4": 0.9, "level 3": 0.613, "level 2": 0.387}
    assert {a for a, _ in pairs(run)} == {"level 5", "level 4", "level 3"}
    above = run.train.ancestors[slice(*run.train.ancestors_indptr[5:7])]
    assert [run.cuis[c] for c in above] == ["C0", "C1", "C2", "C3", "C4"]


def test_the_paths_of_an_atom_with_two_parents_unite(tmp_path: Path):
    """T(A5) is A0 to A5; T(A4) lacks A3 and A5, T(A3) lacks A4 and A5."""
    rows = [atom(depth, f"level {depth}") for depth in range(6)]
    up = {"A0": [[]], "A1": [["A0"]], "A2": [["A0", "A1"]]}
    up |= {"A3": [["A0", "A1", "A2"]], "A4": [["A0", "A1", "A2"]]}
    up |= {"A5": [["A0", "A1", "A2", "A3"], ["A0", "A1", "A2", "A4"]]}
    run = graded(tmp_path, rows, [path(a, *ptr) for a, every in up.items() for ptr in every])
    near = 1 - math.log(2) / math.log(6)
    of_lowest = {b: s for (a, b), s in pairs(run).items() if a == "level 5"}
    far = 1 - math.log(3) / math.log(6)
    expected = {"level 4": near, "level 3": near, "level 2": far}
    assert of_lowest == pytest.approx(expected, abs=5e-4)


def test_each_path_for_itself(tmp_path: Path):
    """Both long paths of A5 have five nodes; on the short one A2 is one of the two topmost."""
    rows = [atom(depth, f"level {depth}") for depth in range(6)]
    up = {"A2": [["A0", "A1"]], "A3": [["A0", "A1", "A2"]], "A4": [["A0", "A1", "A2"]]}
    up["A5"] = [["A0", "A1", "A2", "A3"], ["A0", "A1", "A2", "A4"], ["A0", "A2"]]
    hier = [path(a, *ptr) for a, every in up.items() for ptr in every]
    hier += [path("A5", "A0", "A5", "A4"), path("X9", "A0")]
    run = graded(tmp_path, rows, hier, hierarchy="mrhier_rows")
    found = pairs(run)
    far = round(1 - math.log(2) / math.log(5), 3)
    of_lowest = {b: s for (a, b), s in found.items() if a == "level 5"}
    assert of_lowest == {"level 4": 0.9, "level 3": 0.9, "level 2": far}
    assert {pair: s for pair, s in found.items() if pair[0] != "level 5"} == {
        ("level 4", "level 2"): 0.9,
        ("level 3", "level 2"): 0.9,
    }
    assert run.manifests["train"]["graded_skipped"] == {
        "paths of names that are not trained on": 1,
        "paths that are circles": 1,
    }


def test_the_highest_score_of_several_paths_counts(tmp_path: Path):
    rows = [atom(depth, f"level {depth}") for depth in range(6)]
    hier = [path(a, *CHAIN[:i]) for i, a in enumerate(CHAIN)]
    of_chain = pairs(graded(tmp_path / "one", rows, hier, hierarchy="mrhier_rows"))
    assert of_chain == pairs(graded(tmp_path / "all", rows, hier))  # one path each: no difference
    hier += [path("A5", "A0", "A1", "A2", "A4"), path("A5", "A0", "A1", "A3")]
    found = pairs(graded(tmp_path / "more", rows, hier, hierarchy="mrhier_rows"))
    near = round(1 - math.log(2) / math.log(5), 3)
    expected = {"level 4": 0.9, "level 3": 0.9, "level 2": near}  # by chains of 6, 4 and 5 nodes
    assert {b: s for (a, b), s in found.items() if a == "level 5"} == expected


def test_what_paths_cannot_give_is_counted(tmp_path: Path):
    rows = [atom(depth, f"level {depth}") for depth in range(6)]
    rows[3] = atom(3, "level 3", "A3", SUPPRESS="O")  # no name that is trained on
    hier = [path(a, *CHAIN[:i]) for i, a in enumerate(CHAIN)]
    hier += [path("A5", "A0", "A5", "A4"), path("A4", "A0", "A1", "A0")]  # in circles
    hier += [path("X9", "A0")]  # no atom of MRCONSO
    run = graded(tmp_path, rows, hier)
    assert run.manifests["train"]["graded_skipped"] == {
        "paths of names that are not trained on": 2,
        "paths that are circles": 2,
        "ancestors without a name that is trained on": 2,
    }
    of_lowest = {b: s for (a, b), s in pairs(run).items() if a == "level 5"}
    assert of_lowest == {"level 4": 0.9, "level 2": 0.387}  # A3 still counts in T


def test_equal_names_and_names_of_one_concept_make_no_pair(tmp_path: Path):
    rows = [atom(depth, f"level {depth}") for depth in range(6)]
    rows[4] = atom(4, "Level 5")  # a homonym right above
    rows[3] = name("C5", "level five", AUI="A3")  # the same concept two steps above
    run = graded(tmp_path, rows, [path(a, *CHAIN[:i]) for i, a in enumerate(CHAIN)])
    lowest = run.cuis.index("C5")
    rows = run.train.graded_pairs.tolist()
    of_lowest = {run.strings[row[3]] for row in rows if row[0] == lowest}
    assert of_lowest == {"level 2"}
    assert all(a != b for a, b in pairs(run))
    assert all(row[0] != row[2] for row in run.train.graded_pairs.tolist())


def test_held_out_names_are_in_no_pair(tmp_path: Path):
    rows = [name(f"C{c}", f"{w} {c}", AUI=f"{w}{c}") for c in range(6) for w in "abcdefgh"]
    hier = [
        line("MRHIER", CUI=f"C{c}", AUI=f"{w}{c}", PTR=".".join(f"{w}{i}" for i in range(c)))
        for c in range(6)
        for w in "abcdefgh"
    ]
    run = graded(tmp_path, rows, hier, held_out=0.3)
    hidden = {entry.split("||")[1] for entry in run.queries()["ENG"]}
    assert hidden
    assert not hidden & {text for pair in pairs(run) for text in pair}
    assert run.manifests["train"]["graded_skipped"]["paths of names that are not trained on"] >= 6


def held_out_pairs(run: Run) -> dict[tuple[str, str], float]:
    with (run.folder / "eval/graded.csv").open(encoding="utf8", newline="") as lines:
        return {(row["Term1"], row["Term2"]): float(row["Mean"]) for row in csv.DictReader(lines)}


def test_held_out_names_are_graded_apart(tmp_path: Path):
    """Of every name that is held out, with each name above it that is trained on."""
    words = [*"abcdefg", 'quo"ted, H']
    rows = [name(f"C{c}", f"{w} {c}", AUI=f"{w[0]}{c}") for c in range(6) for w in words]
    hier = [path(f"{w[0]}{c}", *(f"{w[0]}{i}" for i in range(c))) for c in range(6) for w in words]
    for hierarchy in ("mrhier", "mrhier_rows"):
        run = graded(tmp_path / hierarchy, rows, hier, held_out=0.3, hierarchy=hierarchy)
        hidden = {entry.split("||")[1].lower() for entry in run.queries()["ENG"]}
        nodes = [set(range(depth + 1)) for depth in range(6)]
        expected = {
            (f"{w} {low}".lower(), f"{w} {high}".lower()): score(nodes[low], nodes[high])
            for w in words
            for low in range(6)
            for high in range(2, low)
        }
        expected = {
            (one, other): value
            for (one, other), value in expected.items()
            if one in hidden and other not in hidden
        }
        assert held_out_pairs(run) == pytest.approx(expected, abs=1e-5)
        assert run.manifests["eval"]["graded"] == len(expected) > 5


def test_held_out_names_by_relations(tmp_path: Path):
    rows = [name(f"C{c}", f"{w} {c}") for c in range(6) for w in "abcdefgh"]
    tree = [relation(f"C{d}", f"C{d - 1}", "PAR") for d in range(1, 6)]
    run = graded(tmp_path, rows, relations=tree, held_out=0.3)
    hidden = {entry.split("||")[1] for entry in run.queries()["ENG"]}
    found = held_out_pairs(run)
    assert {(one, other[-1]) for one, other in found} == {
        (one, str(high)) for one in hidden for high in range(2, int(one[-1]))
    }
    assert not hidden & {other for _, other in found}
    for (one, other), value in found.items():
        expected = score(set(range(int(one[-1]) + 1)), set(range(int(other[-1]) + 1)))
        assert value == pytest.approx(expected, abs=1e-5)


def test_a_part_of_many_held_out_pairs_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    rows = [name(f"C{c}", f"{w} {c}") for c in range(6) for w in "abcdefgh"]
    tree = [relation(f"C{d}", f"C{d - 1}", "PAR") for d in range(1, 6)]
    every = held_out_pairs(graded(tmp_path / "all", rows, relations=tree, held_out=0.3))
    monkeypatch.setattr("training.preprocess.graded.COMPARED", 4)
    few = [
        held_out_pairs(graded(tmp_path / str(n), rows, relations=tree, held_out=0.3))
        for n in range(2)
    ]
    assert few[0] == few[1]
    assert len(few[0]) == 4 < len(every)
    assert few[0].items() <= every.items()
    assert list(few[0]) != list(every)[:4]


def test_nothing_is_graded_where_no_name_is_held_out(tmp_path: Path):
    rows = [atom(depth, f"level {depth}") for depth in range(6)]
    run = graded(tmp_path, rows, [path(a, *CHAIN[:i]) for i, a in enumerate(CHAIN)])
    assert not (run.folder / "eval/graded.csv").exists()
    assert "graded" not in run.manifests["eval"]


def test_relations_give_each_name_a_name_of_each_ancestor(tmp_path: Path):
    rows = [atom(depth, f"level {depth}") for depth in range(6)]
    tree = [relation(f"C{d}", f"C{d - 1}", "PAR") for d in range(1, 5)]
    tree += [relation("C4", "C5", "CHD"), relation("C4", "C5", "RN"), relation("C3", "C1", "RO")]
    run = graded(tmp_path, rows, relations=tree)
    found = {(a[-1], b[-1]): s for (a, b), s in pairs(run).items()}
    assert found[("5", "4")] == 0.9
    assert found[("5", "3")] == 0.613
    assert found[("5", "2")] == 0.387
    assert set(found) == {("5", "4"), ("5", "3"), ("5", "2"), ("4", "3"), ("4", "2"), ("3", "2")}
    assert len(run.train.graded_pairs) == 2 * len(found)  # two names below, one drawn above
    again = graded(tmp_path / "again", rows, relations=tree)
    np.testing.assert_array_equal(again.train.graded_pairs, run.train.graded_pairs)


def test_a_circle_of_relations_is_cut_once(tmp_path: Path):
    tree = [relation(f"C{d}", f"C{(d + 1) % 10}", "PAR") for d in range(10)]
    rows = [atom(number, f"sign {number}") for number in range(10)]
    run = graded(tmp_path, rows, relations=tree)
    assert run.manifests["train"]["graded_skipped"] == {"relations that close a circle": 1}
    assert len(run.train.ancestors) == 45  # a chain of ten is left


def test_what_is_not_there_is_named_before_anything_is_read(tmp_path: Path):
    meta = write_release(tmp_path / "META", MRCONSO=[name("C1", "a"), name("C1", "b")])
    codes = {"tree": "B014.*'tree'", "mrhier": "B236.*MRHIER", "mrhier_rows": "B236"}
    for hierarchy, code in codes.items():
        with pytest.raises(BergamotError, match=code):
            preprocessed(meta, tmp_path / "out", hierarchy=hierarchy)
    assert not (tmp_path / "out").exists()
    with pytest.raises(BergamotError, match="B237"):
        preprocessed(meta, tmp_path / "out", hierarchy="relations")
    assert not (tmp_path / "out/train").exists()


def test_without_a_hierarchy_the_training_set_is_as_it_was(tmp_path: Path):
    rows = [atom(depth, f"level {depth}") for depth in range(6)]
    run = graded(tmp_path, rows, hierarchy="")
    assert run.train.graded_pairs is None
    assert not list((run.folder / "train").glob("graded*"))
    assert "graded_pairs" not in run.manifests["train"]
