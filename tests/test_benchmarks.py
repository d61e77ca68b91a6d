"""The benchmarks run, and say at the end what they promise."""

import itertools
import json
import sys
from pathlib import Path

import pytest
import spacy

from benchmarks.annotate_killed import checksums, watched
from spacy_bergamot.pipeline.build import build_pipeline
from tests.benchmark_figures import figures, figures_alone
from tests.processes import ROOT, run
from tests.spacy_bergamot.conftest import CONCEPTS, write_concepts, write_lm


@pytest.fixture(scope="module")
def training_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Preprocess the sample."""
    corpus = tmp_path_factory.mktemp("corpus")
    done = run("training", "preprocess", ROOT / "assets/sample/META", corpus)
    assert done.returncode == 0, done.stderr
    return corpus / "train"


def test_the_sampler_makes_batches_of_the_config_and_compares_them_with_a_step():
    found = figures("benchmarks.sampler", "--quick", "--step-ms", "50")
    assert found["edges"] == 180_000
    assert found["pairs_per_batch"] == 256
    assert 256 < found["nodes_per_batch"] <= 256 * 4
    assert 0 < found["ms_per_batch"] < 1000
    expected = 1000 / found["batches_per_s"] / 50
    assert abs(found["step_share"] - expected) < 0.01
    assert 0 < found["sampler_ms"] < found["ms_per_batch"]
    assert found["sampler_share"] == round(found["sampler_ms"] / 50, 4)


def test_gradients_of_the_objectives_at_two_steps(training_set: Path):
    small = ["text_encoder.hidden=16", "text_encoder.layers=1", "text_encoder.heads=2"]
    found = figures(
        "benchmarks.gradients", "configs/train/tiny.cfg", training_set, *small,
        "objectives.dgi.weight=0.5", "--steps", "0", "2", "--batches", "1",
    )  # fmt: skip
    assert list(found) == ["0", "2"]
    for objectives in found.values():
        assert set(objectives) == {"text", "node", "intermodal", "dgi"}
        assert all(row["norm"] > 0 and row["loss"] > 0 for row in objectives.values())
        assert all(-1 <= objectives[n]["cosine"] <= 1 for n in ("node", "intermodal", "dgi"))
        assert objectives["text"]["anchors"] > 0
        assert "anchors" not in objectives["dgi"]
    assert found["0"]["text"]["loss"] != found["2"]["text"]["loss"]


def test_word_embeddings_trained_in_three_ways(training_set: Path):
    small = ["text_encoder.hidden=16", "text_encoder.layers=1", "text_encoder.heads=2"]
    config = "configs/train/tiny.cfg"
    found = figures("benchmarks.word_embeddings", config, training_set, *small, "--steps", "1")
    assert list(found) == ["trained", "rows", "frozen"]
    assert all(value > 0 for way in found.values() for value in way.values())


def test_names_are_tokenised_together_into_few_bytes(tmp_path: Path):
    words = ["fever", "pain", "of", "the", "head", "and", "neck", "acute", "chronic", "left"]
    lines = [f"C||{' '.join(some)}" for some in itertools.permutations(words, 4)]
    (tmp_path / "names.txt").write_text("\n".join(lines))
    found = figures(
        "benchmarks.tokens", write_lm(tmp_path / "lm"), tmp_path / "names.txt", "--quick"
    )
    assert found["names"] == len(lines)
    assert found["ratio"] > 2
    assert found["bytes_per_name"] < 2 * found["tokens_per_name"] + 10


def test_models_on_a_small_dictionary(tmp_path: Path):
    """The dictionary has the gold concepts' names and a few others'; a copied name is found."""
    (tmp_path / "eval/queries").mkdir(parents=True)
    (tmp_path / "queries").mkdir()
    every = {concept: names["ENG"] for concept, (_, names) in CONCEPTS.items()}
    lines = [f"{concept}||{name}" for concept, names in every.items() for name in names]
    (tmp_path / "eval/dictionary.txt").write_text("\n".join(lines))
    first, *_, last = every
    (tmp_path / "eval/queries/ENG.txt").write_text(f"{first}||{every[first][0]}\n")
    (tmp_path / "queries/set.txt").write_text(f"{first}||{every[last][0]}\n")
    arguments = [tmp_path / "eval", tmp_path / "queries", write_lm(tmp_path / "lm"), "--lexical"]
    found = figures("benchmarks.development", *arguments, "--concepts", "2")
    for system in ("lexical", str(tmp_path / "lm")):
        assert found[system]["held_out"] == {"acc@1": 100, "acc@5": 100}
        assert found[system]["queries"]["acc@1"] == 0


def test_accuracy_of_every_generator_with_names_held_out(tmp_path: Path):
    kb, lm = write_concepts(tmp_path / "kb"), write_lm(tmp_path / "lm")
    base = write_lm(tmp_path / "base", seed=1)
    names = [
        (concept, name)
        for concept, (_, by) in CONCEPTS.items()
        for known in by.values()
        for name in known
    ]
    held = [(concept, name) for concept, name in names if name in ("heart attack", "pyrexia")]
    for path, entries in {
        "sets/marked.txt": [(concept, f"the {name}") for concept, name in names],
        "held/queries/ENG.txt": held,
        "held/dictionary.txt": [entry for entry in names if entry not in held],
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        lines = [f"{concept}||{name}" for concept, name in entries]
        (tmp_path / path).write_text("\n".join(lines), encoding="utf8")
    found = figures(
        "benchmarks.accuracy", kb, lm, tmp_path / "sets", "--base", base,
        "--held-out", tmp_path / "held", "--groups", "DISO", "--limit", "20",
    )  # fmt: skip
    assert list(found)[:4] == ["lexical", "base_dense", "dense", "pipeline"]
    for name, row in found.items():
        assert set(row) == {"acc@1", "acc@5", "by_set"}
        assert set(row["by_set"]) == {"marked", "held-out ENG"}
        macro = sum(one["acc@1"] for one in row["by_set"].values()) / 2
        assert abs(row["acc@1"] - macro) < 0.02, name
        assert 0 <= row["acc@1"] <= row["acc@5"] <= 100
    assert found["exact"]["by_set"]["held-out ENG"]["acc@5"] == 0  # they are gone from the table
    assert found["lexical"]["by_set"]["marked"]["acc@1"] > 50
    assert found["dense"] != found["base_dense"]
    assert found["pipeline_filtered"] != found["pipeline"]


def test_memory_stands_still_while_names_are_ever_new(tmp_path: Path):
    concepts, lm = write_concepts(tmp_path / "kb"), write_lm(tmp_path / "lm")
    build_pipeline(lm=lm, concepts=concepts, lang="en", engine="exact").to_disk(
        tmp_path / "pipeline"
    )
    found = figures_alone("benchmarks.memory", tmp_path / "pipeline", "--names", "8000")
    assert found["encode_names_per_s"] > 0
    assert found["pipe_names_per_s"] > 0
    assert found["encode_mib"] <= 50
    assert found["pipe_mib"] <= 50
    assert found["encode_first_mib"] + found["pipe_first_mib"] <= 150  # kept once


def test_a_new_mention_takes_what_its_stages_take(tmp_path: Path):
    concepts, lm = write_concepts(tmp_path / "kb"), write_lm(tmp_path / "lm")
    build_pipeline(lm=lm, concepts=concepts, lang="en", engine="usearch").to_disk(
        tmp_path / "pipeline"
    )
    found = figures(
        "benchmarks.new_mention", tmp_path / "pipeline", "--mentions", "5", "--precision", "bf16"
    )
    assert found["precision"] == "bf16"
    assert 0 < found["mentions"] <= 5
    parts = ("encode", "grams", "dense", "rest")
    for stage in ("find", *parts, "link"):
        assert 0 < found[stage]["p50_ms"] <= found[stage]["p90_ms"]
    whole = sum(found[part]["p50_ms"] for part in parts)
    assert whole == pytest.approx(found["link"]["p50_ms"], rel=0.5)


def test_clients_of_the_service_wait_about_equally_long_and_its_memory_stands_still(
    tmp_path: Path,
):
    pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")
    concepts, lm = write_concepts(tmp_path / "kb"), write_lm(tmp_path / "lm")
    build_pipeline(lm=lm, concepts=concepts, lang="xx", engine="exact").to_disk(tmp_path / "nlp")
    arguments = ["--clients", "4", "--seconds", "4", "--warm-up", "2"]
    found = figures("benchmarks.serve", tmp_path / "nlp", *arguments)
    assert found["errors"] == 0
    assert found["requests"] > 20
    assert found["per_s"] > 5
    assert 0 < found["p50_ms"] <= found["p95_ms"]
    assert found["ratio"] == pytest.approx(found["p95_ms"] / found["p50_ms"], rel=0.05)
    assert found["mib_after"] - found["mib_before"] < 50


def test_mentions_are_read_as_fast_in_scripts_without_spaces():
    found = figures("benchmarks.mention_speed", "--quick")
    rates = found["characters_per_s"]
    assert set(rates) == {"latin", "misspelt", "han"}
    for rate in rates.values():
        assert set(rate) == {"20000", "100000"}
        assert rate["100000"] > rate["20000"] / 4  # a fifth, were it quadratic
        assert rate["100000"] > 20_000
    assert all(count > 500 for count in found["mentions"].values())


def test_mentions_are_found_by_the_dictionary_and_by_other_pipelines(tmp_path: Path):
    concepts, lm = write_concepts(tmp_path / "kb"), write_lm(tmp_path / "lm")
    build_pipeline(lm=lm, concepts=concepts, lang="en", engine="exact").to_disk(tmp_path / "nlp")
    other = spacy.blank("en")
    other.add_pipe("span_ruler", config={"spans_key": None, "annotate_ents": True}).add_patterns(
        [{"label": "DISO", "pattern": "fevers"}, {"label": "DISO", "pattern": "nothing"}]
    )
    other.to_disk(tmp_path / "ruler")
    golds = {"The heart attack with fevers.": ["heart attack", "fevers"], "Not a cold.": ["cold"]}
    ids = {"heart attack": "I21", "fevers": "C10", "cold": "C04"}
    table = [
        {
            "text": text,
            "language": "ENG",
            "entities": [
                {"start": text.index(word), "end": text.index(word) + len(word),
                 "concept_id": ids[word]}
                for word in words
            ],
        }
        for text, words in golds.items()
    ]  # fmt: skip
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, table)))
    (tmp_path / "codes.tsv").write_text("I21\tC03")
    found = figures(
        "benchmarks.mentions", tmp_path / "nlp", tmp_path / "gold.jsonl", "--groups", "DISO",
        "--codes", tmp_path / "codes.tsv", "--finder", tmp_path / "ruler", "nowhere",
        "--quickumls", sys.executable, "--errors", "5",
    )  # fmt: skip
    assert (found["documents"], found["mentions"]) == (2, 3)
    systems = found["systems"]
    assert list(systems)[:2] == ["exact", "+ folded"]
    assert list(systems)[-1] == str(tmp_path / "ruler")
    assert all(row["words_per_s"] > 0 for row in systems.values())
    rates = {
        name: [row[m][rate] for m in ("strict_mention", "strict") for rate in "pr"]
        for name, row in systems.items()
    }
    assert rates["exact"][:2] == [100, pytest.approx(200 / 3)]
    assert rates["+ folded"][:2] == [100, 100]
    assert rates["exact"][3] >= 100 / 3
    assert rates[str(tmp_path / "ruler")][:2] == [100, pytest.approx(100 / 3)]


def test_annotating_gives_what_the_pipeline_gives(tmp_path: Path):
    concepts, lm = write_concepts(tmp_path / "kb"), write_lm(tmp_path / "lm")
    build_pipeline(lm=lm, concepts=concepts, lang="en", engine="exact").to_disk(tmp_path / "nlp")
    found = figures("benchmarks.annotate", tmp_path / "nlp", "--quick")
    assert found["equal"]
    assert found["mentions"] > 1500
    assert all(found[f"{way}_{n}"] > 0 for way in ("pipe", "annotate") for n in (1, 2))
    assert found["memory_mib"] > 50
    assert abs(found["growth_percent"]) < 50


WRITES = """
import pathlib, sys, time
for number in range(40):
    pathlib.Path(sys.argv[1], f"{number}.parquet").write_text(str(number))
    time.sleep(float(sys.argv[2]))
"""


def test_a_run_is_watched_and_killed_at_so_many_files(tmp_path: Path):
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
    command = [sys.executable, "-c", WRITES]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    readings = watched([*command, str(whole), "0.02"], whole, lambda _: False)
    assert len(checksums(whole)) == 40
    assert all(memory > 0 for files, memory in readings if 0 < files < 40)
    readings = watched([*command, str(killed), "60"], killed, lambda files: files >= 1)
    assert readings[-1][0] == 1
    assert checksums(killed) == {"0.parquet": checksums(whole)["0.parquet"]}
