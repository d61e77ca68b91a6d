"""Generators, filters and rerankers through the component's config."""

import pytest
import spacy

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.linking.generators import (
    DenseGenerator,
    EnsembleGenerator,
    ExactGenerator,
    LexicalGenerator,
)
from spacy_bergamot.linking.settings import LinkerSettings
from tests.spacy_bergamot.factories import DENSE, LEXICAL, ensemble, mark


def candidates(nlp, text: str, *mentions: str) -> list[dict]:
    doc = nlp.get_pipe("bergamot_linker")(mark(nlp, text, *mentions))
    return doc.ents[0]._.candidates


def test_lexical_candidates_share_grams(make_nlp):
    nlp = make_nlp(mentions=False, generator=LEXICAL, k=3)
    found = candidates(nlp, "a hypertensive crisis", "hypertensive")
    assert found[0]["concept_id"] == "C01"
    assert {c["generator"] for c in found} == {"lexical"}
    assert 0.2 <= found[0]["score"] < 1


def test_an_ensemble_unites_and_says_every_score(make_nlp):
    nlp = make_nlp(mentions=False, generator=ensemble(combine="mean"), k=5)
    found = candidates(nlp, "magnetic resonance image", "magnetic resonance image")
    best = found[0]
    assert best["concept_id"] == "C09"
    assert set(best["scores"]) == {"lexical", "dense"}
    assert best["score"] == pytest.approx(sum(best["scores"].values()) / 2, abs=1e-5)
    one = next(c for c in found if len(c["scores"]) == 1)
    (score,) = one["scores"].values()
    assert score / 2 - 1e-6 <= one["score"] <= score, (
        "what one did not find counts as its last, or as 0"
    )
    by_max = make_nlp(
        mentions=False, generator=ensemble(weights={"dense": 0.5, "lexical": 2.0}), k=5
    )
    best = candidates(by_max, "magnetic resonance image", "magnetic resonance image")[0]
    assert best["score"] == pytest.approx(2 * best["scores"]["lexical"], abs=1e-5)
    assert best["generator"] == "lexical"


def test_an_exact_hit_may_stop_the_others_or_not(make_nlp):
    stopped = make_nlp(mentions=False, generator=ensemble())
    assert len(candidates(stopped, "a fever", "fever")) == 1
    going_on = make_nlp(mentions=False, generator=ensemble(stop_at_exact=False), k=4)
    found = candidates(going_on, "a fever", "fever")
    assert len(found) == 4
    assert set(found[0]["scores"]) == {"exact", "lexical", "dense"}


@pytest.mark.parametrize("combine", ["max", "mean", "rescored"])
def test_scores_are_plain_numbers(make_nlp, combine):
    nlp = make_nlp(mentions=False, generator=ensemble(combine=combine, stop_at_exact=False))
    for mention in ("fever", "hypertensive"):
        for found in candidates(nlp, f"a {mention}", mention):
            assert {type(value) for value in (found["score"], *found["scores"].values())} == {float}


def test_an_ambiguous_exact_alias_does_not_stop_the_others(make_nlp):
    for combine in ("max", "mean", "rescored"):
        nlp = make_nlp(mentions=False, generator=ensemble(combine=combine), k=5)
        assert len(candidates(nlp, "a fever", "fever")) == 1
        found = candidates(nlp, "a cold", "cold")
        assert [c["concept_id"] for c in found[:2]] == ["C04", "C05"]
        assert found[0]["score"] == found[1]["score"] == 1
        assert len(found) == 5
        assert all(c["score"] < 1 for c in found[2:])


def test_a_mention_that_is_an_alias_needs_no_language_model(make_nlp, monkeypatch):
    generator = ensemble(combine="rescored", stop_at_exact=False)
    for made in (generator, DENSE):
        nlp = make_nlp(mentions=False, generator=made, k=4)
        encoder = nlp.get_pipe("bergamot_linker").generator.encoder
        expected = candidates(nlp, "a fever", "fever")
        nlp.get_pipe("bergamot_linker").set_parts(nlp.get_pipe("bergamot_linker").parts)  # forget
        monkeypatch.setattr(encoder, "encode", None)
        assert candidates(nlp, "a fever", "fever") == expected
        assert len(expected) == 4
        with pytest.raises(TypeError):
            candidates(nlp, "a feverish", "feverish")
        monkeypatch.undo()


@pytest.mark.parametrize("agreement", [-0.1, 1.5])
def test_agreement_out_of_range_is_refused(make_nlp, agreement):
    with pytest.raises(BergamotError, match="B037"):
        make_nlp(mentions=False, generator=ensemble(combine="rescored", agreement=agreement))


