"""Two vocabularies are matched by names, each concept once, and seeds teach what counts."""

from pathlib import Path

import numpy as np
import pytest

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.build import table_of
from spacy_bergamot.pipeline.build import build_pipeline
from tests.training.align.command import mapped, rows, run
from tests.training.align.conftest import RIGHT, SEEDS, many
from training.align.confidence import Confidence, one_to_one
from training.align.pairs import FEATURES, Pairs
from training.align.sides import curie, rows_of_ids
from training.align.sssom import read_seeds


def test_names_decide_first(sides, lm, tmp_path: Path):
    output = tmp_path / "out.sssom.tsv"
    said = run(*sides, output, "--lm", lm)
    found = mapped(output)
    assert {one: found.get(one) for one in ("LOCAL:1", "LOCAL:2", "LOCAL:5")} == {
        "LOCAL:1": "KB:01",  # a name that is the same
        "LOCAL:2": "KB:02",  # one that is the same but for its comma
        "LOCAL:5": "KB:06",
    }
    assert len(set(found.values())) == len(found)
    assert "LOCAL:6" not in found
    best = next(row for row in rows(output) if row["subject_id"] == "LOCAL:1")
    assert best == {
        "subject_id": "LOCAL:1",
        "subject_label": "High blood pressure",
        "predicate_id": "skos:exactMatch",
        "object_id": "KB:01",
        "object_label": "Hypertension",
        "mapping_justification": "semapv:LexicalMatching",
        "confidence": "1.0000",
    }
    assert "6 concepts and 7" in said


def test_concepts_of_other_groups_are_never_matched(sides, lm, tmp_path: Path):
    run(*sides, tmp_path / "out.sssom.tsv", "--lm", lm)
    found = rows(tmp_path / "out.sssom.tsv") + rows(tmp_path / "out.review.sssom.tsv")
    # "cold" of a disease is not the temperature's name; nor is a heart attack a heart.
    assert not {("LOCAL:4", "KB:05"), ("LOCAL:3", "KB:06")} & {
        (row["subject_id"], row["object_id"]) for row in found
    }
    assert mapped(tmp_path / "out.sssom.tsv")["LOCAL:4"] == "KB:04"


def test_what_is_doubtful_is_for_review(sides, lm, tmp_path: Path):
    run(*sides, tmp_path / "out.sssom.tsv", "--lm", lm)
    review = rows(tmp_path / "out.review.sssom.tsv")
    assert {row["predicate_id"] for row in review} == {"skos:closeMatch"}
    shown = [row["subject_id"] for row in review]
    assert shown[0] == "LOCAL:4"  # a name that means two concepts
    assert not {"LOCAL:1", "LOCAL:2", "LOCAL:5"} & {*shown}
    page = (tmp_path / "out.html").read_text("utf8")
    assert "common cold" in page
    assert "taken" in page
    assert "<script" not in page


def test_what_was_matched_is_merged_by_the_importer(sides, lm, tmp_path: Path):
    plain = tmp_path / "plain.tsv"
    plain.write_text(sides[0].read_text("utf8").replace("LOCAL:", "L"), "utf8")
    run(plain, sides[1], tmp_path / "out.sssom.tsv", "--lm", lm)
    table_of([plain, sides[1], tmp_path / "out.sssom.tsv"], tmp_path / "kb")
    kb = ConceptTable.open(tmp_path / "kb")
    found = next(set(kb[one].aliases) for one in kb if "high blood pressure" in kb[one].aliases)
    assert {"High blood pressure", "arterial hypertension", "Hypertension"} <= found


def test_sides_may_be_a_pipeline_and_a_table(sides, lm, tmp_path: Path):
    table_of([sides[1]], tmp_path / "kb")
    build_pipeline(lm=lm, concepts=tmp_path / "kb", engine="exact").to_disk(tmp_path / "pipeline")
    run(*sides, tmp_path / "one.sssom.tsv", "--lm", lm)
    run(sides[0], tmp_path / "pipeline", tmp_path / "two.sssom.tsv")
    assert mapped(tmp_path / "one.sssom.tsv") == mapped(tmp_path / "two.sssom.tsv")
    run(tmp_path / "kb", tmp_path / "pipeline", tmp_path / "self.sssom.tsv")
    assert all(one == other for one, other in mapped(tmp_path / "self.sssom.tsv").items())


def test_seeds_teach_what_counts(lm, tmp_path: Path):
    for prefix in ("A", "B"):
        (tmp_path / f"{prefix}.tsv").write_text(many(prefix, 60), "utf8")
    lines = [f"A:{number}\tskos:exactMatch\tB:{number}" for number in range(0, 60, 2)]
    seeds = tmp_path / "seeds.sssom.tsv"
    seeds.write_text("subject_id\tpredicate_id\tobject_id\n" + "\n".join(lines) + "\n", "utf8")
    right = {}
    for name, given in (("by rule", ()), ("learned", ("--seeds", seeds))):
        run(tmp_path / "A.tsv", tmp_path / "B.tsv", tmp_path / "o.sssom.tsv", "--lm", lm, *given)
        found = mapped(tmp_path / "o.sssom.tsv")
        right[name] = sum(found.get(f"A:{n}") == f"B:{n}" for n in range(1, 60, 2))
    assert right["learned"] >= right["by rule"] >= 20
    assert all(0 <= float(row["confidence"]) <= 1 for row in rows(tmp_path / "o.sssom.tsv"))


