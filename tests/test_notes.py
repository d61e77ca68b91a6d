"""The invented notes of assets/notes: marked as the corpus reader expects, none in both parts."""

from pathlib import Path

import pytest

from spacy_bergamot.languages import NAMES
from training.corpora.registry import read_corpus

NOTES = Path(__file__).parents[1] / "assets/notes"


@pytest.mark.parametrize(("part", "languages", "least"), [("train", 30, 30), ("test", 16, 12)])
def test_every_note_is_read(part: str, languages: int, least: int):
    corpus = read_corpus(NOTES / part, "marked")
    assert corpus.skipped == {}
    found = corpus.documents["language"].to_pylist()
    assert len(set(found)) == languages
    assert set(found) <= set(NAMES)
    assert min(found.count(language) for language in set(found)) >= least
    lines = sum(len(file.read_text("utf8").splitlines()) for file in (NOTES / part).glob("*"))
    assert len(found) == lines
    assert all(corpus.mentions["concepts"].to_pylist())


def test_no_note_is_in_both_parts():
    train, test = (
        set(read_corpus(NOTES / part).documents["text"].to_pylist()) for part in ("train", "test")
    )
    assert not train & test
