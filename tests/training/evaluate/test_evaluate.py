import json
import time
from pathlib import Path

import pytest

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.linking.generators import ExactGenerator, LexicalGenerator
from training.corpora.dictionary import Dictionary, read_dictionary
from training.errors import BergamotError
from training.evaluate.cli import render, run_evaluation
from training.evaluate.indexes import NoLm, indexed, over
from training.evaluate.metrics import evaluate
from training.evaluate.protocols import select
from training.evaluate.ranking import rank
from training.evaluate.readers import Query, read_queries, split_marked
from training.evaluate.systems import Systems

DICTIONARY = "C1||heart attack\nC1||Myocardial infarction\nC2||common cold\nC3|C2||cold\nC4||gout\n"
QUERIES = "C1||Heart  Attack\nC2|C9||cold\nC3||cold\nC1||myocardial infarctions\nC4||zzz\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "dictionary.txt").write_text(DICTIONARY)
    (tmp_path / "queries.txt").write_text(QUERIES)
    return tmp_path


def test_acc_over_concepts_and_names(files: Path):
    queries = read_queries(files / "queries.txt").queries
    with indexed(Dictionary.read(files / "dictionary.txt"), NoLm()) as index:
        table = evaluate(over(index, NoLm(), ExactGenerator()), queries)["queries"]
    assert table["n"] == 5
    # "cold" names C2 and C3: over concepts C2 comes first, over names both are hit at once.
    assert table["acc@1"] == pytest.approx(100 * 2 / 5)
    assert table["acc@5"] == pytest.approx(100 * 3 / 5)
    assert table["acc@1_names"] == pytest.approx(100 * 3 / 5)


def test_protocols_drop_what_the_dictionary_has(files: Path):
    dictionary = Dictionary.read(files / "dictionary.txt")
    queries = read_queries(files / "queries.txt").queries
    assert len(select(queries, dictionary, "full")) == 5
    kept = [query.mention for query in select(queries, dictionary, "filtered")]
    assert kept == ["Heart  Attack", "myocardial infarctions", "zzz"]
    far = [query.mention for query in select(queries, dictionary, "filtered_0.2")]
    assert far == ["zzz"]


@pytest.mark.parametrize(("mention", "kept"), [("abcd", True), ("abcde", True), ("abcdef", True)])
def test_the_distance_bound_is_strict(mention: str, kept: bool):
    near = Dictionary([("C1", mention[:-1] + "x")])
    ratio = 1 / len(mention)
    query = Query(mention, frozenset({"C1"}), "g")
    assert (
        (select([query], near, "filtered_0.2") == [query])
        == (ratio >= 0.2)
        == (kept and ratio >= 0.2)
    )


def test_concept_folders_and_gold_sentences(tmp_path: Path):
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "a.concept").write_text(
        "1||0|4||DISO||cold||C2||||\n2||5|9||DISO||gout||C4\nbroken\n"
    )
    read = read_queries(folder)
    assert [(q.mention, set(q.concept_ids), q.group) for q in read.queries] == [
        ("cold", {"C2"}, "set"),
        ("gout", {"C4"}, "set"),
    ]
    assert read.skipped == {"malformed line": 1}
    entities = [
        {"start": 0, "end": 4, "text": "gout", "concept_id": "C4"},
        {"start": 5, "end": 8, "text": "and", "concept_id": "NIL"},
        {"start": 0, "end": 3, "text": "gout", "concept_id": "C4"},
    ]
    gold = tmp_path / "gold.jsonl"
    gold.write_text(
        json.dumps({"language": "ENG", "text": "gout and", "entities": entities})
        + '\n{"language": "ENG"}\n'
    )
    read = read_queries(gold)
    assert [(q.mention, q.group) for q in read.queries] == [("gout", "ENG")]
    assert read.queries[0].context == "<tgt>gout</tgt> and"
    assert read.skipped == {
        "NIL": 1,
        "offsets disagree with the text": 1,
        "malformed record (KeyError)": 1,
    }
    gold.write_text('{"text": "gout"}\n{"text')
    with pytest.raises(BergamotError, match="T127"):
        read_queries(gold)


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


