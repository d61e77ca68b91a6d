"""Corpora as spaCy's documents: what is no token is widened, and gold comes back as it was."""

from pathlib import Path

import pytest

from tests.training.corpora.written import BRAT_TEXT, golds, rows, write
from training.corpora.registry import read_corpus
from training.errors import BergamotError

GOLD = (
    '{"id": "A", "language": "es", "text": "Tos y fiebre", "entities": '
    '[{"start": 0, "end": 3, "concept_id": "C1|C2"}, {"start": 6, "end": 12, "text": "fiebre", '
    '"concept_id": "NIL", "label": "DISO"}, {"start": 0, "end": 3, "text": "no", '
    '"concept_id": "C1"}]}\n{"id": "B", "text": "x"}\n'
)


def test_gold_lines_and_their_round_trip_through_spacy(tmp_path: Path):
    from training.corpora.spacy_files import write_docbin

    corpus = read_corpus(write(tmp_path / "gold.jsonl", GOLD))
    assert golds(corpus) == [("Tos", ["C1", "C2"], False), ("fiebre", [], False)]
    assert corpus.skipped == {
        "offsets disagree with the text": 1, "malformed record (KeyError)": 1
    }  # fmt: skip
    write_docbin(corpus, tmp_path / "gold.spacy")
    again = read_corpus(tmp_path / "gold.spacy")
    assert golds(again) == golds(corpus)
    assert rows(again)[0]["language"] == "SPA"
    assert rows(again)[1]["type"] == "DISO"


def test_spacys_data_widen_what_is_no_token_and_leave_gaps_and_overlaps_to_the_group(
    tmp_path: Path,
):
    import spacy
    from spacy.tokens import DocBin

    from training.corpora.spacy_files import write_docbin

    write(tmp_path / "a.txt", BRAT_TEXT)
    spans = ("0 5;16 24\tfever of night", "0 5\tfever", "10 14\tswea", "10 24\tsweat of night")
    lines = (f"T{n}\tDISO {span}\n" for n, span in enumerate(spans, start=1))
    write(tmp_path / "a.ann", "".join(lines))
    counts = write_docbin(read_corpus(tmp_path), tmp_path / "a.spacy", label="X")
    assert counts == (
        "1 widened to whole tokens, 4 mentions, 2 entities, 1 discontinuous, no entities, "
        "1 overlapping, no entities, 1 documents in a.spacy"
    )
    doc = next(DocBin().from_disk(tmp_path / "a.spacy").get_docs(spacy.blank("xx").vocab))
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("fever", "X"), ("sweat of night", "X")]
    assert [span.text for span in doc.spans["gold"]][2] == "sweat"
    with pytest.raises(BergamotError, match=r"\[T126\]"):
        write_docbin(read_corpus(write(tmp_path / "x/q.txt", "C1||x\n")), tmp_path / "b.spacy")
    assert not (tmp_path / "b.spacy").exists()


def test_spacys_data_are_exact_in_scripts_without_spaces(tmp_path: Path):
    import spacy
    from spacy.tokens import DocBin

    from training.corpora.spacy_files import write_docbin

    text = "患者は高血圧と2型糖尿病である。มีไข้สูง"
    write(tmp_path / "a.txt", text)
    names = ("高血圧", "2型糖尿病", "糖尿病", "ไข้")
    starts = [text.index(name) for name in names]
    lines = (
        f"T{n}\tDISO {start} {start + len(name)}\t{name}\n"
        for n, (start, name) in enumerate(zip(starts, names, strict=True), start=1)
    )
    write(tmp_path / "a.ann", "".join(lines))
    counts = write_docbin(read_corpus(tmp_path), tmp_path / "a.spacy")
    assert counts.startswith("4 mentions, 3 entities, 1 overlapping")
    doc = next(DocBin().from_disk(tmp_path / "a.spacy").get_docs(spacy.blank("xx").vocab))
    assert doc.text == text
    assert [span.text for span in doc.spans["gold"]] == list(names)
    assert [ent.text for ent in doc.ents] == ["高血圧", "2型糖尿病", "ไข้"]
