"""Gold links of documents: those without an id are none, those inside a token count as well."""

import json

import pytest
from spacy.tokens import Span
from spacy.training import Example
from typer.testing import CliRunner

from spacy_bergamot.cli import bergamot
from spacy_bergamot.errors import BergamotError
from tests.spacy_bergamot.factories import ensemble
from tests.spacy_bergamot.misspelt_gold import golds


def test_mentions_without_gold_are_left_out(make_nlp):
    nlp = make_nlp(mentions=False)
    linker = nlp.get_pipe("bergamot_linker")
    doc = nlp.make_doc("fever")
    doc.ents = [Span(doc, 0, 1, label="X")]
    with pytest.raises(BergamotError, match="Cannot calibrate on 0 distinct"):
        linker.calibrate([Example(doc, doc)] * 30)


def test_gold_in_scripts_without_spaces_counts_as_the_mentions_themselves(make_nlp, tmp_path):
    nlp = make_nlp(mentions=False, generator=ensemble(combine="mean"))
    nlp.to_disk(tmp_path / "p")
    known = [(doc.ents[0].kb_id_, doc.text) for doc in (e.reference for e in golds(nlp))]
    queries = "".join(f"{concept_id}||{text}\n" for concept_id, text in known)
    (tmp_path / "gold.txt").write_text(queries, "utf8")
    lines = []
    for concept_id, text in known:
        entity = {"start": 3, "end": 3 + len(text), "concept_id": concept_id}
        lines.append({"text": f"患者は{text}である。", "entities": [entity]})
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf8")
    reports = []
    for gold in ("gold.txt", "gold.jsonl"):
        arguments = ["calibrate", tmp_path / "p", tmp_path / gold, tmp_path / "q", "--json"]
        result = CliRunner().invoke(bergamot, list(map(str, arguments)))
        assert result.exit_code == 0, result.output
        reports.append(json.loads(result.stdout))
    assert reports[0]["accuracy"] == reports[1]["accuracy"]
    assert reports[0]["mentions"] == reports[1]["mentions"]
