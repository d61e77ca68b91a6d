"""A benchmark from knowledge base to figures: each step once, ours beside the published."""

import json
from pathlib import Path

import pytest
from confection import Config
from typer.testing import CliRunner

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.linking.mention import Mention
from tests.processes import instead_of_subprocess
from tests.spacy_bergamot.conftest import write_lm
from tests.spacy_bergamot.factories import candidate
from training.__main__ import app
from training.benchmark.config import BASE, read_config
from training.benchmark.corpora import read_part, set_of
from training.benchmark.ranking import link_scores
from training.corpora.registry import FORMS
from training.errors import BergamotError
from training.evaluate.report.published import published_figures
from training.rerank.candidates import Document, Gold

ROOT = Path(__file__).parents[3]
SAMPLE = f"""
[paths]
kb = "{ROOT}/assets/sample/META"
corpus = "{ROOT}/assets/sample/gold"

[kb]
languages = ["ENG", "SPA"]

[corpus]
home = "https://example.org"
form = "gold"
test = "gold.jsonl"

[corpus.sets]
QUAERO EMEA = "*"

[index]
engine = "exact"
"""
HOMONYMS = """
[corpus]
home = "https://example.org"
form = "spacy"
test = "train.spacy"
train = "train.spacy"

[corpus.sets]
homonyms = "*"

[linker]
k = 4

[rerank]
train = "training rerank {pipeline} {train} {reranker} --k {k}"
"""
CONFIGS = sorted({*(ROOT / "configs/benchmark").glob("*.cfg")} - {BASE})


@pytest.fixture(scope="module")
def lm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lm(tmp_path_factory.mktemp("lm") / "lm")


def test_the_sample_is_run_once_and_goes_on_where_something_changed(run, lm, tmp_path: Path):
    first = run(SAMPLE, "--paths.lm", lm)
    assert first.exit_code == 0, first.exception
    report = json.loads((tmp_path / "out/metrics.json").read_text("utf8"))
    assert report["done"] == ["concepts", "pipeline", "test", "candidates.arrow", "results"]
    row = report["figures"]["systems"]["candidates"]["QUAERO EMEA"]
    assert [f"acc@{2**n}" in row for n in range(7)] == [True] * 7
    assert report["figures"]["golds"] == "each_shifted"
    assert 0 < row["acc@1"] <= row["acc@64"]
    links = report["links"]["candidates"]["QUAERO EMEA"]
    assert links["r@1"] == pytest.approx(row["acc@1"], abs=0.01)
    assert "xMEN, Table 2, TF-IDF and SapBERT, type filter" in first.output
    theirs = [of for of in report["published"] if of["system"] == "TF-IDF"]
    assert {of["metric"]: of["value"] for of in theirs if "table" in of}["acc@64"] == 72.0
    assert theirs[0]["ours"]["candidates"] is not None

    words = ["evaluate-report", str(tmp_path / "out/results"), str(tmp_path / "report.html")]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert "QUAERO EMEA" in (tmp_path / "report.html").read_text("utf8")

    again = run(SAMPLE, "--paths.lm", lm)
    assert json.loads((tmp_path / "out/metrics.json").read_text("utf8"))["done"] == []
    assert first.output.strip().endswith(again.output.strip())
    run(SAMPLE, "--paths.lm", lm, "--evaluate.golds", "any")
    assert json.loads((tmp_path / "out/metrics.json").read_text("utf8"))["done"] == ["results"]
    run(SAMPLE, "--paths.lm", lm, "--linker.resolve_abbreviations", "true")
    done = json.loads((tmp_path / "out/metrics.json").read_text("utf8"))["done"]
    assert done == ["pipeline", "candidates.arrow", "results"]


def test_a_step_that_was_ended_is_made_again(run, pipeline, corpus, tmp_path: Path):
    text = HOMONYMS.partition("[rerank]")[0]
    paths = ("--paths.pipeline", pipeline, "--paths.corpus", corpus.parent)
    assert run(text, *paths).exit_code == 0
    (tmp_path / "out/results.inputs.json").write_text("{}")
    run(text, *paths)
    assert json.loads((tmp_path / "out/metrics.json").read_text("utf8"))["done"] == ["results"]


def test_a_reranker_is_trained_and_stands_beside_the_candidates(
    run, pipeline, corpus, tmp_path, monkeypatch
):
    monkeypatch.setattr("training.benchmark.run.subprocess.run", instead_of_subprocess)
    paths = ("--paths.pipeline", pipeline, "--paths.corpus", corpus.parent)
    made = run(HOMONYMS, *paths)
    assert made.exit_code == 0, made.exception
    report = json.loads((tmp_path / "out/metrics.json").read_text("utf8"))
    systems = report["figures"]["systems"]
    assert systems["candidates"]["homonyms"]["acc@1"] == pytest.approx(50, abs=1)
    assert systems["reranked"]["homonyms"]["acc@1"] > 95
    assert report["links"]["reranked"]["homonyms"]["f1@1"] > 95
    assert report["figures"]["comparisons"]


