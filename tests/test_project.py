"""The whole project on the sample with a tiny config, and its wheel in another environment."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from weasel.cli.run import project_run

from spacy_bergamot.encoder.settings import EncoderSettings
from spacy_bergamot.kb.concept_table import ConceptTable
from tests.plain_models import write_xlmr
from tests.processes import ROOT, instead_of_subprocess
from tests.spacy_bergamot.kb_import.ontology.invented import write_sources

INDEX = "bergamot_linker/index/manifest.json"
SHORT = {"vars.config": "configs/train/tiny.cfg", "vars.max_steps": 30}
pytestmark = pytest.mark.slow


def copy_project(root: Path) -> Path:
    """Copy what the workflows need."""
    for name in ("project.yml", "configs", "assets", "training", "spacy_bergamot"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, root / name)
    return root


def cut_sample(folder: Path) -> None:
    """Keep every fifth concept."""
    for path in folder.glob("*.RRF"):
        if path.stem != "MRSAB":
            lines = path.read_text("utf8").splitlines(keepends=True)
            kept = [line for line in lines if int(line[1:8]) % 5 == 0]
            path.write_text("".join(kept), "utf8")


def run_workflow(root: Path, name: str, overrides: dict[str, object]) -> None:
    """Run a workflow whose commands need not import first; those of `open` are run as they are."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("weasel.cli.run.run_command", run_command)
        project_run(root, name, overrides=overrides, capture=True)


def run_command(command: list[str], *, capture: bool) -> None:
    done = instead_of_subprocess(command)
    assert done.returncode == 0, (command, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the workflow `all` in a copy of the project: 30 steps of training."""
    root = copy_project(tmp_path_factory.mktemp("project"))
    run_workflow(root, "all", SHORT)
    return root


@pytest.fixture(scope="module")
def wheel(project: Path) -> Path:
    return next(project.glob("packages/xx_bergamot_sample-*/dist/*.whl"))


def test_every_step_leaves_its_output(project: Path):
    report = json.loads((project / "metrics/held_out.json").read_text())
    assert set(report["systems"]) == {"exact", "lexical", "untrained", "trained", "packaged"}
    assert len(report["systems"]["trained"]) == 12  # ten languages, macro, micro
    pipeline = report["pipelines"]["packaged"]
    assert (pipeline["own"], pipeline["hidden"]) == (0, 858)
    page = (project / "metrics/report.html").read_text()
    for title in ("Accuracy", "Calibration", "Error analysis", "Training", "Names in the plane"):
        assert f">{title}</h2>" in page
    assert (project / "metrics/report.md").is_file()
    history = json.loads((project / "models/train/history.json").read_text())
    assert history[-1]["step"] == 30
    assert {"text", "node", "intermodal", "dgi"} <= history[-1].keys()


def test_a_second_run_skips_what_is_done(project: Path):
    before = (project / "models/train/lm/manifest.json").stat().st_mtime_ns
    run_workflow(project, "train", SHORT)
    assert (project / "models/train/lm/manifest.json").stat().st_mtime_ns == before


def test_the_pretrained_workflow_goes_from_a_plain_folder_to_a_wheel_without_training(
    tmp_path: Path,
):
    source = write_xlmr(tmp_path / "xlmr")
    (tmp_path / "project").mkdir()
    root = copy_project(tmp_path / "project")
    cut_sample(root / "assets/sample/META")
    overrides = {"vars.lm": str(source), "vars.pooling": "mean", "vars.name": "untrained"}
    run_workflow(root, "pretrained", overrides)
    report = json.loads((root / "metrics/held_out.json").read_text())
    assert set(report["systems"]) == {"exact", "lexical", "pretrained", "packaged"}
    assert len(report["systems"]["pretrained"]) == 12
    assert "Names in the plane" in (root / "metrics/report.html").read_text()
    assert not (root / "corpus/train").exists()
    assert EncoderSettings.read(root / "models/base") == EncoderSettings("mean", 25, True)
    wheel = next(root.glob("packages/xx_untrained-*/dist/*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        texts = [archive.read(name) for name in archive.namelist() if name.endswith("json")]
    assert not any(str(tmp_path).encode() in text for text in texts)
    made = [root / "metrics/held_out.json", root / "models/pipeline/meta.json", wheel]
    times = [path.stat().st_mtime_ns for path in made]
    run_workflow(root, "pretrained", overrides)
    assert [path.stat().st_mtime_ns for path in made] == times


def test_the_card_makes_no_step_run_again(project: Path):
    """It completes meta.json, which `assemble` wrote."""
    made = [project / "models/pipeline" / name for name in (INDEX, "meta.json", "README.md")]
    before = [path.stat().st_mtime_ns for path in made]
    for step in ("assemble", "card"):
        run_workflow(project, step, SHORT)
    assert [path.stat().st_mtime_ns for path in made] == before


def test_the_ner_workflows_score_mentions_and_links_and_end_in_a_wheel(project: Path):
    gold = {
        "vars.ner_corpus": "assets/sample/gold/gold.jsonl",
        "vars.ner_form": "gold",
        "vars.ner_label": "",
    }
    length = {"vars.ner_epochs": 1, "vars.ner_batch_pieces": 2048, "vars.ner_dev_share": 0.25}
    overrides = SHORT | gold | length
    texts = project / "assets/texts"
    texts.mkdir()
    (texts / "a.txt").write_text("Der Patient hat Fieber und Husten.")
    run_workflow(project, "ner", overrides)
    scores = json.loads((project / "metrics/ner.json").read_text())
    assert scores["partial_mention"]["r"] > 50
    assert set(scores["languages"]) == {"CHI", "DUT", "ENG", "FRE", "GER", "ITA", "JPN", "POR",
                                        "RUS", "SPA"}  # fmt: skip
    wheel = next(project.glob("packages/*_ner-*/dist/*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        assert any("/bergamot_finder/" in name for name in archive.namelist())
    run_workflow(project, "ner-silver", overrides)
    assert (project / "models/finder_silver/finder/manifest.json").is_file()


def test_the_open_workflow_imports_the_ontologies_of_a_folder(project: Path, tmp_path: Path):
    folder = write_sources(tmp_path / "ontologies")
    overrides = {"vars.ontologies": str(folder)}
    root = tmp_path / "project"
    shutil.copytree(project, root, ignore=shutil.ignore_patterns("corpus", "models", "packages"))
    project_run(root, "import", overrides=overrides, capture=True)
    project_run(root, "preprocess-open", overrides=overrides, capture=True)
    table = ConceptTable.open(root / "corpus/kb")
    assert "morbid zeal" in table["C9000001"].aliases


def test_the_wheel_needs_the_package_and_nothing_of_training(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = next(name for name in names if name.endswith("METADATA"))
        lines = archive.read(metadata).decode().splitlines()
        texts = b"".join(
            archive.read(n) for n in names if n.endswith((".cfg", "meta.json", "manifest.json"))
        )
    needs = [line for line in lines if line.startswith("Requires-Dist")]
    assert any("spacy_bergamot" in need.replace("-", "_") for need in needs)
    assert not any("polars" in need or "geometric" in need for need in needs)
    assert not any("training" in name for name in names)
    assert str(ROOT).encode() not in texts
    assert b"corpus/kb" not in texts


def test_the_wheel_carries_the_model_card(project: Path, wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        names = {name.rpartition("/")[2]: name for name in archive.namelist()}
        page, metadata, meta = (
            archive.read(names[name]).decode() for name in ("README.md", "METADATA", "meta.json")
        )
        assert "LICENSES_SOURCES" in names
    figures = json.loads((project / "metrics/held_out.json").read_text())
    recall = figures["systems"]["packaged"]["micro"]["acc@1"]
    assert json.loads(meta)["performance"]["recall@1"] == pytest.approx(recall / 100, abs=1e-6)
    assert json.loads(meta)["bergamot"]["language_model"]["steps"] == 30
    for text in (page, metadata):
        assert f"{recall:.1f} (" in text
        assert "## Limits" in text


@pytest.fixture(scope="module")
def own_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel of spacy_bergamot from a copy of the checkout."""
    root = tmp_path_factory.mktemp("wheel")
    skipped = shutil.ignore_patterns(".git", ".venv", "corpus", "models", "*.egg-info", "build")
    shutil.copytree(ROOT, root / "src", ignore=skipped)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(root)]
    subprocess.run([*command, str(root / "src")], check=True, capture_output=True, timeout=300)
    return next(root.glob("*.whl"))


