"""Names become unit vectors: the same in whatever batch and order, and of their normal form."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_bergamot.encoder.settings import EncoderSettings
from spacy_bergamot.encoder.text_encoder import (
    CachingEncoder,
    TextEncoder,
    fingerprint,
)
from tests.spacy_bergamot.conftest import write_lm


@pytest.fixture(scope="module")
def encoder(lm: Path) -> TextEncoder:
    return TextEncoder.open(lm)


@settings(max_examples=20)
@given(st.lists(st.sampled_from(["fever", "heart attack", "Cold", "高血圧", "MRI of the heart"])),
       st.integers(1, 40))  # fmt: skip
def test_a_name_has_the_vector_that_it_has_alone(encoder: TextEncoder, names, batch_tokens: int):
    found = encoder.encode(names, batch_tokens=batch_tokens)
    assert (found.shape, found.dtype) == ((len(names), encoder.dim), np.float32)
    for name, vector in zip(names, found, strict=True):
        np.testing.assert_allclose(vector, encoder.encode([name])[0], atol=1e-5)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    rows = [row for piece in encoder.encode_in_pieces(names) for row in piece.rows.tolist()]
    assert sorted(rows) == list(range(len(names)))


def test_a_name_is_cut_off_and_has_its_prefix_and_normal_form(encoder: TextEncoder):
    asked = EncoderSettings("mean", 25, True, "heart ")
    made = TextEncoder(encoder.model, encoder.tokenizer, asked)
    assert made.tokenize(["  ATTACK "]) == encoder.tokenize(["heart attack"])
    assert len(encoder.tokenize(["fever " * 100])[0]) == encoder.settings.max_length


class Counting:
    """Encodes names as their lengths, and remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, names: Sequence[str]) -> np.ndarray:
        self.asked += names
        return np.array([[len(name)] for name in names], dtype=np.float32)


@given(st.lists(st.lists(st.sampled_from(["a", "bb", "ccc"]), min_size=1), max_size=4))
def test_nothing_is_encoded_twice(calls: list[list[str]]):
    counting = Counting()
    caching = CachingEncoder(counting)
    for names in calls:
        assert caching.encode(names)[:, 0].tolist() == [len(name) for name in names]
    assert sorted(counting.asked) == sorted({name for names in calls for name in names})


def test_a_fingerprint_is_that_of_what_decides_the_vectors(lm: Path, tmp_path: Path):
    same, other = write_lm(tmp_path / "same"), write_lm(tmp_path / "other", seed=1)
    assert fingerprint(same) == fingerprint(lm) != fingerprint(other)
    (same / "README.md").write_text("more")
    assert fingerprint(same) == fingerprint(lm)
    EncoderSettings(pooling="cls").write(same)
    assert fingerprint(same) != fingerprint(lm)
