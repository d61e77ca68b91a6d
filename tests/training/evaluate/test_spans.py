import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin, Span
from typer.testing import CliRunner

from training.__main__ import app
from training.corpora.registry import read_corpus
from training.corpora.schema import DOCUMENTS, MENTIONS, Corpus
from training.corpora.spacy_files import write_docbin as write_gold
from training.errors import BergamotError
from training.evaluate.documents import of_labels, read_documents
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
    scores = score_documents([[Link(0, 4, "A"), Link(5, 9, "A")]], [[Link(0, 10, "A")]])
    assert rates(scores, "partial") == rates(scores, "partial_mention") == (50, 100)
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


def test_any_of_several_golds_is_right_and_counts_once():
    gold = [[Link(0, 5, "A|B"), Link(10, 15, "A")]]
    scores = score_documents([[Link(0, 5, "B"), Link(10, 12, "A")]], gold)
    assert rates(scores, "strict") == (50, 50)
    assert rates(scores, "partial") == rates(scores, "document") == (100, 100)
    assert rates(score_documents([[Link(0, 5, "C")]], gold), "partial") == (0, 0)


def test_nil_is_scored_at_the_mentions_that_were_found():
    golds = [Link(0, 5, "NIL"), Link(6, 9, "NIL"), Link(10, 15, "A"), Link(20, 25, "NIL")]
    guesses = [Link(0, 5, "NIL"), Link(6, 9, "B"), Link(10, 15, "NIL"), Link(30, 35, "NIL")]
    # One of two NILs at found mentions is gold; one of the two gold ones was said to be NIL.
    assert rates(score_documents([guesses], [golds]), "nil") == (50, 50)


def test_intervals_are_of_resampled_documents():
    """Eight documents alike vary not at all; of eight, four right and four wrong, do."""
    right, wrong, gold = [Link(0, 5, "A")], [Link(0, 5, "B")], [Link(0, 5, "A")]
    same = score_documents([right] * 8, [gold] * 8)["strict"]
    assert [same[f"{rate}_{end}"] for rate in "prf" for end in ("low", "high")] == [100] * 6
    scores = score_documents([right, wrong] * 4, [gold] * 8)
    row = scores["strict"]
    assert row["p_low"] < row["p"] == 50 < row["p_high"]
    draws = np.random.default_rng(1).integers(0, 2, size=(4000, 8)).mean(axis=1)
    low, high = np.percentile(100 * draws, [2.5, 97.5])
    assert (row["r_low"], row["r_high"]) == pytest.approx((low, high), abs=5)
    assert scores == score_documents([right, wrong] * 4, [gold] * 8)
    # A document without a prediction is drawn like any other.
    none = score_documents([right, []] * 4, [gold] * 8)["strict"]
    assert (none["p"], none["p_low"]) == (100, 100)
    assert none["r_low"] < none["r"] == 50 < none["r_high"]


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
    text, links, labels, language = read_documents(gold, spans_key=key)[1]
    assert (text, links, labels, language) == ("colds last", [Link(0, 5, "C1")], ["DISO"], "")
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


def write_corpus(path: Path, texts: dict[str, list[str]]) -> Path:
    """Write documents by language, of which "fever" and "Fieber" are C10 and "heart" C06."""
    golds = {"fever": ("C10", "DISO"), "Fieber": ("C10", "DISO"), "heart": ("C06", "ANAT")}
    path.write_text(
        "\n".join(
            json.dumps({
                "id": f"{language}-{number}", "language": language, "text": text,
                "entities": [
                    {"start": text.index(word), "end": text.index(word) + len(word),
                     "concept_id": concept, "label": label}
                    for word, (concept, label) in golds.items() if word in text
                ],
            })
            for language, of in texts.items()
            for number, text in enumerate(of)
        )
    )  # fmt: skip
    read_corpus(path).write(path.with_suffix(""))
    return path.with_suffix("")