def test_the_packages_own_wheel_ships_the_package_only(own_wheel: Path):
    with zipfile.ZipFile(own_wheel) as archive:
        names = set(archive.namelist())
    tops = {name.partition("/")[0] for name in names}
    code = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("spacy_bergamot/**/*.py")}
    data = {"kb/semantic_types.tsv", "mentions/word_pieces.txt.xz", "output/templates/base.html"}
    assert code | {f"spacy_bergamot/{name}" for name in data} <= names
    assert {top for top in tops if not top.endswith(".dist-info")} == {"spacy_bergamot"}


def test_the_wheel_links_in_an_environment_of_its_own(wheel: Path, own_wheel: Path, tmp_path: Path):
    """The environment sees the installed dependencies, not the checkout."""
    home = tmp_path / "env"
    venv.create(home, with_pip=False)
    python = home / "bin/python"
    site = next(home.glob("lib/python*/site-packages"))
    (site / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    for path in (own_wheel, wheel):
        with zipfile.ZipFile(path) as archive:
            archive.extractall(site)
    code = (
        "import spacy_bergamot, xx_bergamot_sample\n"
        f"assert spacy_bergamot.__file__.startswith({str(site)!r})\n"
        "nlp = xx_bergamot_sample.load()\n"
        "texts = ['She has high blood pressure.', '患者は糖尿病がある。', 'Инфаркт миокарда',"
        " 'Hipertensión arterial', 'Vorhofflimmern']\n"
        "print([[e.kb_id_ for e in doc.ents] for doc in nlp.pipe(texts)])"
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    result = subprocess.run(
        [str(python), "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True,
        timeout=240, check=False,
    )  # fmt: skip
    expected = [["C0020538"], ["C0011849"], ["C0027051"], ["C0020538"], ["C0004238"]]
    assert result.stdout.strip().splitlines()[-1:] == [str(expected)], result.stderr[-3000:]
