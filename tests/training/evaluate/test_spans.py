import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin, Span
from typer.testing import CliRunner

from training.__main__ import app
from training.corpora.schema import DOCUMENTS, MENTIONS, Corpus
from training.errors import BergamotError
from training.evaluate.documents import read_documents
from training.evaluate.links_cli import score_links
from training.evaluate.spans import Link, score_documents


def rates(scores: dict, name: str) -> tuple[float, float]:
    return scores[name]["p"], scores[name]["r"]


def test_strict_partial_and_document_scores():
    gold = [[Link(0, 5, "A"), Link(10, 20, "B"), Link(30, 35, "A")], [Link(0, 4, "C")]]
    predicted = [
        # exact; shares characters, same concept; exact span, other concept; touches nothing
        [Link(0, 5, "A"), Link(12, 25, "B"), Link(30, 35, "D"), Link(50, 55, "A")],
        [],
    ]
    scores = score_documents(predicted, gold)
    assert rates(scores, "strict") == (25, 25)
    assert rates(scores, "partial") == (50, 50)
    assert rates(scores, "strict_mention") == (50, 50)
    assert rates(scores, "partial_mention") == (75, 75)
    # Document 1: A, B of A, B, D; document 2: nothing of C.
    assert scores["document"]["p"] == pytest.approx(200 / 3)
    assert scores["document"]["r"] == pytest.approx(200 / 3)
    assert scores["partial"]["f"] == pytest.approx(50)


def test_touching_spans_do_not_overlap_and_nothing_matches_twice():
    scores = score_documents([[Link(0, 5, "A"), Link(5, 9, "A")]], [[Link(0, 5, "A")]])
    assert rates(scores, "partial") == (50, 100)
    scores = score_documents([[Link(0, 10, "A")]], [[Link(0, 5, "A"), Link(5, 9, "A")]])
    assert rates(scores, "partial") == (100, 50)
    scores = score_documents([[Link(5, 9, "A")]], [[Link(0, 5, "A")]])
    assert rates(scores, "partial") == (0, 0)
    # (2, 8) overlaps both gold spans alike; matched with its like, it leaves the other to (0, 2).
    golds = [Link(0, 8, "A"), Link(2, 8, "A")]
    scores = score_documents([[Link(0, 2, "A"), Link(2, 8, "A")]], [golds])
    assert rates(scores, "partial") == (100, 100)


def test_nil_links_count_as_mentions_alone():
    scores = score_documents([[Link(0, 5, "NIL")]], [[Link(0, 5, "NIL"), Link(6, 9, "A")]])
    assert rates(scores, "strict") == (0, 0)
    assert rates(scores, "strict_mention") == (100, 50)


def write_docbin(path: Path, texts: list[str], concept: str, *, key: str | None = None) -> Path:
    nlp = spacy.blank("xx")
    docs = []
    for text in texts:
        doc = nlp(text)
        spans = [Span(doc, 0, 1, "DISO", kb_id=concept), Span(doc, 1, 2, "DISO")]
        if key:
            doc.spans[key] = spans
        else:
            doc.set_ents(spans)
        docs.append(doc)
    DocBin(docs=docs).to_disk(path)
    return path


@pytest.mark.parametrize("key", [None, "sc"])
def test_docbins_of_linked_documents(tmp_path: Path, key: str | None):
    gold = write_docbin(tmp_path / "gold.spacy", ["gout flares", "colds last"], "C1", key=key)
    other = write_docbin(tmp_path / "other.spacy", ["gout flares", "colds last"], "C2", key=key)
    assert read_documents(gold, spans_key=key)[1] == ("colds last", [Link(0, 5, "C1")])
    assert rates(score_links(str(gold), gold, spans_key=key), "strict") == (100, 100)
    scores = score_links(str(other), gold, spans_key=key)
    assert rates(scores, "strict") == (0, 0)
    assert rates(scores, "strict_mention") == (100, 100)


def test_a_pipeline_against_a_corpus(tmp_path: Path, make_nlp: Callable[..., Language]):
    """The pipeline finds and links; the corpus has a composite, a split and a NIL mention."""
    make_nlp().to_disk(tmp_path / "pipeline")
    text = "Hypertension and heart attack, then pyrexia."
    rows = [
        ([0], [12], ["C01"]),
        ([17, 23], [22, 29], ["C03", "C06"]),
        ([36], [43], []),
    ]
    mentions = [
        {"id": str(n), "document": "d", "language": "en", "mention": text[starts[0] : ends[-1]],
         "starts": starts, "ends": ends, "context": "", "type": "DISO", "concepts": concepts,
         "all_of": True}
        for n, (starts, ends, concepts) in enumerate(rows)
    ]  # fmt: skip
    documents = [{"document": "d", "language": "en", "text": text}]
    Corpus(
        "c",
        pa.Table.from_pylist(documents, schema=DOCUMENTS),
        pa.Table.from_pylist(mentions, schema=MENTIONS),
        {},
    ).write(tmp_path / "corpus")
    scores = score_links(str(tmp_path / "pipeline"), tmp_path / "corpus")
    # Found: C01 and C03 of three gold links, and C10 where the gold says NIL.
    assert scores["strict"]["p"] == pytest.approx(200 / 3)
    assert scores["strict"]["r"] == pytest.approx(200 / 3)
    assert rates(scores, "strict_mention") == (100, 100)


def test_the_command_writes_the_scores(tmp_path: Path):
    gold = write_docbin(tmp_path / "gold.spacy", ["gout flares"], "C1")
    result = CliRunner().invoke(
        app, ["evaluate-links", str(gold), str(gold), str(tmp_path / "f.json")]
    )
    assert result.exit_code == 0
    assert "strict" in result.output
    assert json.loads((tmp_path / "f.json").read_text())["strict"]["f"] == 100


def test_documents_that_are_not_the_same_are_refused(tmp_path: Path):
    one = write_docbin(tmp_path / "one.spacy", ["gout flares"], "C1")
    other = write_docbin(tmp_path / "other.spacy", ["gout abates"], "C1")
    two = write_docbin(tmp_path / "two.spacy", ["gout flares", "a b"], "C1")
    with pytest.raises(BergamotError, match="T146"):
        score_links(str(one), other)
    with pytest.raises(BergamotError, match="T144"):
        score_links(str(one), two)
    (tmp_path / "bad.spacy").write_bytes(b"no docbin")
    with pytest.raises(BergamotError, match="T145"):
        read_documents(tmp_path / "bad.spacy")
    with pytest.raises(BergamotError, match="T301"):
        read_documents(tmp_path / "none.spacy")