@pytest.mark.parametrize("weights", [{"nothing": 1.0}, {"dense": 0.0}])
def test_weights_for_nothing_are_refused(make_nlp, weights):
    with pytest.raises(BergamotError, match="B045"):
        make_nlp(mentions=False, generator=ensemble(weights=weights))


@pytest.mark.parametrize("generator", [ensemble(combine="max"), ensemble(combine="rescored")])
def test_an_explanation_names_what_was_dropped_and_why(make_nlp, generator):
    filters = {"languages": ["GER", "ENG"], "semantic_groups": ["DISO"], "threshold": 1.0}
    nlp = make_nlp(mentions=False, generator=generator, **filters)
    found = nlp.get_pipe("bergamot_linker").explain("cold")
    assert found["decision"] == "C04"
    assert [c["concept_id"] for c in found["candidates"]] == ["C04"]
    reasons = {(d["concept_id"], d["reason"]) for d in found["dropped"]}
    assert len(reasons) == len(found["dropped"])  # each concept by its best name
    assert ("C05", "semantic type") in reasons
    assert ("C10", "language JPN") in reasons
    unknown = nlp.get_pipe("bergamot_linker").explain("fever of the heart and cold")
    assert all(candidate["score"] < 1 for candidate in unknown["candidates"])
    assert unknown["decision"] == "NIL"


def test_a_pipeline_with_all_of_it_survives_disk_and_pickle(make_nlp, tmp_path):
    import pickle

    settings = {
        "generator": ensemble(combine="rescored", weights={"lexical": 2.0}, agreement=0.1),
        "rerank": {"@misc": "spacy_bergamot.CoherenceReranker.v1"},
        "resolve_abbreviations": True,
        "descendants_of": ["C06"],
    }
    nlp = make_nlp(**settings)
    nlp.to_disk(tmp_path / "saved")
    text = "aspirin for a heart attack (HA) and HA"
    expected = [ent._.candidates for ent in nlp(text).ents]
    assert expected
    for other in (spacy.load(tmp_path / "saved"), pickle.loads(pickle.dumps(nlp))):
        assert [ent._.candidates for ent in other(text).ents] == expected


def test_the_order_in_the_config_means_nothing():
    """spaCy before 3.8 sorts it."""
    parts = {"dense": DenseGenerator(), "own": ExactGenerator(), "lexical": LexicalGenerator()}
    one = EnsembleGenerator(parts, {"own": 2, "dense": 3})
    other = EnsembleGenerator(dict(reversed(parts.items())), {"dense": 3, "own": 2})
    assert list(one.generators) == list(other.generators) == ["own", "dense", "lexical"]
    assert LinkerSettings(generator=one).scoring == LinkerSettings(generator=other).scoring


@pytest.mark.parametrize("combine", ["max", "mean", "rescored"])
def test_a_folded_alias_is_a_candidate_below_an_exact_one(make_nlp, combine):
    nlp = make_nlp(mentions=False, generator=ensemble(combine=combine, folded=True), k=5)
    linker = nlp.get_pipe("bergamot_linker")
    doc = mark(nlp, "a heart attack, two heart attacks", "heart attacks", "heart attack")
    doc.user_data["language"] = "en"
    exact, folded = (ent._.candidates[0] for ent in linker(doc).ents)
    assert folded["concept_id"] == exact["concept_id"] == "C03"
    assert (folded["generator"], exact["generator"]) == ("folded", "exact")
    assert 0 < folded["scores"]["folded"] < 1
    assert folded["score"] < exact["score"]


def test_a_folded_alias_comes_before_one_that_is_only_similar(make_nlp):
    """Whatever a language model makes of an ending."""
    plain, better = (
        make_nlp(mentions=False, generator=ensemble(combine="rescored", folded=one), k=20)
        for one in (False, True)
    )
    text = "attacks of the heart"
    found = []
    for nlp in (plain, better):
        doc = mark(nlp, text, text)
        doc.user_data["language"] = "en"
        (ent,) = nlp.get_pipe("bergamot_linker")(doc).ents
        found.append({one["concept_id"]: one["score"] for one in ent._.candidates})
    before, after = (scores["C03"] for scores in found)
    assert next(iter(found[1])) == "C03"
    assert after >= 1 - 0.25 * (1 - before) - 1e-6


def test_nothing_is_folded_where_the_language_is_unknown(make_nlp):
    nlp = make_nlp(mentions=False, generator={"@misc": "spacy_bergamot.FoldedGenerator.v1"})
    assert candidates(nlp, "he had two heart attacks", "heart attacks")
    assert not candidates(nlp, "two fevers", "fevers"), "too short to say its language"
