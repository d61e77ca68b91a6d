"""Names that the vocabulary does not reach share one vector, and the index holds together."""

from pathlib import Path

import pyarrow as pa
import pytest

from spacy_bergamot.encoder.text_encoder import TextEncoder
from spacy_bergamot.index.distinct import group_names

UNKNOWN = [chr(0x13000 + number) for number in range(300)]  # hieroglyphs


@pytest.fixture
def encoder(lm: Path) -> TextEncoder:
    return TextEncoder.open(lm)


def test_names_are_grouped_by_their_token_ids(encoder: TextEncoder):
    names = [*UNKNOWN[:3], "fever", "cold", UNKNOWN[3], "fever of old", "cold"]
    groups = group_names(encoder, pa.array(names, pa.large_string()))
    tokens = encoder.tokenize(names)
    expected: dict[tuple[int, ...], list[int]] = {}
    for row, ids in enumerate(tokens):
        expected.setdefault(tuple(ids), []).append(row)
    assert groups.first.tolist() == [rows[0] for rows in expected.values()]
    found = [
        groups.members[start:stop].tolist()
        for start, stop in zip(groups.indptr, groups.indptr[1:], strict=False)
    ]
    assert found == list(expected.values())
    assert [names[i] for i in groups.first[groups.of_rows()]] == [
        names[expected[tuple(ids)][0]] for ids in tokens
    ]
    assert not len(group_names(encoder, pa.array([], pa.large_string())).first)