@pytest.mark.parametrize(
    ("overrides", "code"),
    [
        (["--corpus.test", "none"], r"T282.*homonyms.*none.*https://example.org.*spacy"),
        (["--corpus.train", "none"], "T282"),
        (["--corpus.train_ids", "none"], "T282"),
        (["--corpus.labels", '["X"]'], "T296.*X"),
        (["--corpus.sets", '{"homonyms": "b*"}'], r"T296.*b\*"),
        (["--evaluate.golds", "annotated"], "B014"),
        (["--corpus.tests", "x"], "B014.*corpus.tests.*home"),
        (["--rerank.train", "json.tool {pipeline}/no.json"], r"(?s)T284.*status \d.*no.json"),
        (["--rerank.train", "json.tool {nothing}"], "(?s)T284.*nothing.*reranker"),
        (
            [
                "--corpus.train",
                "none",
                "--rerank.folder",
                "F",
                "--rerank.install",
                "json.tool {reranker}/no.json",
            ],
            "(?s)T284.*F/no.json",
        ),
    ],
)
def test_what_cannot_be_run_says_why(run, pipeline, corpus, overrides, code):
    paths = ("--paths.pipeline", pipeline, "--paths.corpus", corpus.parent)
    made = run(HOMONYMS, *paths, *overrides)
    assert isinstance(made.exception, BergamotError), made.exception
    with pytest.raises(BergamotError, match=code):
        raise made.exception


def test_a_missing_language_model_is_said_before_the_work_begins(run, tmp_path: Path):
    assert isinstance(run(SAMPLE, "--paths.lm", tmp_path / "none").exception, BergamotError)
    assert not (tmp_path / "out").exists()


def test_what_no_benchmark_made_stays(run, pipeline, corpus, tmp_path: Path):
    (tmp_path / "out/test").mkdir(parents=True)
    made = run(HOMONYMS, "--paths.pipeline", pipeline, "--paths.corpus", corpus.parent)
    assert "B101" in str(made.exception)
    assert (tmp_path / "out/test").is_dir()


def test_a_broken_config_is_named_with_its_line(run):
    assert "T210" in str(run("[paths\nkb = 1\n").exception)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_config_is_of_published_sets_and_known_forms(path: Path):
    config = read_config(path, {"paths.kb": "KB"})
    entries = [e for e in published_figures() if e["set"] in config["corpus"]["sets"]]
    assert {e["set"] for e in entries} == set(config["corpus"]["sets"]) - {"SympTEMIST"}
    assert config["corpus"]["home"].startswith("https://")
    assert config["corpus"]["form"] in {*FORMS, None}
    release = config["evaluate"]["release"]
    assert not release or release in {entry["dictionary"] for entry in entries}
    assert config["paths"]["kb"] == "KB"
    assert config["linker"]["k"] == 64


def test_the_base_is_no_benchmark():
    with pytest.raises(BergamotError, match=r"T292.*paths\.output"):
        read_config(BASE, {})
    with pytest.raises(BergamotError, match=r"T292.*corpus\.home"):
        read_config(BASE, {"paths.output": "o", "paths.corpus": "c"})


def test_folds_hold_one_part_back(tmp_path: Path, corpus: Path, pipeline: Path):
    table = ConceptTable.open(pipeline / "bergamot_linker/index/concepts")
    settings = dict(Config().from_disk(BASE)["corpus"])
    settings |= {"form": "spacy", "sets": {"all": ["d1*", "d2*", "d3*"]}}
    settings["parts"] = ["d1*", "d2*", "d3*"]

    def documents(fold: int, part: str) -> set[str]:
        read = read_part(settings | {"fold": fold}, corpus, part, table)
        return {name[:2] for name in read.mentions["document"].to_pylist()}

    assert [documents(fold, "test") for fold in (1, 2, 3)] == [{"d1"}, {"d2"}, {"d3"}]
    assert [documents(fold, "train") for fold in (1, 2, 3)] == [{"d2"}, {"d3"}, {"d1"}]


def test_documents_belong_to_the_first_set_that_has_them():
    sets = {"one": "EMEA/*", "two": ["MED*", "*"]}
    assert [set_of(name, sets) for name in ("EMEA/1", "MEDLINE/1", "x")] == ["one", "two", "two"]


def test_a_place_with_two_golds_is_given_the_first_two_candidates():
    """Golds A and B at one place, then C; NIL where there are no candidates."""
    mentions = [Mention("cold", "X", "cold fever zeal", *at) for at in ((0, 4), (5, 10), (11, 15))]
    golds = [Gold(frozenset(of), True) for of in ("BA", "C", "D")]
    found = [[[candidate(one, 0.5) for one in ids] for ids in ("BA", "BC", "")]]
    document = Document("d", mentions, found[0], golds)

    def rates(golds: str) -> tuple[float, float, int]:
        of = link_scores([document], found, {"s": "*"}, golds=golds)["s"]
        return round(of["p@1"]), round(of["r@1"]), of["n"]

    assert rates("each_shifted") == (67, 50, 4)  # A, B of A, B, B; of A, B, C, D
    assert rates("each") == (50, 25, 4)  # B of B, B
    assert rates("any") == (50, 33, 3)
