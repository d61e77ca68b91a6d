"""The dictionary of a pipeline changes with the index of its linker, and is of one base with it."""

import json
import pickle
import shutil
from dataclasses import replace

import pytest
import spacy
from typer.testing import CliRunner

from spacy_bergamot.cli import bergamot
from spacy_bergamot.errors import BergamotError
from spacy_bergamot.pipeline.loaders import concept_table
from tests.spacy_bergamot.conftest import CONCEPTS, write_concepts
from tests.spacy_bergamot.factories import NEW, add, mentions, remove

TEXT = "Widowmaker, long COVID, a heart attack, a cold and MI."
BEFORE = [("heart attack", "DISO"), ("cold", "DISO"), ("MI", "DISO")]
CHANGES = [
    add("C03", "widowmaker"),
    add("X1", "long COVID", **NEW),
    remove("C03", "Heart Attack"),
    remove("C04"),
    add("C08", "MI"),
]
AFTER = [
    ("Widowmaker", "DISO"),
    ("long COVID", "DISO"),
    ("heart", "ANAT"),
    ("cold", "PHEN"),  # C05 has it still
    ("MI", "DISO"),
]


@pytest.fixture
def nlp(make_nlp):
    return make_nlp()


def update(nlp, changes):
    nlp.get_pipe("bergamot_linker").update_index(changes)


def test_a_change_of_the_index_is_one_of_the_dictionary(nlp, tmp_path):
    assert mentions(nlp, TEXT) == BEFORE
    update(nlp, CHANGES)
    assert mentions(nlp, TEXT) == AFTER
    nlp.to_disk(tmp_path / "p")
    for other in (spacy.load(tmp_path / "p"), pickle.loads(pickle.dumps(nlp))):
        assert mentions(other, TEXT) == AFTER
        update(other, [add("C03", "heart attack"), remove("X1")])
        assert ("heart attack", "DISO") in mentions(other, TEXT)
        assert ("long COVID", "DISO") not in mentions(other, TEXT)


def test_changes_that_are_taken_back_leave_the_dictionary_as_it_was(nlp):
    before = [column.tolist() for column in nlp.get_pipe("bergamot_mentions").keys.rows]
    update(nlp, [change for change in CHANGES if change["concept_id"] != "C04"])
    update(nlp, [remove("C03", "widowmaker"), remove("X1"), add("C03", "heart attack")])
    update(nlp, [remove("C08", "MI")])
    assert nlp.get_pipe("bergamot_linker").parts.changes.entries == []
    assert mentions(nlp, TEXT) == BEFORE
    after = [column.tolist() for column in nlp.get_pipe("bergamot_mentions").keys.rows]
    assert after == before


def test_an_abbreviation_that_is_added_matches_capitals_only(make_nlp):
    nlp = make_nlp()
    update(nlp, [add("C10", "PYR"), remove("C09", "MRI")])
    assert mentions(nlp, "PYR, pyr") == [("PYR", "DISO")]
    matcher = nlp.get_pipe("bergamot_mentions")
    matcher.settings = replace(matcher.settings, usual_abbreviations=False)
    assert mentions(nlp, "PYR, pyr and MRI") == [("PYR", "DISO")]  # MRI is a usual short form


def test_a_wrong_change_changes_neither(nlp):
    with pytest.raises(BergamotError, match="B051"):
        update(nlp, [*CHANGES, remove("X9")])
    assert mentions(nlp, TEXT) == BEFORE


def test_pipelines_that_share_a_vocabulary_change_by_themselves(nlp, tmp_path):
    nlp.to_disk(tmp_path / "p")
    one, other = (spacy.load(tmp_path / "p", vocab=nlp.vocab) for _ in range(2))
    update(one, CHANGES)
    assert mentions(one, TEXT) == AFTER
    assert mentions(other, TEXT) == mentions(nlp, TEXT) == BEFORE


def test_the_command_changes_both_and_counts(nlp, tmp_path):
    def call(*arguments, status=0):
        result = CliRunner().invoke(bergamot, [str(argument) for argument in arguments])
        assert result.exit_code == status, result.output
        return result.output

    nlp.to_disk(tmp_path / "p")
    before = json.loads(call("info", tmp_path / "p", "--json"))
    lines = tmp_path / "changes.jsonl"
    lines.write_text("\n".join(map(json.dumps, CHANGES)), encoding="utf8")
    call("update", tmp_path / "p", lines, tmp_path / "q")
    assert mentions(spacy.load(tmp_path / "q"), TEXT) == AFTER
    facts = json.loads(call("info", tmp_path / "q", "--json"))
    names = [name for _, known in CONCEPTS.values() for of in known.values() for name in of]
    assert (before["concepts"], before["aliases"]) == (len(CONCEPTS), len(names))
    assert facts["concepts"] == before["concepts"]  # one is gone, one is new
    assert facts["aliases"] == before["aliases"] + 3 - 3
    assert facts["languages"]["ENG"] == before["languages"]["ENG"]
    distinct = len({name.lower() for name in names})
    assert before["bergamot_mentions"] == f"{distinct} names in 6 languages"
    assert facts["bergamot_mentions"] == f"{distinct + 2 - 2} names in 6 languages"
    lines.write_text('\n{"action": "add", "concept_id": "C1"}\n', encoding="utf8")
    assert f"{lines}:2" in call("update", tmp_path / "q", lines, tmp_path / "r", status=1)
    with pytest.raises(BergamotError, match="Change 1,"):
        update(spacy.load(tmp_path / "q"), [remove("C99")])


def other_base(tmp_path):
    known = {**CONCEPTS, "C11": ("T184", {"ENG": ["cough"]})}
    path = write_concepts(tmp_path / "other", known)
    return concept_table(str(path))


def test_a_dictionary_of_another_knowledge_base_is_refused(nlp, tmp_path):
    nlp.to_disk(tmp_path / "p")
    nlp.get_pipe("bergamot_mentions").initialize(lambda: [], concepts=other_base(tmp_path))
    with pytest.raises(BergamotError, match=r"B095.*bergamot_mentions"):
        nlp("fever")
    folder = tmp_path / "p/bergamot_mentions"
    nlp.get_pipe("bergamot_mentions").to_disk(folder)
    with pytest.raises(BergamotError, match="B095"):
        spacy.load(tmp_path / "p")
    spacy.load(tmp_path / "p", exclude=["bergamot_mentions"])


def test_a_dictionary_of_other_changes_is_refused(nlp, tmp_path):
    nlp.to_disk(tmp_path / "p")
    update(nlp, CHANGES)
    nlp.to_disk(tmp_path / "q")
    folder = "bergamot_mentions"
    shutil.rmtree(tmp_path / "q" / folder)
    shutil.copytree(tmp_path / "p" / folder, tmp_path / "q" / folder)
    with pytest.raises(BergamotError, match="B096"):
        spacy.load(tmp_path / "q")


def test_a_dictionary_for_another_linker_may_be_of_another_base(nlp, tmp_path):
    config = {"spans_key": "other"}
    matcher = nlp.add_pipe("bergamot_mentions", name="second", config=config)
    matcher.initialize(lambda: [], concepts=other_base(tmp_path))
    doc = nlp("cough and fever")
    assert [span.text for span in doc.spans["other"]] == ["cough", "fever"]
    assert [ent.text for ent in doc.ents] == ["fever"]
