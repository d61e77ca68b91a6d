"""Broken files are named, with the line where it is known."""

import gzip
from pathlib import Path

import pytest

from spacy_bergamot.kb_import.ontology.cli import import_ontologies
from training.errors import BergamotError


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.json", b'{"graphs": [', "T116"),
        ("a.json", b"[]", "T116"),
        ("a.obo", b"\xff\xfe\x00", "T116"),
        ("a.xml", b"<html></html>", "T116"),
        ("a.xml", b"<JDBOR><Disorder>", "T116"),
        ("a.json.gz", gzip.compress(b"{}", mtime=0)[:-4], "T116"),
        ("a.tsv", "id\tname\nx\tz\xe9".encode("latin1"), "T116"),
        ("a.zip", b"PK", "T116"),
        ("a.txt", b"words", "T118"),
        ("b.csv", b"colour,size\nred,2\n", "T118"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, name: str, content: bytes, code: str):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BergamotError, match=rf"{code}.*{name.removesuffix('.gz')}") as caught:
        import_ontologies([path], tmp_path / "META")
    assert str(path.name).removesuffix(".gz") in str(caught.value)
    assert not (tmp_path / "META").exists()
    with pytest.raises(BergamotError, match="B001"):
        import_ontologies([tmp_path / "nowhere"], tmp_path / "META")


@pytest.mark.parametrize(
    ("file", "content", "line"),
    [
        ("a.csv", b"id,name\nx,a\ny,z\xfcrich\n", 3),
        ("a.csv", "id,name\nx,a\n".encode("utf-16"), 1),
        ("a.csv", b'id,name\nx,a\ny,"b\nz,c\n', 4),
        ("a.tsv", b"id\tname\nx\tz\xfcrich\n", 2),
        ("a.json", b'{"graphs": [\n{"nodes": [\n}', 3),
        ("a.json", b'{"graphs": [\n{"nodes": [{"lbl": "\xfc"}]}]}', 2),
        ("a.json", b'{"graphs": [\n\n{"nodes": [{"lbl": "a\\uD800b"}]}]}', 3),
        ("a.json", b"[" * 200_000, 1),
        ("a.xml", b"<JDBOR>\n<Disorder>\n", 3),
    ],
)
def test_broken_files_are_named_with_the_line(tmp_path: Path, file: str, content: bytes, line: int):
    (tmp_path / file).write_bytes(content)
    with pytest.raises(BergamotError, match=rf"T116.*{file}:{line} "):
        import_ontologies([tmp_path], tmp_path / "out/META")


@pytest.mark.parametrize(
    ("file", "content", "problem"),
    [("a.jsonl", "{}\n", r"a\.jsonl:1: {}; a\.jsonl has none"),
     ("a.csv", "id;x\n", r"a\.csv is of no"),
     ("a.obo", "[Term]\nid: ZO:1\n", r"a\.obo has none")],
)  # fmt: skip
def test_what_is_wrong_with_the_files_of_a_folder_is_said(
    tmp_path: Path, file: str, content: str, problem: str
):
    (tmp_path / file).write_text(content, "utf8")
    with pytest.raises(BergamotError, match=rf"T118.*{problem}"):
        import_ontologies([tmp_path], tmp_path / "out/META")


def test_a_broken_line_of_jsonl_is_skipped_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    lines = ['{"name": "no id"}', '{"id": "x", "name": "a\\ud800"}', "[" * 200_000, '{"id": "y"}',
             '{"id": "z", "name": NaN}', '{"id": "w", "name": "whole"}']  # fmt: skip
    (tmp_path / "a.jsonl").write_bytes(b"\xef\xbb\xbf" + "\n".join(lines).encode())
    import_ontologies([tmp_path], tmp_path / "out/META")
    assert all(f"a.jsonl:{number}: " in caplog.text for number in range(1, 6))
    assert (tmp_path / "out/META/MRCONSO.RRF").read_text("utf8").count("\n") == 1
