"""Documents in: the same from every kind of file, and what is wrong is named with its place."""

import csv
import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin

from spacy_bergamot.annotate.sources import Kind, Source, parse_entry, read_docbin
from spacy_bergamot.errors import BergamotError
from spacy_bergamot.text_files import STDIN, check_file, numbered_lines, open_text

VOCAB = spacy.blank("xx").vocab
PRINTED = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)


def read(path: Path, **options: object) -> list[tuple[str, object]]:
    """Return text and id of every document, and see that so many are counted."""
    source = Source.at(path, **options)
    found = list(source.read(VOCAB))
    assert source.count() == len(found)
    assert not any(entry.problem for entry in found)
    return [(getattr(entry.text, "text", entry.text), entry.facts.get("id")) for entry in found]


@settings(max_examples=15)
@given(st.lists(PRINTED, min_size=1, max_size=4))
def test_documents_are_the_same_from_every_kind_of_file(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
):
    folder = tmp_path_factory.mktemp("in")
    rows = [{"id": str(number), "text": text} for number, text in enumerate(texts)]
    lines = "".join(json.dumps(row) + "\n\n" for row in rows)
    (folder / "d.jsonl").write_text(lines, "utf8")
    (folder / "d.JSONL.gz").write_bytes(gzip.compress(lines.encode()))
    for name, dialect in (("d.csv", "excel"), ("d.tsv", "excel-tab")):
        with (folder / name).open("w", encoding="utf8", newline="") as stream:
            table = csv.DictWriter(stream, ["id", "text"], dialect=dialect)
            table.writeheader()
            table.writerows(rows)
    pq.write_table(pa.Table.from_pylist(rows), folder / "d.parquet")
    docs = [Doc(VOCAB, [row["text"]], [False], user_data={"id": row["id"]}) for row in rows]
    DocBin(docs=docs, store_user_data=True).to_disk(folder / "d.spacy")
    expected = [(row["text"], row["id"]) for row in rows]
    for name in ("d.jsonl", "d.JSONL.gz", "d.csv", "d.tsv", "d.parquet", "d.spacy"):
        assert read(folder / name) == expected, name
    (folder / "n.txt").write_text("\n".join(texts), "utf8")
    assert read(folder / "n.txt") == [("\n".join(texts), "n")]
    assert [text for text, _ in read(folder / "n.txt", lines=True)] == "\n".join(texts).split("\n")


def test_a_folder_is_its_files_of_one_kind(tmp_path: Path):
    for name in ("b.txt", "deep/a.txt", "deep/c.md", ".hidden.txt", "d.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('{"text": "x"}')
    assert [name for _, name in read(tmp_path)] == ["b", "deep/a"]
    assert len(read(tmp_path, kind=Kind.jsonl)) == 1
    with pytest.raises(BergamotError, match=r"B102.*no \.csv file"):
        Source.at(tmp_path, kind=Kind.csv)
    assert Source.at(STDIN).count() is None


@pytest.mark.parametrize("name", ["x.doc", "x", "x.gz"])
def test_an_ending_that_says_nothing_is_refused(tmp_path: Path, name: str):
    (tmp_path / name).touch()
    with pytest.raises(BergamotError, match=r"B102.*ending is not known"):
        Source.at(tmp_path / name)


def test_a_cell_without_text_is_a_problem_of_its_row(tmp_path: Path):
    rows = [{"id": 1, "text": "a"}, {"id": 2, "text": None}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
    first, second = Source.at(tmp_path / "t.parquet").read(VOCAB)
    assert (first.text, first.problem, second.text) == ("a", "", None)
    assert "'text' holds no text" in second.problem


@pytest.mark.parametrize("line", ["{", "[]", '{"text": 3}', '{"other": "x"}', "NaN"])
def test_a_line_that_is_no_document_is_named(line: str):
    with pytest.raises(BergamotError, match=r"B057.*in\.jsonl:7"):
        parse_entry(Path("in.jsonl"), 7, line)
    assert parse_entry(Path("x"), 1, '{"note": "a"}', key="note") == {"note": "a"}


def test_what_cannot_be_read_is_named(tmp_path: Path):
    with pytest.raises(BergamotError, match=r"B001.*none"):
        check_file(tmp_path / "none")
    with pytest.raises(BergamotError, match="B108"):
        check_file(tmp_path)
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b"long text " * 99)[:30])
    with pytest.raises(BergamotError, match=r"B002.*x\.gz"), open_text(path) as stream:
        stream.read()
    path = tmp_path / "x.txt"
    path.write_bytes(b"fine\n\xff\n")
    with pytest.raises(BergamotError, match=r"B049.*x\.txt:2"):
        list(numbered_lines(path))
    with pytest.raises(BergamotError, match=r"B002.*DocBin"):
        read_docbin(path)
