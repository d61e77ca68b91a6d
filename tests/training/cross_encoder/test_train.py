"""A tiny cross-encoder learns which words go together, and is resumed where it broke off."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.linking.candidates import NIL
from spacy_bergamot.linking.learned_mix import LearnedMix
from spacy_bergamot.linking.profiles import Profiles
from spacy_bergamot.pipeline.linker import BergamotLinker
from tests.training.cross_encoder.conftest import RECIPE, Learned
from tests.training.rerank.conftest import documents
from training.__main__ import app
from training.cross_encoder import train as module
from training.cross_encoder.examples import examples_of, mixed_of, once_a_document, rows_of
from training.cross_encoder.recipe import Recipe
from training.cross_encoder.train import train_cross_encoder
from training.rerank.candidates import Asked
from training.rerank.fit import fit, named
from training.rerank.run import Observed, generators_of, observe

SHORT = replace(RECIPE, epochs=2, checkpoint_steps=10)


def test_it_learns_what_the_mix_cannot(learned: Learned):
    best = learned.report["best"]
    assert 35 < best["acc@1_mix"][0] < 65
    assert best["acc@1_both"][0] > 95
    assert best["gain"]["low"] > 0
    assert best["read"] == 1
    losses = [entry["loss"] for entry in learned.report["history"]]
    assert losses[-1] < losses[0] / 2
    assert learned.report["counts"]["read"] == 576
    assert learned.report["counts"]["learned from"] < 576


def test_a_resumed_run_ends_as_one_without_a_break(
    linker: BergamotLinker,
    asked: list[Asked],
    words_lm: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    whole = train_cross_encoder(linker, asked[:1], words_lm, tmp_path / "whole", SHORT)
    backward = module._Run.backward

    def broken(run: object, step: int) -> float:
        if step == 46:  # of the second epoch, behind a checkpoint inside of it
            raise KeyboardInterrupt
        return backward(run, step)

    with monkeypatch.context() as patch:
        patch.setattr(module._Run, "backward", broken)
        with pytest.raises(KeyboardInterrupt):
            train_cross_encoder(linker, asked[:1], words_lm, tmp_path / "broken", SHORT)
    other = replace(SHORT, learn_rate=1e-3)
    with pytest.raises(BergamotError, match="T207"):
        train_cross_encoder(linker, asked[:1], words_lm, tmp_path / "broken", other)
    resumed = train_cross_encoder(linker, asked[:1], words_lm, tmp_path / "broken", SHORT)
    for report in (whole, resumed):
        for entry in report["history"]:
            entry.pop("seconds", None)
    assert resumed == whole
    for name in ("model.safetensors", "pair.safetensors", "mix/mix.json"):
        one, two = (tmp_path / run / "cross-encoder" / name for run in ("whole", "broken"))
        assert one.read_bytes() == two.read_bytes()
    assert {path.name for path in (tmp_path / "broken").iterdir()} == {"cross-encoder"}


@pytest.fixture(scope="module")
def both(linker: BergamotLinker, asked: list[Asked]) -> tuple[Observed, list, int]:
    found = [document for one in asked for document in one.documents]
    observed = observe(found, Profiles(linker.kb), generators_of(found))
    return observed, found, len(asked[0].documents)


def test_hidden_concepts_are_nil_and_nil_never_stands_in_for_gold(
    both: tuple[Observed, list, int],
):
    observed, found, whole = both
    rows = rows_of(observed, found, whole)
    hidden = rows[observed.documents[rows] >= whole]
    assert 0 < len(hidden) < len(rows) - len(hidden)
    weights = named(fit(observed.choices(rows), 1.0), generators_of(found))
    mixed = mixed_of(observed, found, rows, LearnedMix(weights=weights))
    counts: Counter[str] = Counter()
    examples = examples_of(observed, found, mixed, replace(RECIPE, k=2), counts)
    for one in examples:
        gold = found[observed.documents[one.row]].golds[observed.places[one.row]]
        assert len(one.right) == len(one.read) + 1
        assert not any(candidate.concept_id == NIL for candidate in one.read)
        expected = [candidate.concept_id in gold.concepts for candidate in one.read]
        assert one.right.tolist() == [*expected, gold.is_hidden]
        assert one.scores.shape == (len(one.read),)
        assert len(one.probabilities) == len(one.right)
    # What is not read cannot be right: such a mention teaches nothing.
    few = examples_of(observed, found, mixed, replace(RECIPE, k=1), counts := Counter())
    assert counts["gold that is too improbable to be read"] > 0
    assert sum(counts.values()) == len(rows)
    assert all(one.right.any() for one in few)
    clear = examples_of(observed, found, mixed, replace(RECIPE, margin=0.0), counts := Counter())
    assert (clear, counts) == ([], {"clear without being read": len(rows)})


def test_a_repeated_mention_of_a_document_is_learned_from_once(both: tuple[Observed, list, int]):
    observed, found, _ = both
    rows = np.arange(4)
    weights = named(fit(observed.choices(rows), 1.0), generators_of(found))
    mixed = mixed_of(observed, found, rows, LearnedMix(weights=weights))
    examples = examples_of(observed, found, mixed, RECIPE, Counter())
    assert once_a_document([*examples, *examples], observed) == examples


def test_what_cannot_be_learned_is_said(
    linker: BergamotLinker, asked: list[Asked], words_lm: Path, tmp_path: Path
):
    for recipe, code in (
        (Recipe(size=65), r"B037.*--size is 65.*16 to 64 tokens"),
        (Recipe(size=8), "B037"),
        (replace(RECIPE, margin=0.0), "T271"),
        (replace(RECIPE, precision="fp8"), "B014"),
        (replace(RECIPE, dev=1.0), "B037"),
    ):
        with pytest.raises(BergamotError, match=code):
            train_cross_encoder(linker, asked, words_lm, tmp_path / "out", recipe)
    assert not (tmp_path / "out").exists()


def test_by_command(doubtful: Path, words_lm: Path, tmp_path: Path):
    nlp = spacy.blank("en")
    docs = documents(nlp, range(96))
    for doc, concept in zip(docs, ["X99", "NIL", "A00+B00"], strict=False):
        for token in doc.ents[0]:
            token.ent_kb_id_ = concept
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "gold.spacy")
    command = [
        "cross-encoder", doubtful, tmp_path / "gold.spacy", tmp_path / "out", "--lm", words_lm,
        "--size", 40, "--context", 15, "--epochs", 1, "--candidates", 4, "--margin", 2,
        "--remove-concepts", 0.2,
    ]  # fmt: skip
    shown = CliRunner().invoke(app, [*map(str, command)], catch_exceptions=False)
    assert shown.exit_code == 0, shown.output
    assert "1 gold that the knowledge base lacks" in shown.output
    assert "1 several concepts together" in shown.output
    assert "gain over the mix" in shown.output
    assert (tmp_path / "out/cross-encoder/manifest.json").is_file()
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "candidates.arrow", "hidden.arrow", "cross-encoder"
    }  # fmt: skip
