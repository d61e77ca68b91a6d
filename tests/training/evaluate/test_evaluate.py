from itertools import compress
from pathlib import Path

import pytest

from spacy_bergamot.linking.generators import ExactGenerator, LexicalGenerator
from training.corpora.dictionary import Dictionary
from training.corpora.queries import gold_mentions, read_queries
from training.corpora.schema import GoldMention
from training.errors import BergamotError
from training.evaluate.cli import render, run_evaluation
from training.evaluate.indexes import NoLm, indexed, over
from training.evaluate.metrics import evaluate
from training.evaluate.protocols import membership
from training.evaluate.ranking import rank
from training.evaluate.systems import Systems

DICTIONARY = "C1||heart attack\nC1||Myocardial infarction\nC2||common cold\nC3|C2||cold\nC4||gout\n"
QUERIES = "C1||Heart  Attack\nC2|C9||cold\nC3||cold\nC1||myocardial infarctions\nC4||zzz\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "dictionary.txt").write_text(DICTIONARY)
    (tmp_path / "queries.txt").write_text(QUERIES)
    return tmp_path


def test_acc_over_concepts_and_names(files: Path):
    queries = gold_mentions(read_queries(files / "queries.txt"))
    with indexed(Dictionary.read(files / "dictionary.txt"), NoLm()) as index:
        table = evaluate(over(index, NoLm(), ExactGenerator()), queries)["queries"]
    assert table["n"] == 5
    # "cold" names C2 and C3: over concepts C2 comes first, over names both are hit at once.
    assert table["acc@1"] == pytest.approx(100 * 2 / 5)
    assert table["acc@5"] == pytest.approx(100 * 3 / 5)
    assert table["acc@1_names"] == pytest.approx(100 * 3 / 5)


def test_protocols_drop_what_the_dictionary_has(files: Path):
    dictionary = Dictionary.read(files / "dictionary.txt")
    queries = gold_mentions(read_queries(files / "queries.txt"))
    mentions = [query.mention for query in queries]
    assert membership(queries, dictionary, "full") == [True] * 5
    kept = compress(mentions, membership(queries, dictionary, "filtered"))
    assert list(kept) == ["Heart  Attack", "myocardial infarctions", "zzz"]
    far = compress(mentions, membership(queries, dictionary, "filtered_0.2"))
    assert list(far) == ["zzz"]


@pytest.mark.parametrize(("mention", "kept"), [("abcd", True), ("abcde", True), ("abcdef", True)])
def test_the_distance_bound_is_strict(mention: str, kept: bool):
    near = Dictionary([("C1", mention[:-1] + "x")])
    ratio = 1 / len(mention)
    query = GoldMention(mention, frozenset({"C1"}), "g")
    assert (
        (membership([query], near, "filtered_0.2") == [True])
        == (ratio >= 0.2)
        == (kept and ratio >= 0.2)
    )


def test_a_whole_evaluation_with_its_table(files: Path):
    sets = [("", files / "queries.txt")]
    report = run_evaluation(files / "dictionary.txt", sets, files / "ranked", Systems())
    assert set(report["systems"]) == {"exact", "lexical"}
    assert report["systems"]["lexical"]["micro"]["acc@1"] >= 60
    assert "lexical" in render(report)


def test_spelling_variants_are_found_and_ties_come_by_concept():
    names = [("C3", "hypertension"), ("C2", "hypotension"), ("C1|C4", "gout b"), ("C0", "gout c")]
    with indexed(Dictionary(names), NoLm()) as index:
        found = rank(over(index, NoLm(), LexicalGenerator()), ["hypertensions", "gout", "qqq"], 3)
    assert found[0].concepts == ["C3", "C2"]
    assert found[1].concepts == ["C0", "C1", "C4"]
    assert len(set(found[1].scores)) == 1
    assert found[1].name_ranks == [1, 0, 0]  # names of one score come in their own order
    assert found[2].concepts == []
    assert found[2].nil


def test_queries_of_another_knowledge_base_are_refused(files: Path):
    (files / "queries.txt").write_text("X1||heart\n")
    with pytest.raises(BergamotError, match="T306"):
        run_evaluation(
            files / "dictionary.txt", [("", files / "queries.txt")], files / "ranked", Systems()
        )


def test_what_a_pipeline_knew_by_heart_is_said(files: Path):
    output = run_evaluation(
        files / "dictionary.txt", [("", files / "queries.txt")], files / "figures", Systems()
    )
    assert "its own" not in render(output)
    said = render(output | {"pipelines": {"pipe": {"own": 87.5}, "other": {"own": 0.0}}})
    assert "87.5 % of the mentions are aliases of pipe's own dictionary" in said
    assert "of other's" not in said
