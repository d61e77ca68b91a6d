"""Texts on end: their runs, and attention within each text alone."""

import pytest
import torch

from spacy_bergamot.encoder.runs import attend, runs_of, stacked

SHAPES = [(2, 3), (1, 4), (3, 1)]


def test_runs_are_stacked_and_found_again():
    parts = [torch.randn(texts * length, 8) for texts, length in SHAPES]
    rows = stacked(parts, 16)
    assert rows.shape == (16, 8)
    assert not rows[13:].any()
    for run, part, shape in zip(runs_of(rows, SHAPES), parts, SHAPES, strict=True):
        assert run.shape == (*shape, 8)
        assert run.flatten(0, 1).equal(part)
    assert stacked(parts[:1], 6) is parts[0]


@pytest.mark.parametrize("dropout", [None, torch.nn.Dropout(0.0)])
def test_every_text_attends_to_itself_alone(dropout: torch.nn.Dropout | None):
    queries, keys, values = torch.randn(3, 2, 5, 8).unbind()
    found = attend(queries, keys, values, heads=2, dropout=dropout)
    expected = []
    for text in range(2):
        heads = [
            ((queries[text, :, at] @ keys[text, :, at].T) / 2).softmax(-1) @ values[text, :, at]
            for at in (slice(0, 4), slice(4, 8))
        ]
        expected.append(torch.cat(heads, 1))
    torch.testing.assert_close(found, torch.cat(expected))
