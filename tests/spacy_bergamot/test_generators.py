"""Generators, filters and rerankers through the component's config."""

import pytest
import spacy

from spacy_bergamot.candidates import Candidate
from spacy_bergamot.errors import BergamotError
from spacy_bergamot.rerank import Mention
from tests.spacy_bergamot.test_linker import mark

EXACT = {"@misc": "spacy_bergamot.ExactGenerator.v1"}
LEXICAL = {"@misc": "spacy_bergamot.LexicalGenerator.v1"}
DENSE = {"@misc": "spacy_bergamot.DenseGenerator.v1"}


def ensemble(**settings: object) -> dict:
    parts = {"exact": EXACT, "lexical": LEXICAL, "dense": DENSE}
    return {"@misc": "spacy_bergamot.EnsembleGenerator.v1", "generators": parts, **settings}


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


@pytest.mark.parametrize("weights", [{"nothing": 1.0}, {"dense": 0.0}])
def test_weights_for_nothing_are_refused(make_nlp, weights):
    with pytest.raises(BergamotError, match="B045"):
        make_nlp(mentions=False, generator=ensemble(weights=weights))


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"concepts": ["C05", "C07"]}, {"C05", "C07"}),
        ({"descendants_of": ["C06"]}, {"C06", "C03"}),
        ({"descendants_of": ["C06"], "semantic_groups": ["ANAT"]}, {"C06"}),
    ],
)
def test_only_some_concepts_are_allowed(make_nlp, config, expected):
    nlp = make_nlp(mentions=False, generator=ensemble(stop_at_exact=False), k=10, **config)
    for mention in ("fever", "cold", "heart attacks"):
        found = {c["concept_id"] for c in candidates(nlp, f"a {mention}", mention)}
        assert found == expected


def test_an_unknown_concept_in_a_filter_is_refused(make_nlp):
    with pytest.raises(BergamotError, match="B013"):
        make_nlp(mentions=False, descendants_of=["C99"])


def test_an_explanation_names_what_was_dropped_and_why(make_nlp):
    nlp = make_nlp(
        mentions=False, languages=["GER", "ENG"], semantic_groups=["DISO"], threshold=1.0
    )
    found = nlp.get_pipe("bergamot_linker").explain("cold")
    assert found["decision"] == "C04"
    assert [c["concept_id"] for c in found["candidates"]] == ["C04"]
    reasons = {(d["concept_id"], d["reason"]) for d in found["dropped"]}
    assert ("C05", "semantic type") in reasons
    assert ("C10", "language JPN") in reasons
    unknown = nlp.get_pipe("bergamot_linker").explain("fever of the heart and cold")
    assert all(candidate["score"] < 1 for candidate in unknown["candidates"])
    assert unknown["decision"] == "NIL"


def test_abbreviations_are_looked_up_as_their_long_forms(make_nlp):
    nlp = make_nlp(
        mentions=False, resolve_abbreviations=True, abbreviations={"HTN": "hypertension"}
    )
    linker = nlp.get_pipe("bergamot_linker")
    doc = linker(mark(nlp, "a common cold (CC) and CC with HTN", "CC", "HTN"))
    assert [ent.kb_id_ for ent in doc.ents] == ["C04", "C01"]
    plain = make_nlp(mentions=False, threshold=0.999).get_pipe("bergamot_linker")
    doc = plain(mark(nlp, "a common cold (CC) and CC with HTN", "CC", "HTN"))
    assert {ent.kb_id_ for ent in doc.ents} == {"NIL"}
    table = {"FA": "fever", "de": {"FA": "Herzinfarkt"}, "fr": {"FA": "aspirin"}}
    linker = make_nlp(mentions=False, resolve_abbreviations=True, abbreviations=table).get_pipe(
        "bergamot_linker"
    )
    for language, expected in {"de": "C03", "xx": "C10", "DE": "C03"}.items():
        doc = mark(nlp, "FA", "FA")
        doc.user_data["language"] = language
        assert linker(doc).ents[0].kb_id_ == expected
    german = spacy.blank("de")
    assert linker(mark(german, "FA", "FA")).ents[0].kb_id_ == "C03"
    explained = linker.explain("CC", context="a common cold (CC)")
    assert explained["looked_up"] == "common cold"


def test_related_mentions_support_each_other(make_nlp):
    rerank = {"@misc": "spacy_bergamot.CoherenceReranker.v1", "weight": 0.5, "width": 10}
    nlp = make_nlp(mentions=False, rerank=rerank, generator=DENSE, k=10)
    plain = make_nlp(mentions=False, generator=DENSE, k=10)
    text, marked = "the attack of the heart", ("attack", "heart")

    def score(pipeline) -> float:
        doc = pipeline.get_pipe("bergamot_linker")(mark(pipeline, text, *marked))
        found = {c["concept_id"]: c for c in doc.ents[1]._.candidates}
        return found["C06"]["score"]

    assert score(nlp) > score(plain)
    one = nlp.get_pipe("bergamot_linker")(mark(nlp, text, "heart")).ents[0]._.candidates
    assert "coherence" not in one[0]["scores"]


def test_the_concept_with_more_names_comes_first_among_equals(make_nlp):
    rerank = {"@misc": "spacy_bergamot.PriorReranker.v1", "weight": 0.02}
    nlp = make_nlp(mentions=False, rerank=rerank)
    assert candidates(nlp, "MI", "MI")[0]["scores"]["prior"] == pytest.approx(0.02)
    linker = nlp.get_pipe("bergamot_linker")
    few, many = (Candidate(c, 0.5, "x", "ENG", "S", "dense") for c in ("C08", "C01"))
    better = Candidate("C09", 0.6, "x", "ENG", "S", "dense")
    (found,) = linker.settings.rerank(
        [Mention("x", "", "x", 0, 1)], [[better, few, many]], linker.kb
    )
    assert [c.concept_id for c in found] == ["C09", "C01", "C08"]


def test_a_pipeline_with_all_of_it_survives_disk_and_pickle(make_nlp, tmp_path):
    import pickle

    settings = {
        "generator": ensemble(combine="mean", weights={"lexical": 2.0}),
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
