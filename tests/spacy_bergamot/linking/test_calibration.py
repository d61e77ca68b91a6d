"""Probabilities: fitted to gold links, saved with the pipeline, used as a threshold."""

import json
import random
import warnings
from dataclasses import replace

import numpy as np
import pytest
import spacy
from spacy.tokens import DocBin, Span

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.linking.calibration import Calibration
from spacy_bergamot.linking.calibration_report import expected_calibration_error
from spacy_bergamot.linking.candidates import Candidate
from spacy_bergamot.linking.mention import Mention
from spacy_bergamot.storage.manifest import write_manifest
from tests.spacy_bergamot.factories import ensemble
from tests.spacy_bergamot.misspelt_gold import golds


class Groups(dict):
    def __missing__(self, concept_id: str) -> str:
        return "DISO" if concept_id < "C5" else "CHEM"


def mention(rng: random.Random, group: str) -> tuple[list[Candidate], frozenset[str]]:
    """Invent a mention whose best candidate is right with p = score² (DISO) or score⁴ (CHEM)."""
    score = rng.random()
    concept_id = ("C1" if group == "DISO" else "C9") + str(rng.randrange(1000))
    right = rng.random() < score ** (2 if group == "DISO" else 4)
    best = Candidate(concept_id, score, "x", "ENG", "S", "dense", {"dense": score})
    other = Candidate("C0", score / 2, "y", "ENG", "S", "dense", {"dense": score / 2})
    return [best, other], frozenset({concept_id if right else "C999999"})


@pytest.fixture(scope="module")
def fitted() -> Calibration:
    rng = random.Random(0)
    seen = [mention(rng, "DISO" if n % 2 else "CHEM") for n in range(4000)]
    return Calibration.fit([f for f, _ in seen], [g for _, g in seen], Groups(), precision=0.7)


def test_probabilities_are_calibrated_by_group(fitted):
    report = fitted.report
    assert report["ece"] < 0.03 < 0.2 < report["ece_of_scores"]
    rng = random.Random(1)
    for group in ("DISO", "CHEM"):
        seen = [mention(rng, group) for _ in range(4000)]
        guessed = [fitted(found, Groups())[0].probability for found, _ in seen]
        right = [found[0].concept_id in gold for found, gold in seen]
        assert expected_calibration_error(np.array(guessed), np.array(right)) < 0.04
    first, second = fitted(mention(rng, "DISO")[0], Groups())
    assert first.probability > second.probability


def test_thresholds_reach_their_precision_on_other_mentions(fitted):
    threshold = fitted.threshold(0.7)
    assert 0.3 < threshold < 0.95
    rng = random.Random(2)
    kept = []
    for number in range(8000):
        found, gold = mention(rng, "DISO" if number % 2 else "CHEM")
        if fitted(found, Groups())[0].probability >= threshold:
            kept.append(found[0].concept_id in gold)
    assert len(kept) > 500
    assert np.mean(kept) == pytest.approx(0.7, abs=0.04)
    assert fitted.threshold(0.5) is None  # never asked for


def test_an_alias_in_another_language_is_right_at_lower_scores():
    """Of aliases in the mention's language score⁴ are right, of others all but (1 - score)⁴."""
    rng = random.Random(0)
    seen, mentions = [], []
    for _ in range(6000):
        mentions.append(Mention.alone("zeal", rng.choice(["GER", "en"])))  # the aliases are English
        [best, other], _ = mention(rng, "DISO")
        p = 1 - (1 - best.score) ** 4 if mentions[-1].language == "GER" else best.score**4
        seen.append(([best, other], frozenset({best.concept_id} if rng.random() < p else ())))
    golds = [gold for _, gold in seen]
    fitted = Calibration.fit([f for f, _ in seen], golds, Groups(), mentions=mentions)
    found = [Candidate("C1", 0.6, "x", "ENG", "S", "dense", {"dense": 0.6})]
    same, other, unknown = (
        fitted(found, Groups(), Mention.alone("zeal", language))[0].probability
        for language in ("ENG", "rus", "")
    )
    assert same < 0.35 < unknown < other
    assert other > 0.75
    assert set(fitted.report["levels"]) == {"DISO", "DISO|same", "DISO|other"}


