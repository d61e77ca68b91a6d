"""A linker on disk, as bytes and as a pickle: the same links, and damage is named."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Span

from spacy_bergamot.errors import BergamotError

PICKLES = [bytes([0x80, protocol]) for protocol in (2, 3, 4, 5)]
TEXT = "高血圧 and a heart attack, raised blood pressures"


def links(nlp, linker=None):
    """Link two dictionary mentions and one that only the language model can link."""
    doc = nlp.get_pipe("bergamot_mentions")(nlp.make_doc(TEXT))
    doc.ents = [*doc.ents, Span(doc, len(doc) - 3, len(doc), "FINDING")]
    (linker or nlp.get_pipe("bergamot_linker"))(doc)
    return [(ent.text, ent.kb_id_, ent._.kb_ents) for ent in doc.ents]


def test_disk_bytes_and_pickle_give_the_same_links(nlp, saved):
    expected = links(nlp)
    assert len(expected) == 3
    assert len(expected[2][2]) > 1
    loaded = spacy.load(saved)
    assert links(loaded) == expected
    again = spacy.util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert links(again) == expected
    for pipeline in (nlp, loaded):
        copied = pickle.loads(pickle.dumps(pipeline.get_pipe("bergamot_linker")))
        assert links(pipeline, copied) == expected


def test_saving_over_the_folder_one_was_loaded_from(nlp, saved):
    loaded = spacy.load(saved)
    loaded.to_disk(saved)
    assert links(loaded) == links(nlp)
    assert links(spacy.load(saved)) == links(nlp)


def test_no_file_is_a_pickle(saved):
    for path in saved.rglob("*"):
        if path.is_file():
            assert path.read_bytes()[:2] not in PICKLES, path
            if path.suffix == ".npy":
                np.load(path, allow_pickle=False)


def test_settings_come_from_the_config_alone(saved):
    config = {"components": {"bergamot_linker": {"threshold": 1.0, "k": 2}}}
    nlp = spacy.load(saved, config=config)
    assert nlp.get_pipe("bergamot_linker").settings.k == 2
    assert nlp.get_pipe("bergamot_linker").settings.threshold == 1.0


def test_many_processes_forked_and_spawned(saved, tmp_path):
    script = tmp_path / "run.py"
    script.write_text(
        f"""
import multiprocessing, spacy, torch
if __name__ == "__main__":
    nlp = spacy.load({str(saved)!r})
    texts = ["a heart attack", "mild fevers", "患者は高血圧と糖尿病がある。"] * 20
    nlp("warm up the threads of high blood pressures")
    alone = [[(e.text, e.kb_id_) for e in doc.ents] for doc in nlp.pipe(texts)]
    assert alone[2] == [("高血圧", "C01"), ("糖尿病", "C02")]
    for method in ("fork", "spawn"):
        multiprocessing.set_start_method(method, force=True)
        both = [[(e.text, e.kb_id_) for e in d.ents] for d in nlp.pipe(texts, n_process=2)]
        assert alone == both, both[:3]
        print(method)
