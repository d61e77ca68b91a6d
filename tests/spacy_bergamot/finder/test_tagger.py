"""The tagger: probabilities of every unit, the same from disk and in windows of any size."""

from pathlib import Path

import numpy as np
import pytest
import spacy

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.finder.pieces import read_pieces
from spacy_bergamot.finder.tagger import Tagger, check_precision, tags_of
from tests.spacy_bergamot.conftest import write_lm

NLP = spacy.blank("xx")


@pytest.fixture(scope="module")
def tagger(folder: Path) -> Tagger:
    return Tagger.open(folder)


def test_a_label_has_two_tags():
    assert tags_of([]) == ["O"]
    assert tags_of(["A", "B"]) == ["O", "B-A", "I-A", "B-B", "I-B"]


def test_a_saved_tagger_says_the_same(tagger: Tagger, tmp_path: Path):
    tagger.save(tmp_path / "saved")
    again = Tagger.open(tmp_path / "saved")
    pieces = read_pieces(NLP.make_doc("fever and a common cold"), tagger.tokenizer)
    one, other = (t.log_probabilities([pieces])[0] for t in (tagger, again))
    assert again.labels == tagger.labels == ["DISO", "PROC"]
    assert one.shape == (len(pieces.firsts), 5)
    np.testing.assert_allclose(other, one, atol=2e-2)  # half as many bits on disk
    assert np.abs(one).max() > 0.1


def test_documents_are_read_together_as_alone(tagger: Tagger):
    texts = ["fever", "", "heart attack, 高血圧 and MRI " * 20, "cold"]
    documents = [read_pieces(NLP.make_doc(text), tagger.tokenizer) for text in texts]
    together = tagger.log_probabilities(documents, batch_pieces=64)
    for document, found in zip(documents, together, strict=True):
        (alone,) = tagger.log_probabilities([document])
        np.testing.assert_allclose(found, alone, atol=1e-4)


def test_long_documents_are_read_in_windows_as_short_ones(tagger: Tagger):
    doc = NLP.make_doc("fever, heart attack and cold aspirin " * 400)
    pieces = read_pieces(doc, tagger.tokenizer)
    (scores,) = tagger.log_probabilities([pieces])
    assert scores.shape == (len(pieces.firsts), 5)
    np.testing.assert_allclose(np.exp(scores).sum(1), 1, rtol=1e-4)
    one, other = tagger.log_probabilities([pieces, pieces], batch_pieces=300)
    np.testing.assert_allclose(one, scores, atol=1e-4)
    np.testing.assert_allclose(other, scores, atol=1e-4)


def test_what_is_not_the_head_of_these_labels_is_refused(tmp_path: Path):
    tagger = Tagger.begin(write_lm(tmp_path / "lm"), ["DISO", "PROC"])
    tagger.labels = ["DISO"]
    tagger.save(tmp_path / "saved")
    with pytest.raises(BergamotError, match=r"B002.*head\.safetensors"):
        Tagger.open(tmp_path / "saved")


def test_a_precision_that_it_does_not_have_is_refused():
    with pytest.raises(BergamotError, match=r"B014.*fp16"):
        check_precision("fp16")
    check_precision("bf16")
