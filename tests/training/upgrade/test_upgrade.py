"""An upgraded pipeline links as one built anew, and the report says what the release changed."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from typer.testing import CliRunner

from spacy_bergamot.encoder.text_encoder import TextEncoder
from spacy_bergamot.pipeline.pipeline_files import changed_files
from tests.spacy_bergamot.conftest import write_lm
from tests.training.upgrade.conftest import BEFORE, NOW, write_meta
from tests.training.upgrade.upgrades import report_of, run
from training.__main__ import app

TYPOS = ["hypertensoin", "heart atack", "diabetis", "colds", "anything else"]


def candidates(nlp: Language) -> list[list[tuple]]:
    """Return the candidates of every name of both releases, and of others."""
    names = {text for by in (BEFORE, NOW) for names in by.values() for text, _ in names}
    linker = nlp.get_pipe("bergamot_linker")
    found = linker.generator.generate([(n, "") for n in [*sorted(names), *TYPOS]], k=5)
    return [[(c.concept_id, c.alias, c.score) for c in of] for of in found]


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


def test_the_report_counts_names_by_language(old, releases, tmp_path: Path):
    said = run(old, releases[1], tmp_path / "new")
    names = report_of(tmp_path / "new")["names_by_language"]
    # "cold" of the common cold, which is C06 now, has stayed; that of C05 has gone with it.
    assert names["ENG"] == {"before": 40, "now": 39, "added": 3, "removed": 4}
    assert names["JPN"] == {"before": 4, "now": 3, "added": 0, "removed": 1}
    assert names["GER"] == {"before": 4, "now": 4, "added": 0, "removed": 0}
    assert "English +3 −4, Japanese +0 −1" in said
    page = (tmp_path / "new.upgrade.html").read_text("utf8")
    assert "Names by language" in page
    assert ">Japanese<" in page


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