def test_a_dictionary_is_a_concept_table(tmp_path: Path):
    lines = "C2||Cold\nC1|C2||cold\nC1||Heart  attack\nC3||+\nC1||cold\n"
    (tmp_path / "d.txt").write_text(lines)
    dictionary = Dictionary.read(tmp_path / "d.txt")
    assert dictionary.names == ["+", "cold", "heart attack"]
    assert "heart attack" in dictionary
    dictionary.write(tmp_path / "kb")
    table = ConceptTable.open(tmp_path / "kb")
    named = {row: table.rows_of("aliases", row)["alias"].to_pylist() for row in range(len(table))}
    assert named == {0: ["cold", "heart attack"], 1: ["cold"], 2: ["+"]}
    assert table.name(0) == table.concept_id(0) == "C1"


@pytest.mark.parametrize(
    ("content", "code"), [("C1|heart\n", "T302"), ("||heart\n", "T302"), (None, "T301")]
)
def test_a_bad_dictionary_names_file_and_line(tmp_path: Path, content: str | None, code: str):
    path = tmp_path / "d.txt"
    if content is not None:
        path.write_text(content)
    with pytest.raises(BergamotError, match=code) as error:
        read_dictionary(path)
    assert "d.txt" in str(error.value)


def test_queries_of_another_knowledge_base_are_refused(files: Path):
    (files / "queries.txt").write_text("X1||heart\n")
    with pytest.raises(BergamotError, match="T306"):
        run_evaluation(
            files / "dictionary.txt", [("", files / "queries.txt")], files / "ranked", Systems()
        )


def test_a_file_that_is_not_utf8(tmp_path: Path):
    (tmp_path / "q.txt").write_bytes(b"C1||h\xe9art\n")
    with pytest.raises(BergamotError, match="T304"):
        read_queries(tmp_path / "q.txt")


def test_a_dictionary_s_mark_is_no_part_of_it_and_a_folder_is_none(tmp_path: Path):
    path = tmp_path / "dictionary.txt"
    path.write_bytes(b"\xef\xbb\xbfC1||gout\n")
    assert read_dictionary(path) == [("C1", "gout")]
    with pytest.raises(BergamotError, match="T256"):
        read_dictionary(tmp_path)
    path.write_bytes(b"C1||gout\nC2||g\xfc\n")
    with pytest.raises(BergamotError, match=r"T304.*dictionary\.txt:2 .*0xfc"):
        read_dictionary(path)


@pytest.mark.parametrize(
    ("context", "pieces"),
    [
        ("", [""]),
        ("no mark", ["no mark"]),
        ("a <tgt>b</tgt> c", ["a ", "b", " c"]),
        ("<tgt>b\nb</tgt>c<tgt>d</tgt>", ["", "b\nb", "c", "d", ""]),
        ("<tgt>a<tgt>b</tgt>c<tgt>d", ["", "a<tgt>b", "c<tgt>d"]),
        ("</tgt>a<tgt>", ["</tgt>a<tgt>"]),
    ],
)
def test_marks_are_taken_out(context: str, pieces: list[str]):
    assert split_marked(context) == pieces


def test_marks_without_end_cost_no_more_than_others():
    start = time.process_time()
    assert len(split_marked("<tgt>" * 1_000_000)) == 1
    assert time.process_time() - start < 2  # minutes, where every mark looks for its end


def test_what_a_pipeline_knew_by_heart_is_said(files: Path):
    output = run_evaluation(
        files / "dictionary.txt", [("", files / "queries.txt")], files / "figures", Systems()
    )
    assert "its own" not in render(output)
    said = render(output | {"pipelines": {"pipe": {"own": 87.5}, "other": {"own": 0.0}}})
    assert "87.5 % of the mentions are aliases of pipe's own dictionary" in said
    assert "of other's" not in said