def test_a_second_run_is_the_same(sides, lm, tmp_path: Path):
    texts = []
    for _ in range(2):
        run(*sides, tmp_path / "out.sssom.tsv", "--lm", lm, "--vectors", tmp_path / "vectors")
        texts.append((tmp_path / "out.sssom.tsv").read_text("utf8"))
    assert texts[0] == texts[1]
    left = {path.name for path in tmp_path.iterdir() if path.name.startswith(".")}
    assert left == set()


def pairs_of(scores: dict[tuple[int, int], float]) -> tuple[Pairs, Confidence]:
    ones, others = (np.array([pair[side] for pair in scores]) for side in (0, 1))
    pairs = Pairs(ones, others, np.zeros((len(scores), len(FEATURES))))
    return pairs, Confidence(np.array([*scores.values()]), 0.5)


@pytest.mark.parametrize("seed", range(5))
def test_the_choice_has_the_largest_sum(seed):
    """Compared with every choice of a small graph."""
    rng = np.random.default_rng(seed)
    scores = {(a, b): float(rng.random()) for a in range(4) for b in range(4) if rng.random() < 0.7}
    pairs, confidence = pairs_of(scores)
    taken = one_to_one(pairs, confidence)
    chosen = [pair for pair, yes in zip(scores, taken, strict=True) if yes]
    assert len({a for a, _ in chosen}) == len({b for _, b in chosen}) == len(chosen)

    def best(rest: list[tuple[int, int]]) -> float:
        if not rest:
            return 0.0
        (a, b), *others = rest
        gain = scores[a, b] - 0.5 + best([(c, d) for c, d in others if c != a and d != b])
        return max(best(others), gain)

    assert sum(scores[pair] - 0.5 for pair in chosen) == pytest.approx(best(list(scores)))


def test_nothing_above_the_threshold_is_no_error():
    pairs, confidence = pairs_of({(0, 0): 0.1, (1, 1): 0.2})
    assert not one_to_one(pairs, confidence).any()


@pytest.fixture
def tables(sides, tmp_path: Path) -> tuple[ConceptTable, ConceptTable]:
    for name, side in zip("lr", sides, strict=True):
        table_of([side], tmp_path / name)
    return ConceptTable.open(tmp_path / "l"), ConceptTable.open(tmp_path / "r")


def test_seeds_that_contradict_or_are_unknown_are_left_out(tables, tmp_path: Path):
    seeds = tmp_path / "seeds.tsv"
    seeds.write_text(
        SEEDS
        + "LOCAL:3\tskos:exactMatch\tKB:03\n"
        + "LOCAL:3\tskos:exactMatch\tKB:04\n"
        + "LOCAL:9\tskos:exactMatch\tKB:07\n"
        + "LOCAL:5\tskos:broadMatch\tKB:06\n",
        "utf8",
    )
    found = read_seeds(seeds, *tables)
    assert found.rows.tolist() == [[0, 0], [1, 1]]
    assert found.skipped == {"contradicts another": 2, "unknown concept": 1, "not exact": 1}
    assert "LOCAL:9" in found.first


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\tb\n", "no column subject_id, predicate_id, object_id; it has: a, b"),
        ("", "it has: none"),
        (SEEDS.replace("KB:", "XX:"), "no pair of concepts of both sides"),
        (SEEDS, "it takes 10"),
    ],
)
def test_seeds_of_no_use_are_refused(text, said, sides, lm, tmp_path: Path):
    (tmp_path / "seeds.tsv").write_text(text, "utf8")
    output = tmp_path / "out.sssom.tsv"
    assert said in run(*sides, output, "--lm", lm, "--seeds", tmp_path / "seeds.tsv", status=1)
    assert not output.exists()


def test_the_same_ids_for_other_things_are_refused(sides, lm, tmp_path: Path):
    lines = RIGHT.replace("KB:0", "LOCAL:").splitlines()
    sides[1].write_text("\n".join([lines[0], *lines[3:]]) + "\n", "utf8")
    said = run(*sides, tmp_path / "out.sssom.tsv", "--lm", lm, status=1)
    assert "mean other things" in said


def test_ids_are_found_by_their_spellings_and_codes(tmp_path: Path):
    source = tmp_path / "t.tsv"
    source.write_text("id\tname\txrefs\nHP:0000001\tone\tMESH:D01\nC0000002\ttwo\tMESH:D02\n")
    table_of([source], tmp_path / "kb")
    table = ConceptTable.open(tmp_path / "kb")
    found = rows_of_ids(table, ["HP_0000001", "UMLS:C0000002", "MESH:D02", "nothing"])
    names = {one: table.name(row) for one, row in found.items()}
    assert names == {"HP_0000001": "one", "UMLS:C0000002": "two", "MESH:D02": "two"}
    assert [curie(one) for one in ("HP_0000001", "C0000002", "L1")] == [
        "HP:0000001",
        "UMLS:C0000002",
        "L1",
    ]
