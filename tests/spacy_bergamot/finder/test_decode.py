"""The likeliest sequence of tags in which no inside follows an outside."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_bergamot.finder.decode import decode


def test_the_likeliest_allowed_sequence_is_decoded():
    draw = np.random.default_rng(0)
    for count in range(1, 6):
        raw = draw.normal(size=(count, 5)) * 2
        scores = raw - np.log(np.exp(raw).sum(1, keepdims=True))
        best = max(
            (
                tags
                for tags in itertools.product(range(5), repeat=count)
                if all(
                    tag not in (2, 4) or before in (tag - 1, tag)
                    for before, tag in zip((0, *tags), tags, strict=False)
                )
            ),
            key=lambda tags: scores[range(count), list(tags)].sum(),
        )
        expected: list[list[int]] = []
        for unit, tag in enumerate(best):
            if tag % 2:
                expected.append([unit, unit + 1, tag // 2])
            elif tag:
                expected[-1][1] = unit + 1
        assert [[m.first, m.stop, m.label] for m in decode(scores)] == expected
    assert decode(np.empty((0, 5))) == []


@settings(max_examples=50)
@given(st.integers(0, 12), st.integers(1, 3), st.integers(0, 1000))
def test_mentions_are_apart_and_as_likely_as_their_units_on_average(count, labels, seed):
    draw = np.random.default_rng(seed).normal(size=(count, 2 * labels + 1))
    scores = draw - np.log(np.exp(draw).sum(1, keepdims=True))
    end = 0
    for mention in decode(scores):
        assert end <= mention.first < mention.stop <= count
        assert 0 <= mention.label < labels
        begin, inside = 2 * mention.label + 1, 2 * mention.label + 2
        units = [scores[mention.first, begin], *scores[mention.first + 1 : mention.stop, inside]]
        assert mention.probability == pytest.approx(np.exp(units).mean())
        end = mention.stop
