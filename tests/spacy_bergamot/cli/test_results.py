"""Documents out: in the form that the ending says, each under a name of its own."""

import string
import unicodedata
from pathlib import Path

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_bergamot.cli.results import STDOUT, Form, file_name, forget_unsaved, form_of
from spacy_bergamot.errors import BergamotError
from tests.spacy_bergamot.factories import invoke, rows_of, write_rows

IDS = [
    "a", "a", "A", "doc.v1", "doc.v2", "../evil", "123.txt", "2024.01.05", "..", "/",
    "\u00e9", "e\u0301",
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "asked", "form"),
    [
        ("o.jsonl", None, Form.jsonl),
        ("o.NDJSON.gz", None, Form.jsonl),
        ("o.ndjson", Form.fhir, Form.fhir),
        ("o.htm", None, Form.html),
        ("o.spacy", None, Form.spacy),
        ("deep/new/folder", Form.brat, Form.brat),
    ],
)
def test_an_ending_says_the_form(tmp_path: Path, name: str, asked: Form | None, form: Form):
    assert form_of(tmp_path / name, asked) is form
    assert (tmp_path / name).parent.is_dir()
    assert not (tmp_path / name).exists()
    assert form_of(STDOUT, None) is Form.jsonl
    with pytest.raises(BergamotError, match="B103"):
        form_of(STDOUT, Form.html)


@given(st.lists(st.text() | st.sampled_from(IDS), max_size=12))
def test_every_document_has_a_file_name_of_its_own(identifiers: list[str]):
    taken: set[str] = set()
    names = [file_name(identifier, taken) for identifier in identifiers]
    assert len(taken) == len(names)
    assert len({unicodedata.normalize("NFC", name).casefold() for name in names}) == len(names)
    for name in names:
        assert name
        assert not name.startswith(".")
        assert not set(name) & {"/", "\\", "\0", ":", "*", "?", " "}
        assert len(name.encode("utf8")) < 120


@given(st.text(string.ascii_lowercase + string.digits + "_-", min_size=1))
def test_a_plain_id_is_its_file_name(identifier: str):
    assert file_name(identifier, set()) == identifier


def test_what_no_file_can_hold_is_taken_out_and_named():
    doc = Doc(spacy.blank("xx").vocab, ["a"])
    doc.user_data = {"id": 1, "graph": object(), ("._.", "spans", 0, 1): {object()}, "more": ["x"]}
    assert forget_unsaved(doc) == {"graph", "spans"}
    assert doc.user_data == {"id": 1, "more": ["x"]}
    assert forget_unsaved(doc) == set()


def test_file_names_stay_short_and_apart():
    taken: set[str] = set()
    names = [file_name(f"{'漢' * 200}{number}", taken) for number in range(3)]
    assert len(set(names)) == 3
    assert max(len(name.encode("utf8")) for name in names) < 120


def test_every_document_has_brat_files_of_its_own(saved: Path, tmp_path: Path):
    source = write_rows(
        tmp_path / "in.jsonl",
        *({"id": name, "text": f"fever {number}"} for number, name in enumerate(IDS)),
    )
    folder = tmp_path / "deep" / "brat.v1"
    invoke("link", saved, source, folder, "--format", "brat")
    index = rows_of(folder / "index.jsonl")
    assert [row["id"] for row in index] == IDS
    assert len({row["file"].casefold() for row in index}) == len(IDS)
    for number, row in enumerate(index):
        text = folder / row["file"]
        assert text.parent == folder
        assert text.read_text("utf8") == f"fever {number}"
        assert "KB:C10" in text.with_suffix(".ann").read_text("utf8")
    assert len(list(folder.iterdir())) == 2 * len(IDS) + 1
    assert [row["file"] for row in index if row["id"] in ("doc.v2", "123.txt", "2024.01.05")] == [
        "doc.v2.txt", "123.txt", "2024.01.05.txt",
    ]  # fmt: skip
    assert not list(tmp_path.rglob("evil*"))
    assert "B101" in invoke("link", saved, source, folder, "--format", "brat", status=1).output


def test_records_of_bigbio_have_ids_of_their_own(saved: Path, tmp_path: Path):
    row = {"id": "a", "text": "fever", "entities": "mine"}
    source = write_rows(tmp_path / "in.jsonl", row, row)
    invoke("link", saved, source, tmp_path / "o.jsonl", "--format", "bigbio")
    first, second = rows_of(tmp_path / "o.jsonl")
    assert first["document_id"] == second["document_id"] == "a"
    assert first["id"] != second["id"]
    assert first["entities"][0]["id"] != second["entities"][0]["id"]


def test_fhir_lines(saved: Path, tmp_path: Path):
    source = write_rows(tmp_path / "in.jsonl", {"id": 3, "text": "fever"})
    options = (
        "--format",
        "fhir",
        "--system",
        "OURS=https://kb.example",
        "--knowledge-base",
        "OURS",
    )
    invoke("link", saved, source, tmp_path / "o.ndjson", *options)
    (resource,) = rows_of(tmp_path / "o.ndjson")
    assert resource["identifier"][0]["value"] == "3"
    (concept,) = [f for f in resource["extension"][0]["extension"] if f["url"] == "concept"]
    coding = concept["valueCodeableConcept"]["coding"][0]
    assert coding == {"system": "https://kb.example", "code": "C10", "display": "fever"}
    invoke("link", saved, source, tmp_path / "x.ndjson", "--system", "OURS", status=2)
    plain = invoke("link", saved, source, tmp_path / "x.ndjson", "--format", "fhir")
    assert "1 concepts have no system" in plain.output