"""
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    command = [sys.executable, str(script)]
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert result.stdout.split() == ["fork", "spawn"], result.stderr[-2000:]


def files_of(saved: Path) -> list[Path]:
    folder = saved / "bergamot_linker"
    names = ["encoder/model.safetensors", "index/strings.arrow", "index/postings.npy"]
    return [folder / name for name in [*names, "index/concepts/aliases.arrow"]]


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda path: path.unlink(), "B001"),
        (lambda path: path.write_bytes(path.read_bytes()[:-9]), "B006"),
        (lambda path: path.write_bytes(path.read_bytes()[:-1] + b"?"), "B006"),
    ],
)
def test_a_damaged_file_is_named(saved, number, damage, code):
    path = files_of(saved)[number]
    damage(path)
    with pytest.raises(BergamotError, match=code) as error:
        spacy.load(saved)
    assert path.name in str(error.value)


@pytest.mark.parametrize("name", ["nmslib", "usearch", "exact"])
@pytest.mark.parametrize("start", [0, 40, -40])
def test_a_changed_engine_is_named_whether_or_not_it_loads(make_nlp, tmp_path, name, start):
    make_nlp(engine=name).to_disk(tmp_path / "saved")
    folder = tmp_path / "saved/bergamot_linker/index/engine"
    path = max(folder.iterdir(), key=lambda file: file.stat().st_size)
    data = bytearray(path.read_bytes())
    data[start] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(BergamotError, match="B006") as error:
        spacy.load(tmp_path / "saved")
    assert path.name in str(error.value)


def test_an_index_of_another_format_version_is_refused(saved):
    manifest = saved / "bergamot_linker/index/manifest.json"
    manifest.write_text(manifest.read_text().replace('"format_version": 5', '"format_version": 2'))
    with pytest.raises(BergamotError, match="B004"):
        spacy.load(saved)


def test_bytes_of_something_else_are_refused(nlp):
    with pytest.raises(BergamotError, match="B035"):
        nlp.get_pipe("bergamot_linker").from_bytes(b"\x81\xa1a\x01")


@pytest.mark.parametrize("name", ["nmslib", "usearch"])
def test_engines_find_what_the_exact_engine_finds(make_nlp, name, tmp_path):
    pipelines = [make_nlp(engine=engine) for engine in (name, "exact")]
    pipelines[0].to_disk(tmp_path / "saved")
    pipelines[0] = spacy.load(tmp_path / "saved")
    indexes = [nlp.get_pipe("bergamot_linker").generator.index for nlp in pipelines]
    vectors = np.random.default_rng(0).standard_normal((20, 32)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    (rows, scores), (exact_rows, exact_scores) = (index.search(vectors, 5) for index in indexes)
    assert (rows == exact_rows).mean() > 0.95
    np.testing.assert_allclose(np.sort(scores), np.sort(exact_scores), atol=5e-3)
    chosen = np.array([3, 0, 7, 3])
    stored, expected = (index.engine.vectors(chosen) for index in indexes)
    np.testing.assert_allclose(stored, expected, atol=5e-3)
    one_row, one_score = indexes[0].search(vectors[:1], 5)
    assert (one_row == rows[:1]).all()
    np.testing.assert_allclose(one_score, scores[:1], atol=1e-5)
    for bad in (vectors[:, :8], vectors * np.nan, vectors * 0):
        with pytest.raises(BergamotError, match="B021"):
            indexes[0].search(bad, 3)


def test_an_unknown_engine_is_refused(make_nlp):
    with pytest.raises(BergamotError, match="B014"):
        make_nlp(engine="nothing")


def test_nothing_of_ours_is_overwritten_by_mistake(nlp, tmp_path):
    target = tmp_path / "out/bergamot_linker/index"
    target.mkdir(parents=True)
    (target / "thesis.txt").write_text("mine")
    with pytest.raises(BergamotError, match="B101"):
        nlp.to_disk(tmp_path / "out")
    assert (target / "thesis.txt").read_text() == "mine"


def test_a_packaged_linker_stands_behind_another_pipelines_ner(saved, tmp_path):
    packaged = spacy.load(
        saved,
        exclude=["bergamot_mentions"],
        config={"components.bergamot_linker.threshold": 0.999},
    )
    nlp = spacy.blank("en")
    patterns = [{"label": "X", "pattern": name} for name in ("heart attack", "zebra stripes")]
    nlp.add_pipe("entity_ruler").add_patterns(patterns)
    nlp.add_pipe("bergamot_linker", source=packaged)
    nlp.to_disk(tmp_path / "mine")
    for pipeline in (nlp, spacy.load(tmp_path / "mine")):
        doc = pipeline("A heart attack beside zebra stripes.")
        assert [(ent.text, ent.label_, ent.kb_id_) for ent in doc.ents] == [
            ("heart attack", "X", "C03"),
            ("zebra stripes", "X", "NIL"),
        ]
