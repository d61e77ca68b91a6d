"""The invented notes of assets/notes: marked as the corpus reader expects, none in both parts."""

from pathlib import Path

import pytest

from spacy_bergamot.languages import NAMES
from training.corpora.registry import read_corpus

NOTES = Path(__file__).parents[1] / "assets/notes"


@pytest.mark.parametrize(
    ("part", "languages", "least"),
    [("train", 30, 30), ("test", 16, 12), ("documents", 24, 6), ("care", 24, 6)],
)
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


def test_no_note_is_in_two_parts():
    texts = [
        text
        for part in ("train", "test", "documents")
        for text in read_corpus(NOTES / part).documents["text"].to_pylist()
    ]
    assert len(set(texts)) == len(texts)


def test_documents_have_lines_and_many_words_beside_findings():
    documents = read_corpus(NOTES / "documents")
    texts = documents.documents["text"].to_pylist()
    assert sum("\n" in text for text in texts) > len(texts) / 2
    assert not any("\\n" in text for text in texts)
    marked = sum(len(text) for text in documents.mentions["mention"].to_pylist())
    assert marked < 0.3 * sum(map(len, texts))


def test_documents_are_marked_twice_for_findings_and_for_what_else_notes_name():
    found, other = (read_corpus(NOTES / part) for part in ("documents", "care"))
    columns = [of.documents.select(["language", "text"]).to_pylist() for of in (found, other)]
    assert columns[0] == columns[1]
    assert other.mentions.num_rows > found.mentions.num_rows
    marked = set(other.mentions["mention"].to_pylist())
    assert {"metformin", "метформин", "Herz"} <= marked
