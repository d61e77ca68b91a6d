"""The embedded sample: its sources, what the importer makes of them, and what is committed."""

import csv
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from spacy_bergamot.kb.semantic_types import semantic_types
from spacy_bergamot.kb_import.ontology.cli import import_ontologies
from spacy_bergamot.kb_import.rrf import COLUMNS
from spacy_bergamot.languages import LANGUAGES

SAMPLE = Path(__file__).resolve().parents[1] / "assets" / "sample"
TABLES = ["MRCONSO", "MRDEF", "MRREL", "MRSAB", "MRSTY"]


def rows(table: str) -> list[dict[str, str]]:
    """Read the rows of a committed table by their columns."""
    columns = COLUMNS[table].split()
    lines = (SAMPLE / f"META/{table}.RRF").read_text(encoding="utf8").removesuffix("\n").split("\n")
    assert {line.count("|") for line in lines} == {len(columns)}
    return [dict(zip(columns, line.split("|")[:-1], strict=True)) for line in lines]


def source(name: str) -> list[dict[str, str]]:
    """Read a source table."""
    with (SAMPLE / f"source/{name}.csv").open(encoding="utf8", newline="") as stream:
        return list(csv.DictReader(stream))


def edges() -> list[tuple[str, str, str, str]]:
    """Return CUI1, REL, RELA and CUI2 of every committed relation."""
    return [(row["CUI1"], row["REL"], row["RELA"], row["CUI2"]) for row in rows("MRREL")]


def make_gold(folder: Path, sentences: str) -> subprocess.CompletedProcess[str]:
    """Write sentences to a folder, and run the script that makes gold of them there."""
    (folder / "sentences.tsv").write_text(sentences, encoding="utf8")
    command = [sys.executable, "-m", "assets.sample.gold", str(folder)]
    root = SAMPLE.parents[1]
    return subprocess.run(command, cwd=root, capture_output=True, encoding="utf8", check=False)


def test_committed_tables_are_what_the_sources_give(tmp_path: Path):
    import_ontologies([SAMPLE / "source"], tmp_path / "META")
    made = {path.name: path.read_bytes() for path in (tmp_path / "META").iterdir()}
    committed = {path.name: path.read_bytes() for path in (SAMPLE / "META").iterdir()}
    manifest = json.loads(made.pop("manifest.json"))
    assert manifest["files"] == json.loads(committed.pop("manifest.json"))["files"]
    assert made == committed
    assert set(made) == {f"{table}.RRF" for table in TABLES} | {"MRSAB.tsv"}
    assert not any(manifest["skipped"].values())


def test_committed_gold_is_what_the_sentences_give(tmp_path: Path):
    shutil.copytree(SAMPLE / "gold", tmp_path / "gold")
    (tmp_path / "gold/gold.jsonl").unlink()
    sentences = (SAMPLE / "gold/sentences.tsv").read_text(encoding="utf8")
    assert make_gold(tmp_path / "gold", sentences).returncode == 0
    for name in ("gold.jsonl", "queries.txt"):
        assert (tmp_path / "gold" / name).read_bytes() == (SAMPLE / "gold" / name).read_bytes()


def test_the_sources_are_whole():
    concepts, names = source("concepts"), source("names")
    ids = [row["id"] for row in concepts]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"C\d{7}", cui) for cui in ids)
    types = {kind.tui for kind in semantic_types()}
    assert all(row["type"] and set(row["type"].split("|")) <= types for row in concepts)
    languages = Counter(row["language"] for row in names)
    assert set(languages) <= LANGUAGES.keys()
    assert set(languages.values()) == {len(ids)}  # each concept has a name in each of them
    named = {row["predicate"] for row in source("relations")}
    assert named == {row["predicate"] for row in source("edges")}
    cells = [row[key] for row in (*concepts, *names) for key in ("name", "synonyms")]
    assert all(cell == cell.strip() for cell in cells)


def test_committed_tables_are_large_enough():
    names = rows("MRCONSO")
    assert len({row["CUI"] for row in names}) >= 400
    assert len({row["LAT"] for row in names}) >= 9
    assert len(rows("MRREL")) >= 900
    senses = {(row["STR"].lower(), row["CUI"]) for row in names}
    assert len({name for name, _ in senses}) < len(senses)
    assert {row["TTY"] for row in names} == {"PT", "SY", "AB"}