def test_an_alias_that_is_only_inflected_or_reordered_is_right_at_lower_scores():
    rng = random.Random(0)
    seen, mentions = [], []
    for _ in range(4000):
        [best, other], _ = mention(rng, "DISO")
        text = rng.choice(["fevers of the bone", "fevers of the nose"])
        found = [replace(best, alias="bone fever"), other]
        right = rng.random() < (0.9 if text.endswith("bone") else best.score**2)
        mentions.append(Mention.alone(text, "ENG"))
        seen.append((found, frozenset({best.concept_id} if right else ())))
    fitted = Calibration.fit(
        [f for f, _ in seen], [gold for _, gold in seen], Groups(), mentions=mentions
    )
    found = [Candidate("C1", 0.4, "bone fever", "ENG", "S", "dense", {"dense": 0.4})]
    folded, similar, unknown = (
        fitted(found, Groups(), mention)[0].probability
        for mention in (*map(Mention.alone, ["fevers of the bone", "fevers of the nose"]), None)
    )
    assert folded > 0.7 > 0.3 > similar == unknown


def test_a_misspelt_alias_is_right_at_lower_scores():
    rng = random.Random(0)
    seen, mentions = [], []
    texts = ["bone fefer syndrmoe", "bone fever syndrmoe", "bone fever type 2", "骨发热综合徴甲乙"]
    names = ["bone fever syndrome", "bone fever syndrome", "bone fever type 1", "骨发热综合徴甲丙"]
    for _ in range(6000):
        [best, other], _ = mention(rng, "DISO")
        kind = rng.randrange(4)
        right = rng.random() < (0.9 if kind == 1 else best.score**2)
        mentions.append(Mention.alone(texts[kind], "ENG"))
        found = [replace(best, alias=names[kind]), other]
        seen.append((found, frozenset({best.concept_id} if right else ())))
    fitted = Calibration.fit(
        [f for f, _ in seen], [gold for _, gold in seen], Groups(), mentions=mentions
    )
    probable = [
        fitted(
            [Candidate("C1", 0.4, name, "ENG", "S", "dense", {"dense": 0.4})],
            Groups(),
            Mention.alone(text, "ENG"),
        )[0].probability
        for text, name in zip(texts, names, strict=True)
    ]
    assert probable[1] > 0.7 > 0.3 > max(probable[0], *probable[2:])


def test_one_of_the_first_version_is_read(fitted, tmp_path):
    path = tmp_path / "calibration"
    fitted.save(path, index="i", scoring="s")
    facts = json.loads((path / "calibration.json").read_text())
    facts["weights"] = {key: weights[:-2] for key, weights in facts["weights"].items()}
    (path / "calibration.json").write_text(json.dumps(facts))
    write_manifest(path, kind="calibration", version=1, index="i", scoring="s")
    found = [Candidate("C1", 0.6, "fevers", "ENG", "S", "dense", {"dense": 0.6})]
    before = Calibration.open(path, index="i", scoring="s")
    known = before(found, Groups(), Mention.alone("fever", "ENG"))[0].probability
    plain = fitted(found, Groups(), Mention.alone("zeal", "ENG"))[0].probability
    assert known == plain


@pytest.mark.parametrize("count", [0, 19])
def test_too_few_mentions_are_refused(count):
    rng = random.Random(0)
    seen = [mention(rng, "DISO") for _ in range(count)]
    with pytest.raises(BergamotError, match="B053"):
        Calibration.fit([f for f, _ in seen], [g for _, g in seen], Groups())


@pytest.mark.parametrize(("spans_key", "combine"), [(None, "mean"), ("sc", "rescored")])
def test_a_pipeline_is_calibrated_saved_and_obeys_the_threshold(
    make_nlp, tmp_path, spans_key, combine
):
    settings = {"mentions": False, "spans_key": spans_key, "generator": ensemble(combine=combine)}
    nlp = make_nlp(**settings)
    linker = nlp.get_pipe("bergamot_linker")
    examples = golds(nlp, spans_key=spans_key)
    report = linker.calibrate(examples, precision=0.6)
    assert report["linked"] == len(examples)
    assert 0.3 < report["accuracy"] < 0.9
    reference = examples[0].reference
    spans = reference.spans[spans_key] if spans_key else reference.ents
    assert spans[0].kb_id_ == "C01"  # gold stays as it was
    nlp.to_disk(tmp_path / "p")
    doc = linker(examples[1].reference.copy())
    spans = list(doc.spans[spans_key] if spans_key else doc.ents)
    probability = spans[0]._.candidates[0]["probability"]
    assert 0 < probability < 1
    for least, expected in ((probability - 0.01, "C01"), (probability + 0.01, "NIL")):
        config = {"components": {"bergamot_linker": {"min_probability": least}}}
        other = spacy.load(tmp_path / "p", config=config).get_pipe("bergamot_linker")
        doc = other(examples[1].reference.copy())
        assert next(iter(doc.spans[spans_key] if spans_key else doc.ents)).kb_id_ == expected
    fresh = make_nlp(**settings).get_pipe("bergamot_linker").from_bytes(linker.to_bytes())
    assert fresh.parts.calibration.report["ece"] == report["ece"]


