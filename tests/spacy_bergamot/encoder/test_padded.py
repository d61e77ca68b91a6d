"""Rectangles of texts: every text is in one, and padding changes nothing."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from spacy_bergamot.encoder.padded import length_batches, pad_tokens, pool

TOKENS = st.lists(st.lists(st.integers(5, 9), max_size=6), max_size=8)


@given(st.lists(st.integers(0, 30)), st.integers(1, 60))
def test_batches_have_every_row_once_and_no_more_slots_than_asked(lengths, most: int):
    batches = [rows.tolist() for rows in length_batches(lengths, most)]
    assert sorted(row for rows in batches for row in rows) == list(range(len(lengths)))
    for rows in batches:
        longest = max(lengths[row] for row in rows)
        assert len(rows) == 1 or len(rows) * longest <= most
    in_order = [lengths[row] for rows in batches for row in rows]
    assert in_order == sorted(lengths, reverse=True)


@given(TOKENS.filter(bool))
def test_padding_is_seen_by_nobody(tokens: list[list[int]]):
    ids, mask = pad_tokens(tokens, 1)
    assert [row[keep.bool()].tolist() for row, keep in zip(ids, mask, strict=True)] == tokens
    assert (ids[mask == 0] == 1).all()
    hidden = torch.randn(*ids.shape, 3, generator=torch.Generator().manual_seed(0))
    for row, (own, vector) in enumerate(zip(tokens, pool(hidden, mask, "mean"), strict=True)):
        expected = hidden[row, : len(own)].mean(0) if own else torch.zeros(3)
        torch.testing.assert_close(vector, expected)
    torch.testing.assert_close(pool(hidden, mask, "cls"), hidden[:, 0])