def test_identifiers_are_unique_where_they_must_be():
    for table, column in (("MRCONSO", "AUI"), ("MRREL", "RUI"), ("MRSTY", "ATUI")):
        found = [row[column] for row in rows(table)]
        assert len(set(found)) == len(found)
    codes = {(row["CUI"], row["CODE"]) for row in rows("MRCONSO")}
    assert all(code == "S" + cui.removeprefix("C") for cui, code in codes)


def test_committed_relations_go_both_ways():
    inverse = {"PAR": "CHD", "CHD": "PAR", "RB": "RN", "RN": "RB", "RO": "RO"}
    pairs = Counter((head, rel, tail) for head, rel, _, tail in edges())
    assert all(pairs[tail, inverse[rel], head] == n for (head, rel, tail), n in pairs.items())
    assert len(set(edges())) == len(edges())


def test_committed_relations_say_what_the_second_concept_is_to_the_first():
    heart, failure = "C0018787", "C0018801"
    found = {(rel, rela) for head, rel, rela, tail in edges() if (head, tail) == (heart, failure)}
    assert found == {("RO", "has_finding_site")}
    turned = {rela for _, _, rela, _ in edges() if rela.startswith("inverse_")}
    assert turned == {"inverse_isa"}  # the sources name every other one


def read_gold(folder: Path) -> list[dict]:
    """Read the sentences of a gold standard."""
    lines = (folder / "gold.jsonl").read_text(encoding="utf8").splitlines()
    return [json.loads(line) for line in lines]


def test_committed_gold_is_sound():
    gold = read_gold(SAMPLE / "gold")
    assert len(gold) >= 150
    languages = {sentence["language"] for sentence in gold}
    assert len(languages) >= 8
    assert languages <= set(LANGUAGES.values())
    assert len({sentence["id"] for sentence in gold}) == len(gold)
    mentions = [(sentence["text"], each) for sentence in gold for each in sentence["entities"]]
    assert all(text[each["start"] : each["end"]] == each["text"] for text, each in mentions)
    identifiers = {each["concept_id"] for _, each in mentions}
    assert "NIL" in identifiers
    assert identifiers - {"NIL"} <= {row["CUI"] for row in rows("MRCONSO")}


def test_gold_is_sorted_by_language_and_keeps_offsets(tmp_path: Path):
    sentences = (
        "SPA\tEl niño tiene [fiebre|C0015967].\n"
        "ENG\t[HTN|C0020538] was treated with [aspirin|C0004057], [rest|NIL] and tea.\n"
        "ENG\tNothing to report.\n"
    )
    result = make_gold(tmp_path, sentences)
    assert result.returncode == 0, result.stderr
    first, second, third = read_gold(tmp_path)
    assert [first["id"], second["id"], third["id"]] == ["ENG-001", "ENG-002", "SPA-001"]
    assert first["text"] == "HTN was treated with aspirin, rest and tea."
    assert first["entities"] == [
        {"start": 0, "end": 3, "text": "HTN", "concept_id": "C0020538"},
        {"start": 21, "end": 28, "text": "aspirin", "concept_id": "C0004057"},
        {"start": 30, "end": 34, "text": "rest", "concept_id": "NIL"},
    ]
    assert second["entities"] == []
    assert third["entities"][0]["start"] == len("El niño tiene ")
    queries = (tmp_path / "queries.txt").read_text(encoding="utf8")
    assert queries == "C0020538||HTN\nC0004057||aspirin\nC0015967||fiebre\n"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("ENG\tA [thing|C9999999].", "C9999999"),
        ("ENG\tA [broken|mark here].", "mark here: "),
        ("ENG\tOuter [ space|NIL].", "not readable"),
        ("ENG no tab", "not readable"),
    ],
)
def test_a_broken_sentence_is_named_and_nothing_is_written(tmp_path: Path, line: str, problem: str):
    result = make_gold(tmp_path, f"ENG\tWhole.\n{line}\n")
    assert result.returncode == 1
    assert result.stderr.startswith(f"sentences.tsv:2: {problem}")
    assert [path.name for path in tmp_path.iterdir()] == ["sentences.tsv"]


def test_semantic_types_are_the_whole_network():
    table = semantic_types()
    assert len(table) == len({kind.tui for kind in table}) == 127
    numbers = {kind.tree_number for kind in table}
    assert len(numbers) == 127
    assert len({kind.group for kind in table}) == 15
    assert {number.rpartition(".")[0] for number in numbers} <= {"", *numbers}
