"""Concepts and aliases added and removed without building the index again."""

import copy
import pickle

import numpy as np
import pytest
import spacy

from spacy_bergamot.errors import BergamotError
from tests.spacy_bergamot.factories import NEW, add, ensemble, found, mark, remove

MEAN = ensemble(combine="mean")
RESCORED = ensemble(combine="rescored", weights={"lexical": 0.1, "dense": 0.9})


@pytest.fixture
def linker(make_nlp):
    return make_nlp(mentions=False, k=5, generator=MEAN).get_pipe("bergamot_linker")


def test_an_added_alias_is_found_exactly_and_nearby(linker):
    assert found(linker, "ticker trouble")[0]["score"] < 1
    linker.update_index([add("C03", "Ticker Trouble")])
    (first, *_) = found(linker, "ticker trouble")
    assert (first["concept_id"], first["score"], first["source"]) == ("C03", 1.0, "LOCAL")
    assert first["alias"] == "Ticker Trouble"
    nearby = found(linker, "ticker troubles")[0]
    assert (nearby["concept_id"], nearby["alias"]) == ("C03", "Ticker Trouble")
    assert 0.5 < nearby["score"] < 1
    assert found(linker, "heart attack")[0]["concept_id"] == "C03"


def test_an_updated_index_proposes_as_many_concepts_as_are_asked_for(make_nlp):
    linker = make_nlp(mentions=False, k=2).get_pipe("bergamot_linker")
    linker.update_index([add(f"X{n}", f"ticker trouble {n}") for n in range(3)])
    known = len(linker.kb)
    for k in (1, 2, 4, known):
        (candidates,) = linker.generator.generate([("ticker troubles", "")], k=k)
        assert len({candidate.concept_id for candidate in candidates}) == k
    assert len(found(linker, "ticker troubles")) == 2  # the component's own


def test_a_new_concept_has_what_it_was_given(linker):
    linker.update_index([add("X1", "post-COVID", **NEW), add("X1", "long haul COVID")])
    assert found(linker, "long haul covid")[0]["concept_id"] == "X1"
    concept = linker.kb.cui_to_entity["X1"]
    assert (concept.canonical_name, concept.definition) == ("Long COVID", "It lasts.")
    assert (concept.types, concept.groups) == (["T047"], ["DISO"])
    assert set(concept.aliases) == {"post-COVID", "long haul COVID"}
    assert linker.kb.alias_to_cuis["post-covid"] == {"X1"}
    assert len(linker.kb) == len(list(linker.kb)) == 11
    assert linker.kb.search("long haul")[0][0].concept_id == "X1"
    assert linker.kb.complete("long h")[0][:2] == ("X1", "long haul COVID")
    assert linker.kb.parents("X1") == linker.kb.codes("X1", "ICD10CM") == []


def test_what_is_removed_is_gone_and_can_come_back(linker):
    linker.update_index([remove("C04", "COLD"), remove("C07")])
    assert [c["concept_id"] for c in found(linker, "cold") if c["score"] == 1] == ["C05"]
    assert "C07" not in {c["concept_id"] for c in found(linker, "aspirin")}
    kb = linker.kb
    assert "C07" not in kb.cui_to_entity
    assert "aspirin" not in kb.alias_to_cuis
    assert kb.cui_to_entity["C04"].aliases == ["common cold"]
    assert len(kb) == 9
    assert all(concept.concept_id != "C07" for concept, _ in kb.search("aspirin"))
    assert [match.concept_id for match in kb.complete("aspi")] == []
    reasons = {(d["concept_id"], d["reason"]) for d in linker.explain("aspirin")["dropped"]}
    assert ("C07", "removed") in reasons
    linker.update_index([add("C04", "cold"), add("C07", "Aspirin")])
    assert {c["concept_id"] for c in found(linker, "cold") if c["score"] == 1} == {"C04", "C05"}
    assert found(linker, "aspirin")[0]["concept_id"] == "C07"
    assert linker.kb.cui_to_entity["C07"].aliases == ["Aspirin"]
    assert linker.parts.changes.counts == {"added": 1, "removed": 1}


