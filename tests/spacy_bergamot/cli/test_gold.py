"""Gold mentions of every kind of file calibrate a linker alike; a broken line is named."""

import json

import pytest
import spacy
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_bergamot.cli import bergamot
from tests.spacy_bergamot.factories import ensemble
from tests.spacy_bergamot.misspelt_gold import golds


def test_names_of_a_file_are_in_the_language_that_it_is_called(make_nlp, tmp_path):
    nlp = make_nlp(mentions=False, generator=ensemble(combine="mean"))
    nlp.to_disk(tmp_path / "p")
    (tmp_path / "gold").mkdir()
    docs = [example.reference for example in golds(nlp)]  # aliases are mostly English
    for name, of in {"ENG": docs[::2], "de": docs[1::2]}.items():
        lines = "".join(f"{doc.ents[0].kb_id_}||{doc.text}\n" for doc in of)
        (tmp_path / f"gold/{name}.txt").write_text(lines, "utf8")
    arguments = ["calibrate", tmp_path / "p", tmp_path / "gold", tmp_path / "out"]
    result = CliRunner().invoke(bergamot, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    assert "DISO, same language" in result.output
    assert "DISO, other language" in result.output


@pytest.mark.parametrize("form", ["spacy", "jsonl", "txt"])
def test_the_command_calibrates_and_sets_the_threshold(make_nlp, tmp_path, form):
    nlp = make_nlp(mentions=False, generator=ensemble(combine="mean"))
    nlp.to_disk(tmp_path / "p")
    gold = tmp_path / f"gold.{form}"
    docs = [example.reference for example in golds(nlp)]
    if form == "spacy":
        DocBin(docs=docs).to_disk(gold)
    elif form == "txt":
        gold.write_text("".join(f"{doc.ents[0].kb_id_}||{doc.text}\n" for doc in docs), "utf8")
    else:
        lines = [
            {
                "text": doc.text,
                "entities": [{"start": 0, "end": len(doc.text), "concept_id": doc.ents[0].kb_id_}],
            }
            for doc in docs
        ]
        gold.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf8")
    arguments = ["calibrate", str(tmp_path / "p"), str(gold), str(tmp_path / "out")]
    result = CliRunner().invoke(bergamot, [*arguments, "--precision", "0.6", "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout[result.stdout.index("{") :])
    least = report["thresholds"]["0.6"]["probability"]
    loaded = spacy.load(tmp_path / "out")
    assert loaded.get_pipe("bergamot_linker").settings.min_probability == least
    assert "levels" in report
    result = CliRunner().invoke(bergamot, arguments)
    assert "DISO " in result.output
    assert "DISO|" not in result.output
    gold.write_bytes(b"nonsense\n")
    result = CliRunner().invoke(bergamot, arguments)
    assert result.exit_code == 1
    assert any(code in result.output for code in ("B002", "B057", "B057"))


def test_a_precision_that_is_not_reached_says_which_is(make_nlp, tmp_path):
    nlp = make_nlp(mentions=False, generator=ensemble(combine="mean"))
    nlp.to_disk(tmp_path / "p")
    docs = [example.reference for example in golds(nlp)]
    lines = [f"{concept}||{doc.text}\n" for doc in docs for concept in (doc.ents[0].kb_id_, "C99")]
    (tmp_path / "gold.txt").write_text("".join(lines), "utf8")
    arguments = ["calibrate", tmp_path / "p", tmp_path / "gold.txt", tmp_path / "out"]
    result = CliRunner().invoke(bergamot, [*map(str, arguments), "--precision", "0.9"])
    assert result.exit_code == 1
    assert "The highest is 0.500, from probability" in " ".join(result.output.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("entity", "reason"),
    [
        ('{"start": 0, "end": 1e309, "concept_id": "C01"}', "1e309 is not finite"),
        ('{"start": 0, "end": %s, "concept_id": "C01"}' % ("9" * 40), "int"),
        ('{"start": 0, "end": 5}', "'concept_id' is missing"),
        ('{"start": "0", "end": 5, "concept_id": "C01"}', "integer"),
        ('{"start": 0, "end": 5, "concept_id": "C\\ud800"}', "half of a surrogate"),
    ],
)
def test_a_broken_gold_line_is_named(make_nlp, tmp_path, entity: str, reason: str):
    make_nlp().to_disk(tmp_path / "p")
    gold = tmp_path / "gold.jsonl"
    whole = '{"text": "fever", "entities": []}\n'
    gold.write_text(whole + f'{{"text": "fever", "entities": [{entity}]}}\n', "utf8")
    arguments = ["calibrate", str(tmp_path / "p"), str(gold), str(tmp_path / "out")]
    result = CliRunner().invoke(bergamot, arguments)
    assert result.exit_code == 1
    assert f"{gold}:2" in result.output.replace("\n", "")
    assert reason in result.output
    assert not (tmp_path / "out").exists()
