"""A learned mix tells homonyms apart by their context, and is a part of the pipeline."""

import json
import pickle
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_bergamot.cli import bergamot
from spacy_bergamot.errors import BergamotError
from spacy_bergamot.linking.candidates import NIL
from spacy_bergamot.linking.learned_mix import Weights
from spacy_bergamot.pipeline.held_out import Name, answers
from tests.benchmark_figures import figures
from tests.training.rerank.conftest import accuracy, documents, links
from training.__main__ import app
from training.rerank.candidates import Asked

ROOT = Path(__file__).parents[3]
runner = CliRunner()


def trained(pipeline: Path, corpus: Path, output: Path, *options: str) -> str:
    result = runner.invoke(
        app, ["rerank", str(pipeline), str(corpus), str(output), *options], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="session")
def mix(pipeline: Path, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mix") / "mix"
    trained(pipeline, corpus, folder)
    return folder


@pytest.fixture(scope="session")
def reranked(pipeline: Path, mix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("reranked") / "pipeline"
    result = runner.invoke(bergamot, ["rerank", str(pipeline), str(mix), str(output)])
    assert result.exit_code == 0, result.output
    return output


def write_with(path: Path, concepts: list[str]) -> None:
    """Write the documents with other concepts in the first ones."""
    docs = documents(spacy.blank("en"), range(96))
    for doc, concept in zip(docs, concepts, strict=False):
        for token in doc.ents[0]:
            token.ent_kb_id_ = concept
    DocBin(docs=docs, store_user_data=True).to_disk(path)


def test_homonyms_are_told_apart_by_a_word_of_the_context(pipeline: Path, reranked: Path):
    assert accuracy(links(spacy.load(pipeline))) == 0.5
    found = links(spacy.load(reranked))
    assert accuracy(found) > 0.95
    for _, candidates in found:
        scores = [score for _, score in candidates]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)
        assert sum(scores) <= 1 + 1e-5


def test_candidates_say_what_their_score_was_and_what_each_family_added(reranked: Path):
    explained = spacy.load(reranked).get_pipe("bergamot_linker").explain("cold", context="a cold")
    first = explained["candidates"][0]
    assert first["scores"]["before"] == 1.0
    assert {"order", "names", "prior", "context", "coherence", "hierarchy"} < set(first["scores"])
    assert all(one["concept_id"] != "NIL" for one in explained["candidates"])


def test_saved_pickled_and_spawned_pipelines_give_equal_scores(reranked: Path, tmp_path: Path):
    nlp = spacy.load(reranked)
    expected = links(nlp)
    nlp.to_disk(tmp_path / "again")
    assert links(spacy.load(tmp_path / "again")) == expected
    assert links(pickle.loads(pickle.dumps(nlp))) == expected
    copy = spacy.blank("en")
    config = {**nlp.get_pipe_config("bergamot_linker")}
    copy.add_pipe(config.pop("factory"), config=config)
    assert links(copy.from_bytes(nlp.to_bytes())) == expected
    docs = documents(nlp, range(200, 204))
    spawned = [doc.ents[0]._.candidates for doc in nlp.pipe(docs, n_process=2, batch_size=2)]
    assert [[(c["concept_id"], c["score"]) for c in of] for of in spawned] == [
        found for _, found in expected[:8]
    ]


def test_the_order_of_documents_changes_nothing(reranked: Path):
    nlp = spacy.load(reranked)
    docs = documents(nlp, range(200, 220))
    shuffled = random.Random(0).sample(docs, len(docs))
    linker = nlp.get_pipe("bergamot_linker")
    before = {doc.user_data["document"]: found
              for doc, found in zip(docs, linker.predict(docs), strict=True)}  # fmt: skip
    for doc, found in zip(shuffled, linker.predict(shuffled), strict=True):
        assert before[doc.user_data["document"]] == found


def test_empty_documents_and_mentions_that_nothing_is_found_for(reranked: Path):
    nlp = spacy.load(reranked)
    empty, strange = nlp.make_doc(""), nlp.make_doc("seen %% here")
    strange.set_ents([strange.char_span(5, 7, label="DISO", alignment_mode="expand")])
    for doc in nlp.get_pipe("bergamot_linker").pipe([empty, strange]):
        assert [ent.kb_id_ for ent in doc.ents] in ([], ["NIL"])


def test_a_second_run_reads_the_candidates_and_writes_the_same(
    pipeline: Path, corpus: Path, mix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    kept = mix.with_name("mix.candidates.arrow")
    assert Asked.read(kept).facts["k"] == 4

    def never(*_: object, **__: object) -> None:
        raise AssertionError("candidates are asked for again")

    monkeypatch.setattr("spacy_bergamot.linking.candidates.CandidateGenerator.generate", never)
    trained(pipeline, corpus, tmp_path / "again", "--candidates", str(kept))
    assert (tmp_path / "again/mix.json").read_bytes() == (mix / "mix.json").read_bytes()
    with pytest.raises(AssertionError, match="again"):
        trained(pipeline, corpus, tmp_path / "other", "--candidates", str(kept), "--k", "3")


def test_the_report_says_what_is_gained_and_what_no_ranking_can_reach(
    pipeline: Path, tmp_path: Path
):
    write_with(tmp_path / "odd.spacy", ["X99", "A03", "NIL", "A00+B00"])
    shown = trained(pipeline, tmp_path / "odd.spacy", tmp_path / "mix")
    report = json.loads((tmp_path / "mix/mix.json").read_text())["report"]
    counts = report["counts"]
    assert counts["mentions"] == 191
    assert counts["several concepts together"] == 1
    assert counts["gold that the knowledge base lacks"] == 1
    assert counts["gold that the candidates lack"] == 1
    dev = report["dev"]
    assert dev["acc@1_after"][0] - dev["acc@1_before"][0] == pytest.approx(
        dev["gain"]["difference"], abs=0.01
    )
    assert dev["gain"]["low"] > 0
    assert "Acc@1 after" in shown
    assert "1 gold that the candidates lack" in shown


def test_a_mix_of_another_index_or_of_other_generators_is_refused(
    make_pipeline: Callable[..., Path], mix: Path, reranked: Path, tmp_path: Path
):
    config = {"components": {"bergamot_linker": {"generator": {"agreement": 0.5}}}}
    with pytest.raises(BergamotError, match=r"B148.*agreement=0\.5"):
        spacy.load(reranked, config=config)
    other = tmp_path / "other"
    Weights.read(mix).save(other, index="another", generator="one")
    plain = make_pipeline(tmp_path / "plain")
    result = runner.invoke(bergamot, ["rerank", str(plain), str(other), str(tmp_path / "out")])
    assert result.exit_code == 1
    assert "B050" in result.output
    assert not (tmp_path / "out").exists()


def test_a_damaged_mix_is_refused(mix: Path, pipeline: Path, tmp_path: Path):
    for number, change in enumerate(
        (
            lambda facts: facts["candidate"].pop("label"),
            lambda facts: facts["nil"].update(constant=float("nan")),
            lambda facts: facts.update(generators=[1]),
        )
    ):
        facts = json.loads((mix / "mix.json").read_text())
        change(facts)
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "mix.json").write_text(json.dumps(facts))
        with pytest.raises(BergamotError, match="B149"):
            Weights.read(folder)
    result = runner.invoke(
        bergamot, ["rerank", str(pipeline), str(tmp_path), str(tmp_path / "out")]
    )
    assert result.exit_code == 1
    assert "B001" in result.output


def test_a_calibration_of_other_scores_is_left_out(
    make_pipeline: Callable[..., Path], mix: Path, corpus: Path, tmp_path: Path
):
    plain, calibrated, output = (tmp_path / name for name in ("plain", "calibrated", "out"))
    make_pipeline(plain)
    arguments = ["calibrate", str(plain), str(corpus), str(calibrated)]
    assert (result := runner.invoke(bergamot, arguments)).exit_code == 0, result.output
    result = runner.invoke(bergamot, ["rerank", str(calibrated), str(mix), str(output)])
    assert "calibrate it again" in result.output
    assert not (output / "bergamot_linker/calibration").exists()
    assert spacy.load(output).get_pipe("bergamot_linker").settings.min_probability is None
    write_with(tmp_path / "some_wrong.spacy", ["X99"] * 20)
    arguments = ["calibrate", str(output), str(tmp_path / "some_wrong.spacy"), str(tmp_path / "c")]
    again = runner.invoke(bergamot, arguments)
    assert again.exit_code == 0, again.output
    nlp = spacy.load(tmp_path / "c")
    assert accuracy(links(nlp)) > 0.95
    assert nlp.get_pipe("bergamot_linker").parts.calibration is not None


def test_too_little_to_learn_from_is_said(pipeline: Path, tmp_path: Path):
    nlp = spacy.blank("en")
    DocBin(docs=documents(nlp, range(4)), store_user_data=True).to_disk(tmp_path / "few.spacy")
    with pytest.raises(BergamotError, match="T372"):
        trained(pipeline, tmp_path / "few.spacy", tmp_path / "mix")
    assert not (tmp_path / "mix").exists()
    plain = nlp.make_doc("nothing here")
    DocBin(docs=[plain], store_user_data=True).to_disk(tmp_path / "none.spacy")
    with pytest.raises(BergamotError, match="T296"):
        trained(pipeline, tmp_path / "none.spacy", tmp_path / "mix")


def test_concepts_are_hidden_and_nil_is_measured(reranked: Path, corpus: Path, tmp_path: Path):
    output = tmp_path / "nil.json"
    arguments = ["evaluate-links", str(reranked), str(corpus), str(output)]
    shown = runner.invoke(app, [*arguments, "--remove-concepts", "0.3"], catch_exceptions=False)
    assert shown.exit_code == 0, shown.output
    scores = json.loads(output.read_text())
    assert scores["counts"]["hidden"] == pytest.approx(0.3 * 192, abs=8)
    assert 0 < scores["nils"] < scores["mentions"] < scores["counts"]["mentions"]
    assert set(scores["linked"]) == {"0.5", "0.6", "0.7", "0.8", "0.9", "1"}
    for key in ("nil", "nil_as_set"):
        value, low, high = scores[key]["f1"]
        assert 0 <= low <= value <= high <= 100
    assert "of the gold concepts hidden, seed 0" in shown.output
    again = tmp_path / "again.json"
    arguments[-1] = str(again)
    runner.invoke(app, [*arguments, "--remove-concepts", "0.3"], catch_exceptions=False)
    assert again.read_bytes() == output.read_bytes()
    runner.invoke(app, [*arguments, "--remove-concepts", "0.3", "--seed", "1"])
    assert again.read_bytes() != output.read_bytes()
    with pytest.raises(BergamotError, match="B037"):
        runner.invoke(app, [*arguments, "--remove-concepts", "1.5"], catch_exceptions=False)


def test_the_benchmark_compares_rerankers_with_paired_intervals(
    pipeline: Path, corpus: Path, tmp_path: Path
):
    write_with(tmp_path / "tune.spacy", ["X99"] * 20)
    found = figures("benchmarks.context", pipeline, tmp_path / "tune.spacy", corpus)
    assert list(found) == ["none", "abbreviations", "prior", "coherence", "learned mix"]
    mix = found["learned mix"]
    assert found["none"]["acc_1"] == 50 < mix["acc_1"]
    assert 0 < mix["gain_low"] <= mix["gain"] <= mix["gain_high"]
    assert mix["ms"] > 0
    assert 0 <= mix["ece"] <= 1


def test_hidden_concepts_teach_nil(pipeline: Path, corpus: Path, tmp_path: Path):
    trained(pipeline, corpus, tmp_path / "mix", "--remove-concepts", "0.3")
    report = json.loads((tmp_path / "mix/mix.json").read_text())["report"]
    assert report["counts"]["hidden"] > 30


def test_held_out_names_are_reranked_before_they_calibrate(pipeline: Path, reranked: Path):
    names = [Name(frozenset(["A00"]), "a cold"), Name(frozenset(["A01"]), "depressions")]
    plain, mixed = (
        answers(spacy.load(path).get_pipe("bergamot_linker"), names)
        for path in (pipeline, reranked)
    )
    assert len(plain.candidates) == len(mixed.candidates) > 0
    assert not any("before" in one.scores for of in plain.candidates for one in of)
    scored = [one for of in mixed.candidates for one in of if one.concept_id != NIL]
    assert scored
    assert all("before" in one.scores and 0 <= one.score <= 1 for one in scored)
