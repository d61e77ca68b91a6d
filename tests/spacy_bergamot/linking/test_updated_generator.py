"""Candidates of an index and of what was added to it since: as of one index that has both."""

import numpy as np
import pytest

from spacy_bergamot.linking.candidates import CandidateGenerator
from spacy_bergamot.linking.updated_generator import UpdatedGenerator, make_generator
from spacy_bergamot.pipeline.linker import BergamotLinker
from spacy_bergamot.pipeline.loaders import alias_index, language_model
from tests.spacy_bergamot.factories import NEW, add, ensemble, found, remove

RESCORED = ensemble(combine="rescored", weights={"lexical": 0.1, "dense": 0.9})


@pytest.fixture
def linker(make_nlp) -> BergamotLinker:
    linker = make_nlp(mentions=False, k=3, generator=ensemble()).get_pipe("bergamot_linker")
    linker.update_index([add("C03", "ticker trouble"), add("X1", "cold", **NEW)])
    return linker


def test_a_number_of_candidates_holds_for_both(linker: BergamotLinker):
    updated = linker.generator
    assert isinstance(updated, UpdatedGenerator)
    for k in (1, 2, 8):
        assert len(updated.generate([("heart attacks and colds", "")], k=k)[0]) == k


def test_of_a_concept_in_both_the_better_one_counts(linker: BergamotLinker):
    updated = linker.generator
    for mention, alias in (
        ("ticker troubles", "ticker trouble"),
        ("heart attacks", "heart attack"),
    ):
        first = updated.generate([(mention, "")], k=3)[0][0]
        assert (first.concept_id, first.alias) == ("C03", alias)
        each = [part.generate([(mention, "")], k=3)[0] for part in (updated.base, updated.added)]
        scores = [c.score for of in each for c in of if c.concept_id == "C03"]
        assert len(scores) == 2
        assert first.score == max(scores)


def test_equals_come_in_the_order_of_one_index(linker: BergamotLinker):
    updated = linker.generator
    cold = updated.generate([("cold", "")], k=3)[0]
    assert [(c.concept_id, c.score) for c in cold] == [("C04", 1), ("C05", 1), ("X1", 1)]


def test_without_changes_it_is_the_index_s_own(make_nlp):
    linker = make_nlp(mentions=False).get_pipe("bergamot_linker")
    base = linker.generator
    assert type(base) is CandidateGenerator
    hidden = np.zeros(linker.parts.index.table.aliases.num_rows, dtype=bool)
    fever = linker.parts.index.lookup(["fever"])[0]
    hidden[linker.parts.index.alias_rows(fever)] = True
    settings = linker.settings
    made = make_generator(
        base.encoder, base.index, settings.allowed, generator=settings.generator, hidden=hidden
    )
    assert base.generate([("fever", "")], k=5)[0][0].alias == "fever"
    assert all(c.alias != "fever" for c in made.generate([("fever", "")], k=5)[0])


def test_scores_of_added_names_compare_with_those_of_the_index(make_nlp):
    """A name that is added to a copy without it scores as in the index that has it."""
    only = ensemble(stop_at_exact=False, weights={"lexical": 1.0})
    linker = make_nlp(mentions=False, generator=only).get_pipe("bergamot_linker")
    before = {c["concept_id"]: c["scores"] for c in found(linker, "high blood pressures")}
    linker.update_index([remove("C01", "high blood pressure"), add("C01", "high blood pressure")])
    assert linker.parts.changes.entries == []
    linker.update_index([remove("C01")])
    linker.update_index([add("C01", "high blood pressure")])
    after = {c["concept_id"]: c["scores"] for c in found(linker, "high blood pressures")}
    assert after["C01"]["lexical"] == pytest.approx(before["C01"]["lexical"], abs=1e-5)
    one, other = linker.generator.encoder.encode(["high blood pressure", "high blood pressures"])
    assert after["C01"]["dense"] == pytest.approx(float(one @ other), abs=1e-5)


def test_added_names_are_rescored_as_those_of_the_index(make_nlp):
    linker = make_nlp(mentions=False, generator=RESCORED, k=10).get_pipe("bergamot_linker")
    before = {c["concept_id"]: c for c in found(linker, "high blood pressures")}
    linker.update_index([remove("C01")])
    assert "C01" not in {c["concept_id"] for c in found(linker, "high blood pressures")}
    linker.update_index([add("C01", "high blood pressure")])
    after = {c["concept_id"]: c for c in found(linker, "high blood pressures")}
    assert after["C01"]["scores"] == pytest.approx(before["C01"]["scores"], abs=1e-5)
    # C01's other names are gone, and what is usual of English names is what remains of them.
    assert after["C01"]["score"] == pytest.approx(before["C01"]["score"], abs=0.02)


def test_added_names_are_scored_like_those_of_the_index(concepts, lm, make_nlp):
    nlp = make_nlp(mentions=False, generator=RESCORED, k=10)
    linker = nlp.get_pipe("bergamot_linker")
    made = alias_index(str(concepts), engine="exact")
    linker.initialize(lambda: [], nlp=nlp, encoder=language_model(str(lm)), index=made)
    before = found(linker, "high blood pressures")[0]
    linker.update_index([remove("C01"), add("C08", "high blood pressure")])
    first = found(linker, "high blood pressures")[0]
    assert (first["concept_id"], first["alias"]) == ("C08", "high blood pressure")
    assert first["scores"]["dense"] == pytest.approx(before["scores"]["dense"], abs=1e-4)
    assert first["scores"]["dense"] < 0.9999


def test_filters_hold_for_what_was_added(make_nlp):
    changes = [add("X1", "drug fever", **{**NEW, "types": ["T121"]}), add("C03", "drug fever")]
    for config, expected in [
        ({"semantic_groups": ["CHEM"]}, {"X1"}),
        ({"descendants_of": ["C06"]}, {"C03"}),
        ({"concepts": ["C03", "C08"]}, {"C03"}),
        ({"sources": ["SRCENG"]}, set()),
    ]:
        linker = make_nlp(mentions=False, **config).get_pipe("bergamot_linker")
        linker.update_index(changes)
        exact = {c["concept_id"] for c in found(linker, "drug fever") if c["score"] == 1}
        assert exact == expected, config
