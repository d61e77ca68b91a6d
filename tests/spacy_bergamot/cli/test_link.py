"""`link` and `export`: what is read, what is written, what is refused, and what fails."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from tests.spacy_bergamot.factories import invoke, rows_of, write_rows

NOTE = "Der Patient hat\nBluthochdruck."


def ids_in(rows: list[dict[str, Any]]) -> list[list[str]]:
    return [[entity["kb_id"] for entity in row["ents"]] for row in rows]


def test_ids_outlive_a_docbin(saved: Path, tmp_path: Path):
    source = write_rows(tmp_path / "in.jsonl", {"id": "a.1", "text": "fever"})
    invoke("link", saved, source, tmp_path / "o.spacy")
    invoke("export", saved, tmp_path / "o.spacy", tmp_path / "o.jsonl")
    assert rows_of(tmp_path / "o.jsonl")[0]["id"] == "a.1"
    invoke("export", saved, tmp_path / "o.spacy", tmp_path / "o.html")
    assert "a.1" in (tmp_path / "o.html").read_text("utf8")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "ward").mkdir(parents=True)
    (folder / "b.txt").write_bytes(NOTE.replace("\n", "\r\n").encode("utf-8-sig"))
    (folder / "ward" / "a.txt.gz").write_bytes(gzip.compress(b"heart attack"))
    (folder / "readme.md").write_text("fever", "utf8")
    return folder


def test_a_folder_of_notes(saved: Path, notes: Path, tmp_path: Path):
    result = invoke("link", saved, notes, tmp_path / "o.jsonl.gz")
    assert "2/2" in result.output  # documents done, of all
    with gzip.open(tmp_path / "o.jsonl.gz", "rt", encoding="utf8") as lines:
        first, second = map(json.loads, lines)
    assert (first["id"], second["id"]) == ("b", "ward/a")
    assert first["text"] == NOTE.replace("\n", "\r\n")
    assert ids_in([first, second]) == [["C01"], ["C03"]]
    assert (first["ents"][0]["name"], first["ents"][0]["types"]) == ("Hypertension", ["T047"])
    assert first["bergamot"]["concepts"] == 10
    assert "bergamot" not in second
    (tmp_path / "empty").mkdir()
    assert (
        "B102" in invoke("link", saved, tmp_path / "empty", tmp_path / "x.jsonl", status=1).output
    )


def test_a_note_is_one_document_and_its_lines_on_request(saved: Path, notes: Path, tmp_path: Path):
    invoke("link", saved, notes / "b.txt", tmp_path / "o.jsonl")
    assert len(rows_of(tmp_path / "o.jsonl")) == 1
    invoke("link", saved, notes / "b.txt", tmp_path / "o.jsonl", "--lines")
    assert [row["text"] for row in rows_of(tmp_path / "o.jsonl")] == NOTE.split("\n")


def test_tables(saved: Path, tmp_path: Path):
    known = [{"note": "heart\nattack", "id": "007"}, {"note": "x" * 200_000 + " fever", "id": "8"}]
    for name, dialect in (("t.csv", "excel"), ("t.TSV", "excel-tab")):
        with (tmp_path / name).open("w", encoding="utf-8-sig", newline="") as stream:
            table = csv.DictWriter(stream, ["id", "note"], dialect=dialect)
            table.writeheader()
            table.writerows(known)
    plain = (tmp_path / "t.csv").read_bytes()
    (tmp_path / "z.csv.gz").write_bytes(gzip.compress(plain))
    pq.write_table(pa.Table.from_pylist(known), tmp_path / "t.parquet")
    for name in ("t.csv", "t.TSV", "z.csv.gz", "t.parquet"):
        options = ("--text-column", "note")
        invoke("link", saved, tmp_path / name, tmp_path / "o.jsonl", *options)
        first, second = rows_of(tmp_path / "o.jsonl")
        assert (first["id"], second["id"]) == ("007", "8")
        assert ids_in([first, second]) == [["C03"], ["C10"]]
        wrong = invoke("link", saved, tmp_path / name, tmp_path / "x.jsonl", status=1).output
        assert "B102" in wrong
        assert "note" in wrong
    (tmp_path / "t.parquet").write_bytes(b"PAR1 and no more")
    assert (
        "B002"
        in invoke("link", saved, tmp_path / "t.parquet", tmp_path / "x.jsonl", status=1).output
    )
    (tmp_path / "z.csv.gz").write_bytes(gzip.compress(plain)[:40])
    assert (
        "B002"
        in invoke("link", saved, tmp_path / "z.csv.gz", tmp_path / "x.jsonl", status=1).output
    )
    assert not (tmp_path / "x.jsonl").exists()


def test_stdin_and_stdout(saved: Path):
    result = invoke("link", saved, "-", "-", input="Bluthochdruck\nund Fieber")
    (row,) = map(json.loads, result.stdout.splitlines())
    assert ids_in([row]) == [["C01", "C10"]]
    result = invoke("link", saved, "-", "-", "--from", "jsonl", input='{"text": "Fieber"}\n')
    assert ids_in([json.loads(result.stdout)]) == [["C10"]]


@pytest.mark.parametrize(
    ("source", "output", "options", "code"),
    [
        ("none.jsonl", "o.jsonl", [], "B001"),
        ("in.doc", "o.jsonl", [], "B102"),
        ("in.jsonl", "o.csv", [], "B103"),
        ("in.jsonl", "o", [], "B103"),
        ("in.jsonl", "o.jsonl", ["--format", "html"], "B103"),
        ("in.jsonl", "in.jsonl/o.jsonl", [], "B007"),
        ("in.jsonl", "folder.jsonl", [], "B101"),
        ("in.jsonl", "in.doc", ["--format", "brat"], "B101"),
    ],
)
def test_what_cannot_be_is_said_before_the_model_loads(
    tmp_path: Path, source: str, output: str, options: list[str], code: str
):
    write_rows(tmp_path / "in.jsonl", {"text": "fever"})
    (tmp_path / "in.doc").write_text("fever", "utf8")
    (tmp_path / "folder.jsonl").mkdir()
    paths = (tmp_path / source, tmp_path / output)
    assert code in invoke("link", "no_such_pipeline", *paths, *options, status=1).output


@Language.component("breaks_on_doom")
def breaks_on_doom(doc: Doc) -> Doc:
    if "doom" in doc.text:
        raise ArithmeticError("doom is near")
    return doc


@pytest.mark.parametrize("n_process", [1, 2])
def test_a_document_that_fails_takes_no_other_with_it(
    nlp: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_process: int
):
    nlp.to_disk(tmp_path / "p")
    loaded = spacy.load(tmp_path / "p")
    loaded.add_pipe("breaks_on_doom")
    loaded.to_disk(tmp_path / "p")
    texts = ["fever", "doom", "Fieber", "x" * 1_000_001, "a \udcff b", "fever", "doom"]
    source = write_rows(
        tmp_path / "in.jsonl", *({"id": n, "text": text} for n, text in enumerate(texts))
    )
    options = ("--n-process", n_process)
    result = invoke("link", tmp_path / "p", source, tmp_path / "o.jsonl", *options)
    rows = rows_of(tmp_path / "o.jsonl")
    assert [row["id"] for row in rows] == list(range(len(texts)))
    assert [("error" in row) for row in rows] == [False, True, False, True, True, False, True]
    assert ids_in([row for row in rows if "ents" in row]) == [["C10"]] * 3
    assert "doom is near" in rows[1]["error"]
    assert "1000001 characters" in rows[3]["error"]
    assert "4 documents failed" in result.output
    invoke("link", tmp_path / "p", source, tmp_path / "brat", "--format", "brat")
    assert [("error" in row) for row in rows_of(tmp_path / "brat/index.jsonl")].count(True) == 4


def test_a_note_that_is_no_text_is_a_row_with_an_error(saved: Path, notes: Path, tmp_path: Path):
    (notes / "c.txt").write_bytes(b"\xff\xfe")
    invoke("link", saved, notes, tmp_path / "o.jsonl")
    assert "B049" in rows_of(tmp_path / "o.jsonl")[1]["error"]


def test_the_linker_drops_no_batch_for_one_document(make_nlp):
    nlp = make_nlp(resolve_abbreviations=True, abbreviations={"de": {"HTA": "hypertension"}})
    dropped: list[Doc] = []
    nlp.set_error_handler(lambda name, pipe, docs, error: dropped.extend(docs))
    docs = [nlp.make_doc("fever") for _ in range(5)]
    docs[2].user_data["language"] = 5
    found = list(nlp.pipe(docs))
    assert (len(found), len(dropped)) == (4, 1)
    assert all(doc.ents[0].kb_id_ == "C10" for doc in found)


def test_a_device_is_chosen(saved: Path, tmp_path: Path):
    source = write_rows(tmp_path / "in.jsonl", {"text": "fever"})
    assert (
        "B012"
        in invoke(
            "link", saved, source, tmp_path / "o.jsonl", "--device", "cuda:99", status=1
        ).output
    )
    invoke("link", saved, source, tmp_path / "o.jsonl", "--device", "cpu")


def test_what_is_not_linked_is_not_exported(saved: Path, nlp: Language, tmp_path: Path):
    text = write_rows(tmp_path / "in.jsonl", {"text": "fever"})
    assert "B105" in invoke("export", saved, text, tmp_path / "o.jsonl", status=1).output
    doc = nlp.make_doc("fever")
    doc.ents = [doc.char_span(0, 5, label="DISO")]
    DocBin(docs=[doc]).to_disk(tmp_path / "in.spacy")
    output = invoke("export", saved, tmp_path / "in.spacy", tmp_path / "o.jsonl", status=1).output
    assert "B105" in output
    assert not (tmp_path / "o.jsonl").exists()
