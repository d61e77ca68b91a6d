import json
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_bergamot.cli import bergamot
from spacy_bergamot.exporters import to_brat, to_dict, to_fhir

TEXT = "Der Patient hat Bluthochdruck\nund Fieber."


@pytest.fixture
def run(saved: Path):
    def run(command: str, *arguments: str, status: int = 0) -> str:
        result = CliRunner().invoke(bergamot, [command, str(saved), *map(str, arguments)])
        assert result.exit_code == status, result.output
        return result.output

    return run


def test_spacy_finds_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "spacy", "bergamot", "--help"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for command in ("link", "explain", "search", "info"):
        assert command in done.stdout


def test_texts_in_and_links_out(run, tmp_path: Path):
    source = tmp_path / "in.jsonl"
    source.write_text(f'{json.dumps({"text": TEXT, "id": "a/1"})}\n\n{{"text": ""}}\n', "utf8")
    run("link", source, tmp_path / "out.jsonl", "--candidates")
    first, second = map(json.loads, (tmp_path / "out.jsonl").read_text("utf8").splitlines())
    assert first["id"] == "a/1"
    assert [(e["text"], e["kb_id"]) for e in first["ents"]] == [
        ("Bluthochdruck", "C01"), ("Fieber", "C10"),
    ]  # fmt: skip
    start, end = first["ents"][0]["start"], first["ents"][0]["end"]
    assert TEXT[start:end] == "Bluthochdruck"
    assert first["ents"][0]["candidates"][0]["language"] == "GER"
    assert len(first["bergamot"]["lm"]) == len(first["bergamot"]["index"]) == 64
    assert first["bergamot"]["sources"] == {"SRCENG": "1"}
    assert second["ents"] == []
    (tmp_path / "in.txt").write_text("a fever\nthe heart", "utf8")
    run("link", tmp_path / "in.txt", tmp_path / "out.spacy")
    docs = list(DocBin().from_disk(tmp_path / "out.spacy").get_docs(spacy.blank("xx").vocab))
    assert [doc.ents[0].kb_id_ for doc in docs] == ["C10", "C06"]
    run("link", tmp_path / "out.spacy", tmp_path / "again.jsonl")
    assert len((tmp_path / "again.jsonl").read_text().splitlines()) == 2
    run("link", source, tmp_path / "brat", "--format", "brat")
    assert (tmp_path / "brat/a_1.txt").read_text("utf8") == TEXT
    assert "N1\tReference T1 KB:C01" in (tmp_path / "brat/a_1.ann").read_text("utf8")
    run("link", source, tmp_path / "fhir.jsonl", "--format", "fhir")
    codes = json.loads((tmp_path / "fhir.jsonl").read_text("utf8").splitlines()[0])["codes"]
    assert [concept["coding"][0]["code"] for concept in codes] == ["C01", "C10"]


@pytest.mark.parametrize("line", ["{", "[]", '{"id": 1}', '{"text": 3}'])
def test_a_broken_line_is_named_and_nothing_is_left(run, tmp_path: Path, line: str):
    source = tmp_path / "in.jsonl"
    source.write_text('{"text": "fine"}\n' + line + "\n", "utf8")
    output = run("link", source, tmp_path / "out.jsonl", status=1)
    assert "B048" in output
    assert "in.jsonl:2" in output
    assert not (tmp_path / "out.jsonl").exists()
    source.write_bytes(b'{"text": "\xff"}\n')
    assert "B049" in run("link", source, tmp_path / "out.jsonl", status=1)


def test_an_explanation(run):
    shown = run("explain", "Cold", "--lang", "ENG")
    assert "C04" in shown
    assert "Decision: C04" in shown
    found = json.loads(run("explain", "Cold", "--json"))
    assert found["decision"] == "C04"
    assert "B033" in run("explain", "Cold", "--lang", "XYZ", status=1)


def test_search_and_info(run):
    assert "C01" in run("search", "hypertensions")
    assert json.loads(run("search", "hypertension", "--json"))[0]["concept_id"] == "C01"
    facts = json.loads(run("info", "--json"))
    assert facts["concepts"] == 10
    assert facts["checksums"] == "as written"
    assert "engine" in run("info")


def test_what_is_no_pipeline_is_refused(tmp_path: Path):
    result = CliRunner().invoke(bergamot, ["info", str(tmp_path / "nothing")])
    assert result.exit_code == 1
    assert "B046" in result.output
    spacy.blank("en").to_disk(tmp_path / "blank")
    result = CliRunner().invoke(bergamot, ["info", str(tmp_path / "blank")])
    assert "B047" in result.output


def test_exporters(nlp):
    doc = nlp(TEXT)
    doc.set_ents([doc.char_span(16, 40, label="DISO")])
    assert to_brat(doc) == "T1\tDISO 16 29;30 40\tBluthochdruck und Fieber\n"
    kb = nlp.get_pipe("bergamot_linker").kb
    linked = nlp("Bluthochdruck")
    assert to_fhir(linked, kb, systems={"ICD10CM": "http://hl7.org/fhir/sid/icd-10-cm"}) == [
        {
            "coding": [
                {
                    "system": "http://www.nlm.nih.gov/research/umls",
                    "code": "C01",
                    "display": "Hypertension",
                },
                {"system": "http://hl7.org/fhir/sid/icd-10-cm", "code": "I10"},
            ],
            "text": "Bluthochdruck",
        }
    ]
    assert to_dict(linked)["ents"][0]["kb_ents"] == [["C01", 1.0]]
    assert json.dumps(to_dict(linked, candidates=True))


def test_the_knowledge_base_can_be_walked(nlp):
    kb = nlp.get_pipe("bergamot_linker").kb
    assert kb.relations("C06") == [("CHD", "isa", "C03"), ("RO", "finding_site_of", "C03")]
    assert (kb.parents("C06"), kb.children("C06"), kb.descendants("C06")) == ([], ["C03"], {"C03"})
    assert {row["alias"] for row in kb.aliases("C04")} == {"common cold", "cold"}
    assert kb.search("heart attack")[0][0].concept_id == "C03"
