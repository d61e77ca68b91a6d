import json
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin, Span
from typer.testing import CliRunner

from spacy_bergamot.cli import bergamot
from spacy_bergamot.output.exporters import to_brat, to_dict, to_html

TEXT = "Der Patient hat Bluthochdruck\nund Fieber."


def test_spacy_finds_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "spacy", "bergamot", "--help"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for command in (
        "link",
        "explain",
        "search",
        "info",
        "index",
        "update",
        "calibrate",
        "export",
        "kb",
    ):
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
    run("link", tmp_path / "in.txt", tmp_path / "out.spacy", "--lines")
    docs = list(DocBin().from_disk(tmp_path / "out.spacy").get_docs(spacy.blank("xx").vocab))
    assert [doc.ents[0].kb_id_ for doc in docs] == ["C10", "C06"]
    run("link", tmp_path / "out.spacy", tmp_path / "again.jsonl")
    assert len((tmp_path / "again.jsonl").read_text().splitlines()) == 2
    run("link", source, tmp_path / "brat", "--format", "brat")
    assert (tmp_path / "brat/a_1.txt").read_text("utf8") == TEXT
    assert "N1\tReference T1 KB:C01" in (tmp_path / "brat/a_1.ann").read_text("utf8")


@pytest.mark.parametrize(
    "line",
    ["{", "[]", '{"id": 1}', '{"text": 3}', '{"text": "a", "id": 1e309}',
     "[" * 100_000],
)  # fmt: skip
def test_a_broken_line_is_named_and_nothing_is_left(run, tmp_path: Path, line: str):
    source = tmp_path / "in.jsonl"
    source.write_text('{"text": "fine"}\n' + line + "\n", "utf8")
    output = run("link", source, tmp_path / "out.jsonl", status=1)
    assert "B057" in output
    assert "in.jsonl:2" in output
    assert not (tmp_path / "out.jsonl").exists()
    source.write_bytes(b'{"text": "\xff"}\n')
    output = run("link", source, tmp_path / "out.jsonl", status=1)
    assert "B049" in output
    assert "in.jsonl:1" in output
    assert "B102" in run("link", tmp_path, tmp_path / "out.jsonl", status=1)


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
    linked = nlp("Bluthochdruck")
    assert to_dict(linked)["ents"][0]["kb_ents"] == [["C01", 1.0]]
    assert json.dumps(to_dict(linked, candidates=True))


def test_documents_are_exported_without_linking_again(run, nlp, tmp_path: Path):
    doc = nlp(TEXT + " <script>alert(1)</script>")
    for token in doc.ents[1]:
        token.ent_kb_id_ = "NIL"
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "in.spacy")
    run("export", tmp_path / "in.spacy", tmp_path / "out.jsonl", "--format", "bigbio")
    (record,) = map(json.loads, (tmp_path / "out.jsonl").read_text("utf8").splitlines())
    first, second = record["entities"]
    assert first["normalized"] == [{"db_name": "SRCENG", "db_id": "C01"}]
    assert second["normalized"] == []
    ((start, end),) = first["offsets"]
    assert record["passages"][0]["text"][0][start:end] == first["text"][0] == "Bluthochdruck"
    url = "https://kb.example/{}"
    run("export", tmp_path / "in.spacy", tmp_path / "o.html", "--kb-url", url)
    page = (tmp_path / "o.html").read_text("utf8")
    assert 'href="https://kb.example/C01"' in page
    assert "example/NIL" not in page
    assert "<script>" not in page
    (tmp_path / "broken.spacy").write_bytes(b"nothing")
    assert "B002" in run("export", tmp_path / "broken.spacy", tmp_path / "x.jsonl", status=1)


def test_overlapping_spans_are_drawn(make_nlp):
    nlp = make_nlp(mentions=False, spans_key="sc")
    doc = nlp.make_doc("a heart attack")
    doc.spans["sc"] = [Span(doc, 1, 3, label="DISO"), Span(doc, 1, 2, label="ANAT")]
    nlp.get_pipe("bergamot_linker")(doc)
    page = to_html([doc], spans_key="sc", kb_url="https://kb.example/{}")
    assert page.count("https://kb.example/C03") == page.count("https://kb.example/C06") == 1


def test_a_linker_from_a_concept_table_and_changes_of_it(concepts, lm, tmp_path: Path):
    def call(*arguments: object, status: int = 0) -> str:
        result = CliRunner().invoke(bergamot, [str(argument) for argument in arguments])
        assert result.exit_code == status, result.output
        return result.output

    call("index", concepts, lm, tmp_path / "p", "--engine", "exact", "--lang", "de")
    nlp = spacy.load(tmp_path / "p")
    assert nlp.lang == "de"
    assert [ent.kb_id_ for ent in nlp(TEXT).ents] == ["C01", "C10"]
    changes = tmp_path / "changes.jsonl"
    change = {"action": "add", "concept_id": "C10", "alias": "Pyrexie", "language": "GER"}
    changes.write_text(json.dumps(change) + "\n\n", "utf8")
    call("update", tmp_path / "p", changes, tmp_path / "q")
    found = json.loads(call("explain", tmp_path / "q", "pyrexie", "--json"))
    assert found["decision"] == "C10"
    assert json.loads(call("info", tmp_path / "q", "--json"))["changes"]["added"] == 1
    changes.write_text("{}\n", "utf8")
    assert "B051" in call("update", tmp_path / "p", changes, tmp_path / "r", status=1)
    for broken in ("[]", '{"action": "add", "alias": "a\\ud800"}', '{"action": Infinity}'):
        changes.write_text(json.dumps(change) + f"\n{broken}\n", "utf8")
        output = call("update", tmp_path / "p", changes, tmp_path / "r", status=1)
        assert "B057" in output
        assert "changes.jsonl:2" in output
    assert "B108" in call("update", tmp_path / "p", tmp_path, tmp_path / "r", status=1)
    assert not (tmp_path / "r").exists()
    spacy.blank("en").to_disk(tmp_path / "blank")
    call(
        "index", concepts, lm, tmp_path / "s", "--engine", "exact", "--pipeline", tmp_path / "blank"
    )
    assert spacy.load(tmp_path / "s").pipe_names == ["bergamot_linker"]
    call("index", concepts, lm, tmp_path / "u", "--engine", "usearch", "--dtype", "i8")
    facts = json.loads((tmp_path / "u/bergamot_linker/index/engine/engine.json").read_text())
    assert facts["dtype"] == "i8"
    assert [ent.kb_id_ for ent in spacy.load(tmp_path / "u")(TEXT).ents] == ["C01", "C10"]
    call("index", concepts, lm, tmp_path / "v", "--engine", "exact", "--dtype", "i8", status=2)
