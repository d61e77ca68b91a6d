"""Changes, calibration and rerankers are carried over to another release, or refused."""

from pathlib import Path

import pytest
import spacy

from spacy_bergamot.cli.rerank import with_reranker
from spacy_bergamot.linking.features import FEATURES, OF_NIL
from spacy_bergamot.linking.learned_mix import Weights
from spacy_bergamot.text import normalize
from tests.spacy_bergamot.factories import add, mark, remove
from tests.training.upgrade.conftest import BEFORE, write_meta
from tests.training.upgrade.upgrades import report_of, run

CHANGES = {
    "carried over": [
        add("L1", "Our own disease", name="Our own disease", types=["T047"]),
        add("L1", "OOD"),
        add("C04", "the sniffles"),  # merged into C06
        add("C10", "high temperature"),
        remove("C07", "ASA"),
        remove("C04", "cold"),
    ],
    "no longer needed": [
        add("C02", "sugar diabetes"),
        remove("C08", "insulin"),
        remove("C05"),
    ],
    "refused": [
        add("C08", "an insulin"),
        remove("C04"),
        add("C11", "Someone's own", name="Someone's own"),
        add("L2", "PHEN alone", name="PHEN alone", types=["T070"]),
        add("L2", "another of it"),
    ],
}


def updated(old: Path, folder: Path, *changes: dict) -> Path:
    nlp = spacy.load(old)
    nlp.get_pipe("bergamot_linker").update_index(changes)
    nlp.to_disk(folder)
    return folder


@pytest.mark.parametrize("became", CHANGES)
def test_changes_are_carried_over_or_refused(became, old, releases, tmp_path: Path):
    # One whole concept cannot be removed beside its alias: each kind by itself.
    wanted = [c for c in CHANGES[became] if c["action"] == "add"]
    wanted += [c for c in CHANGES[became] if c["action"] == "remove"]
    run(updated(old, tmp_path / "old", *wanted), releases[1], tmp_path / "new")
    fates = report_of(tmp_path / "new")["changes"]
    others = [fate for fate in fates if fate["became"] != became]
    assert others == []
    assert len(fates) == len(wanted)
    assert all(fate["why"] for fate in fates if became != "carried over")


def test_carried_changes_work(old, releases, tmp_path: Path):
    run(updated(old, tmp_path / "old", *CHANGES["carried over"]), releases[1], tmp_path / "new")
    nlp = spacy.load(tmp_path / "new")
    linker = nlp.get_pipe("bergamot_linker")
    found = linker.generator.generate(
        [(n, "") for n in ("ood", "the sniffles", "high temperature", "asa")], k=1
    )
    assert [of[0].concept_id for of in found[:3]] == ["L1", "C06", "C10"]
    assert found[3][0].alias.lower() != "asa"
    assert "cold" not in {normalize(name) for name in linker.kb.find("C06").aliases}
    assert [ent.kb_id_ for ent in nlp("She has the sniffles and OOD.").ents] == ["C06", "L1"]


def calibrated(old: Path, folder: Path) -> Path:
    nlp = spacy.load(old)
    linker = nlp.get_pipe("bergamot_linker")
    names = [text for names in BEFORE.values() for text, lat in names if lat == "ENG"]
    docs = [mark(nlp, name, name, label="DISO") for name in names]
    golds = [
        frozenset() if number % 3 == 0 else frozenset([cui])
        for number, cui in enumerate(
            cui for cui, names in BEFORE.items() for _, lat in names if lat == "ENG"
        )
    ]
    linker.calibrate_on([of[0] for of in linker.predict(docs)], golds)
    nlp.get_pipe_config("bergamot_linker")["min_probability"] = 0.1
    nlp.to_disk(folder)
    return folder


def test_a_calibration_is_carried_over(old, releases, tmp_path: Path):
    calibrated(old, tmp_path / "old")
    said = run(tmp_path / "old", releases[1], tmp_path / "new")
    nlp = spacy.load(tmp_path / "new")
    linker = nlp.get_pipe("bergamot_linker")
    assert linker.settings.min_probability == 0.1
    assert linker.generator.generate([("fever", "")], k=1)[0]
    assert nlp("He has fever.").ents[0]._.candidates[0]["probability"] is not None
    assert "calibration: carried over" in said


def test_a_calibration_among_other_names_is_refused(old, tmp_path: Path):
    calibrated(old, tmp_path / "old")
    much = {f"Z{number}": [(f"another disease {number}", "ENG")] for number in range(30)}
    meta = write_meta(tmp_path / "meta", BEFORE | much)
    said = run(tmp_path / "old", meta, tmp_path / "new")
    assert "calibration: refused (" in said
    assert "of the names are new" in said
    linker = spacy.load(tmp_path / "new").get_pipe("bergamot_linker")
    assert linker.settings.min_probability is None
    assert linker.parts.calibration is None


def reranked(old: Path, folder: Path) -> Path:
    """Write a pipeline with a learned mix that weighs every feature alike."""
    linker = spacy.load(old).get_pipe("bergamot_linker")
    weights = Weights(
        dict.fromkeys(FEATURES, 0.1), {"dense": 1.0, "lexical": 1.0}, dict.fromkeys(OF_NIL, -1.0)
    )
    mix = folder.with_name("mix")
    index = linker.parts.index.fingerprint
    weights.save(mix, index=index, generator=linker.settings.generation)
    settings = {"@misc": "spacy_bergamot.LearnedMix.v1", "nil": True}
    with_reranker(old, mix, settings, folder)
    return folder


def test_a_learned_reranker_is_carried_over_with_what_was_calibrated_on_it(
    old, releases, tmp_path: Path, recwarn
):
    reranked(old, tmp_path / "reranked")
    calibrated(tmp_path / "reranked", tmp_path / "old")
    said = run(tmp_path / "old", releases[1], tmp_path / "new")
    assert "reranker: carried over" in said
    before, after = (spacy.load(tmp_path / name) for name in ("old", "new"))
    weights = [
        nlp.get_pipe("bergamot_linker").parts.reranker.fingerprint for nlp in (before, after)
    ]
    assert weights[0] == weights[1]
    assert after("He has fever.").ents[0]._.candidates[0]["scores"].keys() >= {"before"}
    assert not [warning for warning in recwarn if "W001" in str(warning.message)]


def test_a_learned_reranker_among_other_names_is_refused(old, tmp_path: Path):
    much = {f"Z{number}": [(f"another disease {number}", "ENG")] for number in range(30)}
    meta = write_meta(tmp_path / "meta", BEFORE | much)
    said = run(reranked(old, tmp_path / "old"), meta, tmp_path / "new")
    assert "reranker: refused (" in said
    linker = spacy.load(tmp_path / "new").get_pipe("bergamot_linker")
    assert linker.settings.rerank is None
    assert linker.parts.reranker is None
