"""Sets of gold mentions: files of lines, gold sentences, .concept folders, corpora."""

import json
from pathlib import Path

import pytest

from training.corpora.queries import gold_mentions, read_queries, skipped
from training.corpora.registry import read_corpus
from training.errors import BergamotError


def test_lines_stay_as_they_are_written(tmp_path: Path):
    path = tmp_path / "mine.txt"
    path.write_text(
        "C1||Heart  Attack\nC2|C1||cold||a <tgt>cold</tgt> || day\nC1+C2||both\nNIL||zzz\n"
        "C1|NIL||one\n||none\nC1||  \nC1|cold\n"
    )
    (corpus,) = read_queries(path, nil=True)
    found = [(m.mention, sorted(m.concepts), m.all_of) for m in corpus.rows()]
    assert found == [
        ("Heart  Attack", ["C1"], False), ("cold", ["C1", "C2"], False),
        ("both", ["C1", "C2"], True), ("zzz", [], False), ("one", ["C1"], False),
    ]  # fmt: skip
    assert corpus.rows()[1].context == "a <tgt>cold</tgt> || day"
    assert {(m.group, m.document, m.language) for m in corpus.rows()} == {("mine", "", "")}
    assert skipped([corpus]) == {"malformed line": 3}
    (linked,) = read_queries(path)
    assert [m.mention for m in linked.rows()] == ["Heart  Attack", "cold", "both", "one"]
    assert skipped([linked]) == {"malformed line": 3, "NIL": 1}


def test_a_set_is_the_same_read_as_lines_and_as_a_corpus(tmp_path: Path):
    path = tmp_path / "de_1k_test_query.txt"
    path.write_text("C1|C2||Fieber\nC1+C3||Husten und Fieber||x <tgt>Husten und Fieber</tgt>\n")
    read_corpus(path, "xlbel").write(tmp_path / "corpus")
    lines, corpus = (gold_mentions(read_queries(p)) for p in (path, tmp_path / "corpus"))
    for one, other in zip(lines, corpus, strict=True):
        assert (one.mention, one.concepts, one.all_of) == (
            other.mention, other.concepts, other.all_of
        )  # fmt: skip


def test_a_folder_has_a_corpus_for_each_file_and_gold_sentences_one_for_each_language(
    tmp_path: Path,
):
    for name in ("b", "a"):
        (tmp_path / f"{name}.txt").write_text(f"C1||{name}\n")
    assert [corpus.name for corpus in read_queries(tmp_path)] == ["a", "b"]
    entity = {"start": 0, "end": 4, "text": "gout", "concept_id": "C4"}
    gold = tmp_path / "gold.jsonl"
    gold.write_text(
        "".join(
            json.dumps({"language": code, "text": "gout", "entities": [entity]}) + "\n"
            for code in ("GER", "ENG", "GER")
        )
        + "{}\n"
    )
    german, english = read_queries(gold)
    assert [len(german.rows()), len(english.rows())] == [2, 1]
    assert [german.documents.num_rows, english.documents.num_rows] == [2, 1]
    assert skipped([german, english]) == {"malformed record (KeyError)": 1}
    gold.write_text("{}\n")
    assert skipped(read_queries(gold)) == {"malformed record (KeyError)": 1}


def test_a_file_called_as_a_language_is_in_that_language(tmp_path: Path):
    for name in ("SPA", "mine"):
        (tmp_path / f"{name}.txt").write_text("C1||a\n")
    assert [q.language for q in gold_mentions(read_queries(tmp_path))] == ["SPA", ""]


def test_concept_folders_and_gold_sentences(tmp_path: Path):
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "a.concept").write_text(
        "1||0|4||DISO||cold||C2||||\n2||5|9||DISO||gout||C4\nbroken\n"
    )
    read = read_queries(folder)
    assert [(q.mention, set(q.concepts), q.group) for q in gold_mentions(read)] == [
        ("cold", {"C2"}, "set"),
        ("gout", {"C4"}, "set"),
    ]
    assert skipped(read) == {"malformed line": 1}
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
    (found,) = gold_mentions(read)
    assert (found.mention, found.group) == ("gout", "ENG")
    assert found.context == "<tgt>gout</tgt> and"
    assert skipped(read) == {
        "NIL": 1,
        "offsets disagree with the text": 1,
        "malformed record (KeyError)": 1,
    }
    gold.write_text('{"text": "gout"}\n{"text')
    with pytest.raises(BergamotError, match="B057"):
        read_queries(gold)


def test_a_file_that_is_not_utf8(tmp_path: Path):
    (tmp_path / "q.txt").write_bytes(b"C1||h\xe9art\n")
    with pytest.raises(BergamotError, match="B049"):
        read_queries(tmp_path / "q.txt")
