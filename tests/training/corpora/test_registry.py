"""Which form a corpus is of, and what is said of files that are of none."""

from pathlib import Path

import pytest

from tests.training.corpora.written import PUBTATOR, golds, write
from training.corpora.registry import FORMS, read_corpus
from training.errors import BergamotError


@pytest.mark.parametrize(
    ("name", "content", "form", "language", "message"),
    [
        ("a.txt", b"1|t|caf\xe9 x\n1|a|y\n", None, "", r"\[B049\].*a\.txt:1 is not UTF-8"),
        ("a.txt.gz", b"no gzip", "pubtator", "", r"\[T102\].*a\.txt\.gz cannot be read"),
        ("a.spacy", b"nothing", None, "", r"\[B002\].*a\.spacy"),
        ("a.txt", b"prose\n", None, "", r"\[T123\].*a\.txt has no file of a known form"),
        ("a/b.txt", b"prose\n", "gold", "", r"\[T123\].*has no file of gold, only: b\.txt\."),
        ("a.txt", b"prose\n", "pubtater", "", r"\[B014\].*Choose one of: mantra, brat"),
        ("a.txt", b"C1||x\n", None, "klingon", r"\[B014\].*klingon"),
        ("a.jsonl", b'{"text": 1}\n{"text"\n', None, "", r"\[B057\].*a\.jsonl:2: no JSON"),
        ("a.jsonl", b'"\\"text\\""\n["text"]', "gold", "", r"\[B057\].*a\.jsonl:1: no JSON obj"),
        ("a.jsonl", b'{"text": "a"}\n{"text": "\\ud800"}\n', None, "", r"B057.*a\.jsonl:2.*half"),
        ("a.jsonl", b'{"text": "a",\t"start": 1e309}', "gold", "", r"B057.*a\.jsonl:1.*finite"),
        ("a.jsonl", b'"text"' + b"[" * 100_000, "gold", "", r"\[B057\].*a\.jsonl:1"),
        ("a.json", b'[{"text": "a"},\n{"text": "\\ud800"}]', None, "", r"B057.*a\.json:2.*half"),
        ("a.tsv", b"Term\tx\n", "cometa", "", r"\[T128\].*no column General SNOMED ID"),
        ("missing/a.txt", None, None, "", r"\[T102\].*does not exist"),
    ],
)  # fmt: skip
def test_errors_name_file_and_line(
    tmp_path: Path, name: str, content: bytes | None, form: str, language: str, message: str
):
    path = write(tmp_path / name, content) if content is not None else tmp_path / name
    with pytest.raises(BergamotError, match=message):
        read_corpus(path.parent if name == "a/b.txt" else path, form, language)


def test_a_folder_of_two_forms_asks_for_one(tmp_path: Path):
    write(tmp_path / "a.txt", PUBTATOR)
    write(tmp_path / "b.txt", "C1||x\n")
    with pytest.raises(BergamotError, match=r"\[T124\].*pubtator, xlbel"):
        read_corpus(tmp_path)
    assert golds(read_corpus(tmp_path, "xlbel")) == [("x", ["C1"], False)]
    with pytest.raises(BergamotError, match=r"\[T123\].*no file of brat"):
        read_corpus(tmp_path, "brat")


def test_every_form_has_a_name_and_an_empty_file_breaks_none(tmp_path: Path):
    for form in sorted(set(FORMS) - {"mantra", "spacy"}):
        assert read_corpus(write(tmp_path / f"{form}.txt", ""), form).mentions.num_rows == 0