def test_scores_by_language_and_of_some_labels(tmp_path: Path, make_nlp: Callable[..., Language]):
    make_nlp().to_disk(tmp_path / "pipeline")
    texts = {"ENG": ["fever of the heart", "no pyrexia"], "GER": ["kein Fieber", "mit Fieber"]}
    corpus = write_corpus(tmp_path / "gold.jsonl", texts)
    output = tmp_path / "scores.json"
    command = ["evaluate-links", str(tmp_path / "pipeline"), str(corpus), str(output)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "English" in result.output
    assert "German" in result.output
    scores = json.loads(output.read_text())
    assert scores["documents"] == 4
    # Pyrexia is no gold mention.
    assert rates(scores, "strict_mention") == (80, 100)
    english, german = scores["languages"]["ENG"], scores["languages"]["GER"]
    assert rates(german, "strict") == (100, 100)
    assert english["strict_mention"]["p"] == pytest.approx(200 / 3)
    assert english["documents"] == german["documents"] == 2
    result = CliRunner().invoke(app, [*command, "--labels", "ANAT", "--gold-labels", "ANAT,DISO"])
    assert result.exit_code == 0, result.output
    assert "DISO 4" in result.output
    assert rates(json.loads(output.read_text()), "strict_mention") == (100, 25)
    scores = score_links(
        str(tmp_path / "pipeline"), corpus, labels=["ANAT"], gold_labels=["ANAT"]
    )  # fmt: skip
    assert rates(scores, "strict") == (100, 100)
    with pytest.raises(BergamotError, match=r"T295.*CHEM.*ANAT, DISO"):
        score_links(str(tmp_path / "pipeline"), corpus, gold_labels=["CHEM"])


def test_alternatives_and_composites_are_told_apart_in_both_forms(tmp_path: Path):
    text = "ADE and APC"
    rows = [
        {"id": str(n), "document": "d", "language": "ENG", "mention": text[start:end],
         "starts": [start], "ends": [end], "context": "", "type": "T047,T191",
         "concepts": ["A", "B"], "all_of": whole}
        for n, (start, end, whole) in enumerate([(0, 3, False), (8, 11, True)])
    ]  # fmt: skip
    corpus = Corpus(
        "c",
        pa.Table.from_pylist(
            [{"document": "d", "language": "ENG", "text": text}], schema=DOCUMENTS
        ),
        pa.Table.from_pylist(rows, schema=MENTIONS),
        {},
    )
    corpus.write(tmp_path / "corpus")
    write_gold(corpus, tmp_path / "gold.spacy")
    for path in (tmp_path / "corpus", tmp_path / "gold.spacy"):
        (document,) = read_documents(path)
        assert document.language == "ENG"
        assert document.links == [Link(0, 3, "A|B"), Link(8, 11, "A"), Link(8, 11, "B")]
        (kept,), _ = of_labels([document], ["T191"])
        assert kept == document
        (kept,), left_out = of_labels([document], ["T19"])
        assert not kept.links
        assert left_out == {"T047,T191": 3}


def test_a_corpus_without_texts_is_refused(tmp_path: Path):
    empty = Corpus("c", DOCUMENTS.empty_table(), MENTIONS.empty_table(), {})
    empty.write(tmp_path / "corpus")
    DocBin().to_disk(tmp_path / "empty.spacy")
    for path in (tmp_path / "corpus", tmp_path / "empty.spacy"):
        with pytest.raises(BergamotError, match="T296"):
            read_documents(path)


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
    with pytest.raises(BergamotError, match="T146"):
        score_links(str(one), two)
    (tmp_path / "bad.spacy").write_bytes(b"no docbin")
    with pytest.raises(BergamotError, match="B002"):
        read_documents(tmp_path / "bad.spacy")
    with pytest.raises(BergamotError, match="B001"):
        read_documents(tmp_path / "none.spacy")
