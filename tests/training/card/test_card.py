"""The stage `card`: what a packaged pipeline says of itself, and what it says is missing."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from spacy.cli.package import package
from spacy.language import Language

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.storage.manifest import read_manifest
from spacy_bergamot.text import normalize
from tests.spacy_bergamot.conftest import CONCEPTS
from tests.training.card.conftest import meta_of, run

NAMES = sum(len(names) for _, by in CONCEPTS.values() for names in by.values())
RELEASE = [
    {
        "source": "SRC",
        "version": "2026-01",
        "name": "The invented source",
        "restriction": "",
        "licence": "https://creativecommons.org/licenses/by/4.0/",
        "address": "https://src.example",
    }
]
CONFIG = """
[paths]
output = "/home/somebody/models"

[text_encoder]
@text_encoders = "huggingface.v1"
name = "/home/somebody/base-lm"

[objectives]

[objectives.text]
@objectives = "text.v1"
weight = 1.0

[objectives.dgi]
@objectives = "dgi.v1"
weight = 0.0

[batches]
size = 16
"""


def readme(pipeline: Path) -> str:
    """Return README.md without the marks that keep Markdown from reading a character."""
    return (pipeline / "README.md").read_text("utf8").replace("\\", "")


def said(concepts: Path, target: Path) -> Path:
    """Return a copy of a concept table whose manifest says more of its sources."""
    shutil.copytree(concepts, target)
    manifest = json.loads((target / "manifest.json").read_text("utf8"))
    del manifest["manifest_sha256"]
    text = json.dumps({**manifest, "release": RELEASE})
    (target / "manifest.json").write_text(text, "utf8")
    return target


def trained(lm: Path, run_folder: Path, history: list[dict]) -> Path:
    """Return the language model in the folder of a training run."""
    shutil.copytree(lm, run_folder / "lm")
    (run_folder / "config.cfg").write_text(CONFIG, "utf8")
    (run_folder / "history.json").write_text(json.dumps(history), "utf8")
    return run_folder / "lm"


def test_a_card_says_what_the_pipeline_is(
    pipeline: Path, figures: Path, concepts: Path, lm: Path, tmp_path: Path
):
    history = [{"step": 5, "total": 1.0}, {"step": 8, "total": 0.5}]
    run(
        "card", pipeline, "--figures", figures, "--kb", said(concepts, tmp_path / "kb"),
        "--lm", trained(lm, tmp_path / "run", history), "--name", "mine", "--version", "1.2.3",
    )  # fmt: skip
    meta, page = meta_of(pipeline), readme(pipeline)
    assert (meta["name"], meta["version"], meta["license"]) == ("mine", "1.2.3", "CC BY 4.0")
    assert meta["sources"] == [
        {
            "name": "The invented source, 2026-01", "url": "https://src.example", "author": "",
            "license": "CC BY 4.0",
        }
    ]  # fmt: skip
    facts = meta["bergamot"]
    known = facts["knowledge_base"]
    assert (known["concepts"], known["names"], known["typed_concepts"]) == (10, NAMES, 10)
    assert known["groups"] == {"DISO": 5, "CHEM": 2, "ANAT": 1, "PHEN": 1, "PROC": 1}
    assert known["languages"]["CHI"] == 2
    rows = json.loads(figures.read_text())["systems"]["trained"]
    assert meta["performance"]["recall@1"] == pytest.approx(rows["micro"]["acc@1"] / 100, abs=1e-6)
    assert meta["performance"]["recall@5_GER"] == pytest.approx(
        rows["GER"]["acc@5"] / 100, abs=1e-6
    )
    for k in (1, 5):
        value, low, high = (rows["ENG"][f"acc@{k}{end}"] for end in ("", "_low", "_high"))
        assert f"{value:.1f} ({low:.1f}–{high:.1f})" in page
    assert "exact: @1 / @5 | lexical: @1 / @5" in page
    assert facts["language_model"]["steps"] == 8
    assert facts["language_model"]["objectives"] == {"text": 1.0}
    assert facts["language_model"]["base"] == "base-lm"
    known_name, new_mention = (
        meta["performance"][f"ms_per_{kind}_p50"] for kind in ("known_name", "new_mention")
    )
    assert 0 < known_name < new_mention
    for text in (
        "# xx_mine 1.2.3", "The invented source (SRC) | 2026-01 | CC BY 4.0", "| GER (de) | 4 |",
        "Not calibrated", f"exact: {facts['index']['vectors']} vectors of 32", "F32; fp32 on cpu",
        "steps | 8 of 16 pairs", "Finds mentions by dictionary only", "nothing is NIL",
        "Has no names in ARA", "Was not measured in CHI, JPN, RUS, SPA",
    ):  # fmt: skip
        assert text in page, text
    assert "/home/somebody" not in page + json.dumps(meta)
    assert str(tmp_path) not in page + json.dumps(meta)


def test_the_pipeline_still_loads_and_its_files_are_as_written(pipeline: Path, figures: Path):
    run("card", pipeline, "--figures", figures)
    nlp = spacy.load(pipeline)
    assert [ent.kb_id_ for ent in nlp("high blood pressure and a heart attack").ents] == [
        "C01", "C03",
    ]  # fmt: skip
    assert nlp.meta["description"].startswith("Links mentions in 6 languages to 10 concepts")
    for manifest in pipeline.rglob("manifest.json"):
        kind = json.loads(manifest.read_text("utf8"))
        read_manifest(manifest.parent, kind=kind["kind"], version=kind["format_version"])


def test_the_package_carries_the_card(pipeline: Path, tmp_path: Path):
    run("card", pipeline, "--name", "mine", "--version", "0.2.0", "--no-speed")
    (tmp_path / "packages").mkdir()
    package(pipeline, tmp_path / "packages", create_sdist=False, require_parent=True, silent=True)
    made = tmp_path / "packages/xx_mine-0.2.0"
    assert (made / "README.md").read_bytes() == (pipeline / "README.md").read_bytes()
    assert "SRCENG" in (made / "LICENSES_SOURCES").read_text("utf8")
    meta = json.loads((made / "meta.json").read_text())
    assert meta["bergamot"]["index"]["engine"] == "exact"
    # Of every spaCy that we support, not of the one at hand alone.
    assert meta["spacy_version"] == "<4.0,>=3.7"
    assert "spacy<4.0,>=3.7" in meta["requirements"]


def test_a_pipeline_with_other_components_keeps_the_spacy_it_was_made_with(
    pipeline: Path, tmp_path: Path
):
    nlp = spacy.load(pipeline)
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "more")
    before = meta_of(tmp_path / "more")["spacy_version"]
    run("card", tmp_path / "more", "--no-speed")
    assert meta_of(tmp_path / "more")["spacy_version"] == before != "<4.0,>=3.7"


def test_what_is_missing_is_left_out_and_said(
    pipeline: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    nowhere = tmp_path / "nowhere"
    printed = run(
        "card", pipeline, "--figures", nowhere, "--kb", nowhere, "--lm", nowhere, "--no-speed"
    )
    assert caplog.text.count("is missing; the card goes without it") == 3
    assert "The licence of SRCENG is not said" in printed
    meta, page = meta_of(pipeline), readme(pipeline)
    assert meta["performance"] == {}
    assert meta["license"] == ""
    for text in (
        "Not measured: no figures of an evaluation were given.", "Not measured: too few names",
        "| base | not said |", "| steps | not said |", "| SRCENG | 1 | not said |",
    ):  # fmt: skip
        assert text in page, text


def test_figures_of_another_model_are_left_out(
    pipeline: Path, figures: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    other = json.loads(figures.read_text())
    other["lms"]["trained"] = "0" * 64
    (tmp_path / "other.json").write_text(json.dumps(other))
    run("card", pipeline, "--figures", tmp_path / "other.json", "--no-speed")
    assert "recall@1" not in meta_of(pipeline)["performance"]
    text = "other.json has figures of other language models and pipelines"
    assert text in readme(pipeline)
    assert text in caplog.text


@pytest.mark.parametrize(("own", "kind"), [(40.0, "pipeline"), (99.0, "language model")])
def test_a_measured_pipeline_counts_unless_it_knows_the_mentions_by_heart(
    pipeline: Path, figures: Path, tmp_path: Path, own: float, kind: str
):
    measured = json.loads(figures.read_text())
    index = spacy.load(pipeline).get_pipe("bergamot_linker").parts.index.fingerprint
    measured["pipelines"] = {"whole": {"lm": "", "index": index, "own": own, "hidden": 1234}}
    best = {group: {**row, "acc@1": 77.0} for group, row in measured["systems"]["exact"].items()}
    measured["systems"]["whole"] = best
    (tmp_path / "measured.json").write_text(json.dumps(measured))
    run("card", pipeline, "--figures", tmp_path / "measured.json", "--no-speed")
    recall = meta_of(pipeline)["bergamot"]["recall"]
    assert recall["kind"] == kind
    assert (recall["groups"]["micro"]["recall@1"] == 0.77) == (kind == "pipeline")
    assert set(recall["beside"]) == {"exact", "lexical", "whole", "trained"} - {recall["system"]}
    said = "40% of the mentions are names of the pipeline itself, after 1,234 were hidden from it."
    assert (said in readme(pipeline)) == (kind == "pipeline")


def test_the_best_by_validation_is_the_model_that_was_exported(
    pipeline: Path, lm: Path, tmp_path: Path
):
    history = [
        {"step": 10, "recall@1": 50.0}, {"step": 20, "recall@1": 61.0},
        {"step": 30, "recall@1": 60.0}, {"step": 30, "total": 1.0},
    ]  # fmt: skip
    run("card", pipeline, "--lm", trained(lm, tmp_path / "run", history), "--no-speed")
    model = meta_of(pipeline)["bergamot"]["language_model"]
    assert (model["steps"], model["validation_recall@1"]) == (20, 0.61)
    (tmp_path / "run/history.json").write_text("{")
    with pytest.raises(BergamotError, match="B002"):
        run("card", pipeline, "--lm", tmp_path / "run/lm", "--no-speed")


def test_a_calibrated_pipeline_says_its_thresholds(
    make_nlp: Callable[..., Language], tmp_path: Path
):
    nlp = make_nlp(mentions=False, threshold=0.1, resolve_abbreviations=True)
    linker = nlp.get_pipe("bergamot_linker")
    names = [(c, n) for c, (_, by) in CONCEPTS.items() for ns in by.values() for n in ns]
    asked = [
        (normalize(f"{name} {word}"), "") for _, name in names for word in ("acute", "left", "x")
    ]
    golds = [frozenset({concept}) for concept, _ in names for _ in range(3)]
    found = linker.generator.generate(asked, k=linker.settings.k)
    report = linker.calibrate_on(found, golds, precision=0.5)
    nlp.to_disk(tmp_path / "pipeline")
    run("card", tmp_path / "pipeline", "--no-speed")
    page, meta = readme(tmp_path / "pipeline"), meta_of(tmp_path / "pipeline")
    assert meta["performance"]["calibration_ece"] == report["ece"]
    assert f"expected calibration error {report['ece']:.3f}" in page
    assert f"| 50% | {report['thresholds']['0.5']['probability']:.4f} |" in page
    assert "nothing is NIL" not in page
    assert "short forms" not in page
    assert "Finds no mentions" in page


def test_a_second_card_takes_the_place_of_the_first_and_of_nothing_else(
    pipeline: Path, figures: Path
):
    run("card", pipeline, "--figures", figures, "--no-speed")
    first = meta_of(pipeline)
    by_hand = {**first, "license": "for us alone"}
    by_hand["performance"] = {**first["performance"], "ents_f": 0.8}
    (pipeline / "meta.json").write_text(json.dumps(by_hand), "utf8")
    run("card", pipeline, "--no-speed")
    second = meta_of(pipeline)
    assert second["performance"] == {"ents_f": 0.8}
    assert second["license"] == "for us alone"
    assert second["description"] == first["description"]
    assert "Licences: for us alone." in readme(pipeline)
    run("card", pipeline, "--no-speed")
    assert meta_of(pipeline) == second
