"""What is read of a mention's candidates, and what logits make of their probabilities."""

import math

import numpy as np
import pytest

from spacy_bergamot.linking.candidates import NIL, Candidate
from spacy_bergamot.linking.cross_encoder.reading import Blend, nil_of, to_read
from tests.spacy_bergamot.factories import candidate


def mixed(*scores: float, nil: float) -> list[Candidate]:
    found = [candidate(f"C{number}", score) for number, score in enumerate(scores)]
    return sorted([*found, candidate(NIL, nil)], key=lambda one: -one.score)


def ids(found: list[Candidate]) -> list[str]:
    return [one.concept_id for one in found]


def test_only_mentions_in_doubt_are_read_and_only_what_may_be_right():
    doubtful = mixed(0.5, 0.3, 0.002, nil=0.198)
    assert ids(to_read(doubtful, margin=0.7, k=16)) == ["C0", "C1"]
    assert ids(to_read(doubtful, margin=0.7, k=1)) == ["C0"]
    assert to_read(doubtful, margin=0.2, k=16) == []
    assert to_read(doubtful, margin=0, k=16) == []
    clear = mixed(0.9, 0.05, nil=0.05)
    assert to_read(clear, margin=0.7, k=16) == []
    assert ids(to_read(clear, margin=2, k=16)) == ["C0", "C1"]
    # NIL is an alternative like others.
    assert ids(to_read(mixed(0.5, nil=0.5), margin=0.7, k=16)) == ["C0"]
    assert to_read([], margin=2, k=16) == []


def test_a_blend_shares_out_what_the_mix_gave_to_all_that_was_read():
    found = mixed(0.4, 0.3, 0.1, nil=0.2)
    read = to_read(found, margin=1, k=2)
    after = Blend(mix=0.5, logit=2.0, nil=0.3).blended(found, read, [0.1, 0.4, -0.2])
    values = [math.exp(0.5 * math.log(p) + 2 * s + more)
              for p, s, more in ((0.4, 0.1, 0), (0.3, 0.4, 0), (0.2, -0.2, 0.3))]  # fmt: skip
    expected = {
        one: 0.9 * value / sum(values) for one, value in zip(("C0", "C1", NIL), values, strict=True)
    }
    assert {one.concept_id: one.score for one in after} == pytest.approx(
        {**expected, "C2": 0.1}, abs=1e-6
    )
    assert [one.score for one in after] == sorted((one.score for one in after), reverse=True)
    first = next(one for one in after if one.concept_id == "C1")
    assert (first.scores["mix"], first.scores["cross_encoder"]) == (0.3, 0.4)
    assert "mix" not in next(one for one in after if one.concept_id == "C2").scores
    assert nil_of(after).concept_id == NIL


def test_without_the_mix_it_is_the_softmax_of_the_logits():
    logits = np.array([1.0, 2.0, 0.5])
    shares = Blend().shares(np.array([0.7, 0.0, 0.3]), logits)
    assert shares == pytest.approx(np.exp(logits) / np.exp(logits).sum())
