"""An upgraded pipeline links as one built anew, and the report says what the release changed."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from typer.testing import CliRunner

from spacy_bergamot.cli.rerank import with_reranker
from spacy_bergamot.encoder.text_encoder import TextEncoder
from spacy_bergamot.linking.features import FEATURES, OF_NIL
from spacy_bergamot.linking.learned_mix import Weights
from spacy_bergamot.pipeline.pipeline_files import changed_files
from spacy_bergamot.text import normalize
from tests.spacy_bergamot.conftest import write_lm
from tests.spacy_bergamot.factories import add, mark, remove
from tests.training.upgrade.conftest import BEFORE, NOW, write_meta
from training.__main__ import app

TYPOS = ["hypertensoin", "heart atack", "diabetis", "colds", "anything else"]


def run(*arguments: object, status: int = 0) -> str:
    """Run the command; return what it says, or its error."""
    result = CliRunner().invoke(app, ["upgrade", *map(str, arguments), "--device", "cpu"])
    if status:
        assert result.exception is not None
        return str(result.exception)
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.output


def candidates(nlp: Language) -> list[list[tuple]]:
    """Return the candidates of every name of both releases, and of others."""
    names = {text for by in (BEFORE, NOW) for names in by.values() for text, _ in names}
    linker = nlp.get_pipe("bergamot_linker")
    found = linker.generator.generate([(n, "") for n in [*sorted(names), *TYPOS]], k=5)
    return [[(c.concept_id, c.alias, c.score) for c in of] for of in found]


def report_of(output: Path) -> dict:
    return json.loads(output.with_name(f"{output.name}.upgrade.json").read_text("utf8"))


def ids(report: dict, kind: str) -> list[str]:
    return [entry["concept_id"] for entry in report[kind]]


@pytest.mark.parametrize("engine", ["exact", "nmslib", "usearch"])
def test_it_links_as_one_built_anew(engine, releases, built, tmp_path: Path):
    built(releases[0], engine).to_disk(tmp_path / "old")
    run(tmp_path / "old", releases[1], tmp_path / "new")
    assert changed_files(tmp_path / "new") == []
    new, anew = spacy.load(tmp_path / "new"), built(releases[1], engine)
    # What is encoded together decides the last decimal; the means by language of few names in
    # 16 bits the fourth.
    close = 1e-3 if engine == "usearch" else 1e-4
    for one, other in zip(candidates(new), candidates(anew), strict=True):
        assert [found[:2] for found in one] == [found[:2] for found in other]
        scores = ([found[2] for found in of] for of in (one, other))
        assert next(scores) == pytest.approx(next(scores), abs=close)
    text = "Sugar diabetes with arterial hypertension and cold fever; pyrexia."
    assert [(e.text, e.kb_id_) for e in new(text).ents] == [
        (e.text, e.kb_id_) for e in anew(text).ents
    ]
    assert {e.kb_id_ for e in new(text).ents} >= {"C02", "C01", "C11", "C10"}


def test_only_new_names_are_encoded(old, releases, tmp_path: Path, monkeypatch):
    asked: list[str] = []
    encode = TextEncoder.encode_in_pieces

    def noted(self, names, **options):
        asked.extend(names)
        return encode(self, names, **options)

    monkeypatch.setattr(TextEncoder, "encode_in_pieces", noted)
    run(old, releases[1], tmp_path / "new")
    assert sorted(asked) == ["arterial hypertension", "cold fever", "sugar diabetes"]
    assert report_of(tmp_path / "new")["names"]["encoded"] == 3


def test_the_report_says_what_became_of_concepts(old, releases, tmp_path: Path):
    said = run(old, releases[1], tmp_path / "new")
    report = report_of(tmp_path / "new")
    assert ids(report, "added") == ["C11"]
    assert [(e["concept_id"], e["into"]) for e in report["merged"]] == [("C04", "C06")]
    assert [(e["concept_id"], e.get("see")) for e in report["removed"]] == [
        ("C05", "C10"),
        ("C08", None),
    ]
    assert {(e["concept_id"], e["name"], e["now"]) for e in report["renamed"]} == {
        ("C01", "Hypertension", "Arterial hypertension"),
        ("C06", "heart", "cold"),
    }
    assert "1 added, 2 removed, 1 merged, 2 renamed" in said
    page = (tmp_path / "new.upgrade.html").read_text("utf8")
    assert all(text in page for text in ("Arterial hypertension", "C11", "insulin"))


def test_the_release_may_be_an_archive_or_a_concept_table(old, releases, tmp_path: Path):
    archive = tmp_path / "release.zip"
    with zipfile.ZipFile(archive, "w") as made:
        for file in releases[1].iterdir():
            made.write(file, f"2025AB/META/{file.name}")
    run(old, archive, tmp_path / "new")
    by_archive = report_of(tmp_path / "new")
    assert ids(by_archive, "merged") == ["C04"]
    table = tmp_path / "new/bergamot_linker/index/concepts"
    said = run(old, table, tmp_path / "again")
    by_table = report_of(tmp_path / "again")
    assert ids(by_table, "merged") == []
    assert ids(by_table, "removed") == ["C04", "C05", "C08"]
    assert "no MRCUI" in said


def test_names_are_filtered_as_those_of_the_old_pipeline(releases, built, tmp_path: Path):
    built(releases[0], languages="ENG").to_disk(tmp_path / "old")
    run(tmp_path / "old", releases[1], tmp_path / "new")
    kb = spacy.load(tmp_path / "new").get_pipe("bergamot_linker").kb
    assert set(kb.aliases_by_language()) == {"ENG"}


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


def test_a_card_of_the_old_release_is_left_out(old, releases, tmp_path: Path):
    shutil.copytree(old, tmp_path / "old")
    result = CliRunner().invoke(app, ["card", str(tmp_path / "old"), "--no-speed"])
    assert result.exit_code == 0, result.output
    assert "model card: refused" in run(tmp_path / "old", releases[1], tmp_path / "new")
    assert not (tmp_path / "new/README.md").exists()
    assert not (tmp_path / "new/LICENSES_SOURCES").exists()
    assert "bergamot" not in json.loads((tmp_path / "new/meta.json").read_text("utf8"))


def test_an_interrupted_upgrade_goes_on(old, releases, tmp_path: Path, monkeypatch):
    from spacy_bergamot.index import alias_index

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(alias_index, "save_languages", killed)
        run(old, releases[1], tmp_path / "new", "--vectors", tmp_path / "v", status=1)
    assert [path.name for path in tmp_path.iterdir()] == ["v"]
    monkeypatch.setattr(
        TextEncoder, "encode_in_pieces", lambda *_: pytest.fail("encoded once more")
    )
    run(old, releases[1], tmp_path / "new", "--vectors", tmp_path / "v")


def test_a_changed_pipeline_is_refused(old, releases, tmp_path: Path):
    shutil.copytree(old, tmp_path / "old")
    path = tmp_path / "old/bergamot_linker/index/strings.arrow"
    data = bytearray(path.read_bytes())
    data[-20] ^= 1
    path.write_bytes(data)
    assert "strings.arrow" in run(tmp_path / "old", releases[1], tmp_path / "new", status=1)
    assert not (tmp_path / "new").exists()


def test_another_language_model_is_refused(old, releases, tmp_path: Path):
    from spacy_bergamot.pipeline.loaders import language_model

    shutil.copytree(old, tmp_path / "old")
    shutil.rmtree(tmp_path / "old/bergamot_linker/encoder")
    language_model(str(write_lm(tmp_path / "lm", seed=1)))(tmp_path / "old/bergamot_linker/encoder")
    said = run(tmp_path / "old", releases[1], tmp_path / "new", status=1)
    assert "built with another language model" in said


def test_releases_of_something_else_are_refused(old, releases, tmp_path: Path):
    others = {f"Q{number}": names for number, names in enumerate(BEFORE.values())}
    assert "no release of the same" in run(
        old, write_meta(tmp_path / "ids", others), tmp_path / "new", status=1
    )
    meanings = dict(zip(BEFORE, reversed(BEFORE.values()), strict=True))
    said = run(old, write_meta(tmp_path / "names", meanings), tmp_path / "new", status=1)
    assert "other things by the same ids" in said
    assert "has already" in run(old, releases[0], tmp_path / "new", status=1)
    assert not (tmp_path / "new").exists()


def test_a_pipeline_that_cannot_be_upgraded_is_refused(old, releases, tmp_path: Path):
    nlp = spacy.load(old)
    nlp.remove_pipe("bergamot_linker")
    nlp.to_disk(tmp_path / "none")
    assert "just one bergamot_linker" in run(
        tmp_path / "none", releases[1], tmp_path / "new", status=1
    )


def test_a_renamed_concept_without_a_name_that_stayed_is_marked(old, tmp_path: Path):
    meta = write_meta(tmp_path / "meta", BEFORE | {"C09": [("X-ray", "ENG")]})
    run(old, meta, tmp_path / "new")
    (entry,) = report_of(tmp_path / "new")["renamed"]
    assert (entry["concept_id"], entry["meaning"]) == ("C09", "no name has stayed")