def test_a_link_is_as_probable_as_its_language_makes_it(make_nlp):
    nlp = make_nlp(mentions=False)
    linker = nlp.get_pipe("bergamot_linker")
    examples = golds(nlp)
    for number, example in enumerate(examples):  # aliases are English; of these none is right
        example.reference.user_data["language"] = "fr" if number % 2 else "en"
        if number % 2 == 0:
            for ent in example.reference.ents:
                example.reference.set_ents([Span(ent.doc, 0, len(ent.doc), "X", kb_id="C11")])
    linker.calibrate(examples)
    probability = {}
    for language in ("fr", "en"):
        doc = examples[3].reference.copy()  # "hypertensio", inflected in no language
        doc.user_data["language"] = language
        probability[language] = linker(doc).ents[0]._.candidates[0]["probability"]
    assert 3 * probability["en"] < probability["fr"]


def test_a_threshold_needs_a_calibration_and_scores_of_the_same_kind(make_nlp, tmp_path):
    with pytest.raises(BergamotError, match="B055"):
        make_nlp(mentions=False, min_probability=0.5)
    with pytest.raises(BergamotError, match="B037"):
        make_nlp(mentions=False, min_probability=1.5)
    nlp = make_nlp(mentions=False, generator=ensemble(combine="mean"))
    nlp.get_pipe("bergamot_linker").calibrate(golds(nlp))
    nlp.to_disk(tmp_path / "p")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spacy.load(tmp_path / "p")
    config = {"components": {"bergamot_linker": {"generator": ensemble(combine="max")}}}
    with pytest.warns(UserWarning, match="W001"):
        spacy.load(tmp_path / "p", config=config)
    other = make_nlp(mentions=False, engine="nmslib")
    other.to_disk(tmp_path / "other")
    nlp.get_pipe("bergamot_linker").parts.bundles["calibration"].copy_to(
        tmp_path / "other/bergamot_linker/calibration"
    )
    with pytest.raises(BergamotError, match="B050"):
        spacy.load(tmp_path / "other")


def test_spacy_finds_a_threshold(make_nlp, tmp_path):
    """`spacy find-threshold` reloads the pipeline with each threshold in the config."""
    from spacy.cli.find_threshold import find_threshold

    nlp = make_nlp(generator=ensemble(combine="mean", stop_at_exact=False))
    nlp.to_disk(tmp_path / "p")
    docs = []
    for text, gold in (("a fever", "C10"), ("hypertension", "C01"), ("the heart", "NIL")):
        doc = nlp.make_doc(text)
        doc.set_ents([Span(doc, len(doc) - 1, len(doc), label="DISO", kb_id=gold)])
        docs.append(doc)
    DocBin(docs=docs).to_disk(tmp_path / "gold.spacy")
    best, score, scores = find_threshold(
        str(tmp_path / "p"), tmp_path / "gold.spacy", pipe_name="bergamot_linker",
        threshold_key="threshold", scores_key="link_end_to_end_f", n_trials=3, silent=True,
    )  # fmt: skip
    assert set(scores) == {0.0, 0.5, 1.0}
    assert score == scores[best] == max(scores.values()) > 0.7


def test_a_mention_of_unknown_language_is_not_held_for_an_everyday_word():
    """Everyday words alone have no language: what is learned from them is not that."""
    rng = random.Random(0)
    seen, mentions = [], []
    for number in range(4000):
        found, gold = mention(rng, "DISO")
        word = number % 4 == 0
        mentions.append(Mention.alone("zeal", "" if word else "ENG"))
        seen.append((found, frozenset() if word else gold))
    golds = [gold for _, gold in seen]
    fitted = Calibration.fit([f for f, _ in seen], golds, Groups(), mentions=mentions)
    found = [Candidate("C1", 0.9, "x", "ENG", "S", "dense", {"dense": 0.9})]
    known, unknown = (
        fitted(found, Groups(), Mention.alone("zeal", language))[0].probability
        for language in ("ENG", "")
    )
    assert unknown > 0.4
    assert known > unknown
    assert set(fitted.report["levels"]) == {"DISO", "DISO|same"}
