"""What ontologies call things: accessions, languages, names."""

import json
from pathlib import Path

import pytest

from spacy_bergamot.kb_import.ontology.cli import import_ontologies
from spacy_bergamot.kb_import.ontology.records import accession_of, language_of


@pytest.mark.parametrize(
    ("identifier", "accession"),
    [
        ("http://purl.obolibrary.org/obo/HP_0001250", "HP:0001250"),
        ("http://www.orpha.net/ORDO/Orphanet_370980", "ORPHA:370980"),
        ("http://identifiers.org/hgnc/5724", "HGNC:5724"),
        ("http://linkedlifedata.com/resource/umls/id/C0012634", "UMLS:C0012634"),
        ("http://en.wikipedia.org/wiki/Articular_processes", "WIKIPEDIA:Articular_processes"),
        ("UMLS:0189573", None),
        ("SNOMEDCT_US_2025_09_01:190958003", "SNOMEDCT_US:190958003"),
        ("mim:264300", "OMIM:264300"),
        ("just words", None),
        ("", None),
        (":1", None),
        ("HP:1|2", None),
    ],
)
def test_accessions(identifier: str, accession: str | None):
    assert accession_of(identifier) == accession


def test_languages():
    assert [language_of(c) for c in ("de", "pt-BR", "zh_Hans", "GER", "xx")] == [
        "GER", "POR", "CHI", "GER", "XX",
    ]  # fmt: skip


def test_names_with_control_characters_are_counted_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("INFO")
    (tmp_path / "own.csv").write_text("id,name\na1,ze\0al\na2,keenness\n", "utf8")
    rows = [{"id": "b1", "name": "he\ud800art"}, {"id": "b2", "name": "skull", "definition": "\0"}]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf8")
    import_ontologies([tmp_path], tmp_path / "out/META")
    conso = (tmp_path / "out/META/MRCONSO.RRF").read_text("utf8")
    assert conso.count("\n") == 2
    assert "1 names with control characters" in caplog.text
    assert r"a1: the name 'ze\x00al' has U+0000" in caplog.text
    assert "1 malformed rows" in caplog.text
    assert f"{tmp_path / 'own.jsonl'}:1: " in caplog.text