def test_additions_may_be_taken_back(linker):
    linker.update_index([add("X1", "alpha", **NEW), add("X1", "beta")])
    linker.update_index([remove("X1", "alpha")])
    assert linker.kb.cui_to_entity["X1"].canonical_name == "Long COVID"
    assert linker.kb.cui_to_entity["X1"].aliases == ["beta"]
    linker.update_index([remove("X1")])
    assert linker.parts.changes.entries == []
    assert "X1" not in linker.kb.cui_to_entity


def test_changes_are_saved_with_the_pipeline(make_nlp, tmp_path):
    nlp = make_nlp(mentions=False, generator=MEAN)
    linker = nlp.get_pipe("bergamot_linker")
    linker.update_index([add("X1", "zebra", **NEW), remove("C10")])
    nlp.to_disk(tmp_path / "pipeline")
    path = tmp_path / "pipeline"
    doc = mark(nlp, "a zebra", "zebra")
    for other in (spacy.load(path), pickle.loads(pickle.dumps(nlp))):
        mine = other.get_pipe("bergamot_linker")
        linked = mine(copy.deepcopy(doc))
        assert linked.ents[0].kb_id_ == "X1"
        assert linked._.bergamot["changes"] == {"added": 1, "removed": 1}
        assert "C10" not in mine.kb.cui_to_entity
    fresh = make_nlp(mentions=False, generator=MEAN).get_pipe("bergamot_linker")
    fresh.from_bytes(linker.to_bytes())
    assert "X1" in fresh.kb.cui_to_entity
    make_nlp(mentions=False, generator=MEAN).to_disk(path)
    assert "X1" not in spacy.load(path).get_pipe("bergamot_linker").kb.cui_to_entity


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"action": "drop", "concept_id": "C01"}, "action"),
        ({"action": "add", "concept_id": "C01"}, "alias"),
        (add("C01", "?!"), "alias"),
        (add("", "x"), "concept_id"),
        (add("C01", "x", colour="red"), "colour"),
        (add("C01", "x", name="Other"), "known already"),
        (add("X1", "x", types=["T999"]), "T999"),
        (add("X1", 7), "string"),
        (add("C01", "he\0art"), '"alias" has U+0000'),
        (add("C01", "he\ud800art"), '"alias" has U+D800'),
        (add("X1", "x", name="a\x7fb"), '"name" has U+007F'),
        (remove("C01", "aspirin"), "nothing"),
        (remove("X9"), "nothing"),
    ],
)
def test_a_wrong_change_changes_nothing(linker, change, reason):
    if change.get("alias") == 7:
        change = {**change, "alias": "x", "name": 7}
    with pytest.raises(BergamotError, match="B051") as raised:
        linker.update_index([add("C01", "fine"), change])
    assert "Change 2" in str(raised.value)
    assert reason in str(raised.value)
    assert linker.parts.changes is None
    assert "fine" not in linker.kb.alias_to_cuis


def test_changes_of_another_index_are_refused(make_nlp, linker, tmp_path):
    linker.update_index([remove("C10")])
    other = make_nlp(mentions=False, engine="nmslib")
    other.to_disk(tmp_path / "p")
    linker.parts.bundles["changes"].copy_to(tmp_path / "p/bergamot_linker/changes")
    with pytest.raises(BergamotError, match="B050"):
        spacy.load(tmp_path / "p")


def test_the_index_itself_is_not_touched(linker):
    before = {c["concept_id"]: c["score"] for c in found(linker, "cold")}
    files = linker.parts.index.fingerprint
    linker.update_index([add("C01", "tension")])
    assert linker.parts.index.fingerprint == files
    after = {c["concept_id"]: c["score"] for c in found(linker, "cold")}
    assert np.isclose(after["C04"], before["C04"])


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\n", "\r\n", "\x0b", "\x1c"])
def test_aliases_may_hold_what_breaks_lines(linker, mark: str):
    linker.update_index([add("C03", f"ticker{mark}trouble")])
    linker.update_index([add("C03", f"other{mark}one")])
    assert linker.parts.changes.counts == {"added": 2, "removed": 0}
