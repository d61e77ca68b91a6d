"""bergamot_finder: what is decoded, what is marked, how it is kept."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_bergamot.errors import BergamotError
from spacy_bergamot.finder import BergamotFinder
from spacy_bergamot.finder.decode import Found
from spacy_bergamot.finder.pieces import Pieces, read_pieces
from spacy_bergamot.mentions import NAMES_INSIDE
from spacy_bergamot.pipeline.loaders import finder
from spacy_bergamot.storage.bundle import FileBundle

TAGS = ["O", "B-DISO", "I-DISO", "B-PROC", "I-PROC"]


@pytest.fixture
def nlp(folder: Path) -> Language:
    nlp = spacy.blank("xx")
    pipe = nlp.add_pipe("bergamot_finder", config={"threshold": 0.0})
    assert isinstance(pipe, BergamotFinder)
    pipe.initialize(lambda: [], nlp=nlp, finder=finder(str(folder)))
    return nlp


def says(pipe: BergamotFinder, by_word: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the language model say one tag of every word, with probability 0.9; 0.5 for one with ?,
    which it takes for outside with probability 0.45."""
    texts: list[str] = []
    read = read_pieces

    def kept(doc: Doc, tokenizer: object) -> Pieces:
        texts.append(doc.text)
        return read(doc, tokenizer)

    def log_probabilities(documents: list[Pieces], **_: object) -> list[np.ndarray]:
        found = []
        for text, pieces in zip(texts[-len(documents) :], documents, strict=True):
            scores = np.full((len(pieces.firsts), len(TAGS)), np.log(0.025))
            for row, (start, end) in enumerate(zip(pieces.starts, pieces.ends, strict=True)):
                tag = by_word.get(text[start:end], "O")
                scores[row, TAGS.index(tag.rstrip("?"))] = np.log(0.5 if "?" in tag else 0.9)
                if "?" in tag:
                    scores[row, 0] = np.log(0.45)
            found.append(scores)
        return found

    monkeypatch.setattr("spacy_bergamot.finder.component.read_pieces", kept)
    monkeypatch.setattr(pipe.tagger, "log_probabilities", log_probabilities)


def found(doc: Doc) -> list[tuple[str, str]]:
    return [(ent.text, ent.label_) for ent in doc.ents]


def test_mentions_are_marked(nlp, monkeypatch):
    pipe = nlp.get_pipe("bergamot_finder")
    words = {"common": "B-DISO", "cold": "I-DISO", "MRI": "B-PROC", "心肌梗死": "B-DISO"}
    says(pipe, words, monkeypatch)
    assert found(nlp("a common cold, MRI")) == [("common cold", "DISO"), ("MRI", "PROC")]
    text = "糖尿病、心肌梗死"  # one token, until it is split
    doc = nlp(text)
    assert (doc.text, found(doc)) == (text, [("心肌梗死", "DISO")])
    assert found(nlp("")) == found(nlp(" ")) == []


def test_punctuation_at_the_ends_of_a_mention_is_outside(nlp, monkeypatch):
    """The tokenizer has "、2" as one piece."""
    tags = {",": "B-DISO", "fever": "I-DISO", ";": "I-DISO"}
    says(nlp.get_pipe("bergamot_finder"), tags, monkeypatch)
    doc = nlp.make_doc("no cold , fever ; rest")
    monkeypatch.setattr(
        "spacy_bergamot.finder.component.decode", lambda scores, joints: [Found(2, 5, 0, 0.9)]
    )
    assert found(nlp.get_pipe("bergamot_finder")(doc)) == [("fever", "DISO")]


def test_two_mentions_that_a_conjunction_joins_are_cut_beside_a_name(nlp, monkeypatch):
    pipe = nlp.get_pipe("bergamot_finder")
    pipe.settings = replace(pipe.settings, agreement=0.2)
    doubted = {"asma": "B-DISO", "y": "I-DISO?", "tos": "I-DISO", "MRI": "B-PROC"}
    says(pipe, doubted, monkeypatch)
    whole, cut = ["asma y tos", "MRI"], ["asma", "tos", "MRI"]
    for language, label, expected in (
        ("es", "DISO", cut),
        ("en", "DISO", whole),
        ("es", "X", whole),
    ):
        doc = nlp.make_doc("asma y tos, MRI")
        doc.user_data["language"] = language
        doc.ents = [doc.char_span(0, 4, label=label)]
        assert [text for text, _ in found(pipe(doc))] == expected


def test_headings_are_no_mentions_unless_they_are_names(nlp, monkeypatch):
    pipe = nlp.get_pipe("bergamot_finder")
    says(pipe, dict.fromkeys(["ATCD", "Asthma", "COPD", "HTA"], "B-DISO"), monkeypatch)
    doc = nlp.make_doc("ATCD: HTA. Asthma: mild. COPD：")
    assert [text for text, _ in found(pipe(doc))] == ["HTA", "Asthma"]
    doc = nlp.make_doc("ATCD: HTA. Asthma: mild. COPD：")
    pipe.settings = replace(pipe.settings, agreement=0.2)
    doc.ents = [doc.char_span(25, 29, label="DISO")]
    assert [text for text, _ in found(pipe(doc))] == ["HTA", "Asthma", "COPD"]


def test_a_disorder_after_which_something_is_named_is_no_mention(nlp, monkeypatch):
    says(nlp.get_pipe("bergamot_finder"), dict.fromkeys(["flu", "cough"], "B-DISO"), monkeypatch)
    doc = nlp.make_doc("flu vaccine and cough")
    doc.user_data["language"] = "en"
    assert found(nlp.get_pipe("bergamot_finder")(doc)) == [("cough", "DISO")]


def test_entities_that_are_there_stay(nlp, monkeypatch):
    pipe = nlp.get_pipe("bergamot_finder")
    says(pipe, {"common": "B-DISO", "cold": "I-DISO", "fever": "B-DISO"}, monkeypatch)
    doc = nlp.make_doc("common cold, fever")
    doc.ents = [doc.char_span(7, 11, label="OTHER")]
    assert found(pipe(doc)) == [("cold", "OTHER"), ("fever", "DISO")]


def test_entities_that_it_doubts_go(nlp, monkeypatch):
    pipe = nlp.get_pipe("bergamot_finder")
    pipe.settings = replace(pipe.settings, agreement=0.2)
    says(pipe, {"common": "B-DISO", "cold": "I-DISO", "MRI": "B-PROC"}, monkeypatch)
    doc = nlp.make_doc("common cold, fever MRI, pain nose")
    places = [(7, 11, "DISO"), (13, 18, "DISO"), (19, 22, "ANAT"), (29, 33, "ANAT")]
    doc.ents = [doc.char_span(start, end, label=label) for start, end, label in places]
    assert found(pipe(doc)) == [("common cold", "DISO"), ("MRI", "ANAT"), ("nose", "ANAT")]
    assert [name.text for name in doc.spans[NAMES_INSIDE]] == ["cold"]
    doc = nlp.make_doc("common cold")
    doc.ents = [doc.char_span(0, 11, label="DISO")]
    doc.spans[NAMES_INSIDE] = [doc[:1]]  # of an earlier run
    assert not pipe(doc).spans


def test_short_forms_of_clinical_notes_stay(nlp, monkeypatch):
    pipe = nlp.get_pipe("bergamot_finder")
    pipe.settings = replace(pipe.settings, agreement=0.2)
    says(pipe, {}, monkeypatch)
    for language, expected in (("en", ["HTN"]), ("de", [])):
        doc = nlp.make_doc("HTN, QRX")
        doc.user_data["language"] = language
        doc.ents = [doc.char_span(*place, label="DISO") for place in ((0, 3), (5, 8))]
        assert [text for text, _ in found(pipe(doc))] == expected


def test_names_that_know_better_stay(nlp, monkeypatch):
    pipe = nlp.get_pipe("bergamot_finder")
    pipe.settings = replace(pipe.settings, agreement=0.2)
    words = {"fever": "B-DISO", "and": "I-DISO", "cold": "I-DISO", "attack": "B-DISO"}
    says(pipe, words, monkeypatch)
    doc = nlp.make_doc("fever and cold , heart attack , attack")
    places = [(0, 5), (10, 14), (17, 29)]
    doc.ents = [doc.char_span(*place, label="DISO") for place in places]
    assert [text for text, _ in found(pipe(doc))] == ["fever", "cold", "heart attack", "attack"]


def test_names_of_other_kinds_are_no_disorders(nlp, monkeypatch):
    pipe = nlp.get_pipe("bergamot_finder")
    pipe.settings = replace(pipe.settings, agreement=0.2)
    says(pipe, {"pneumoniae": "B-DISO", "anemia": "B-DISO", "penicillin": "B-DISO",
                "allergy": "I-DISO"}, monkeypatch)  # fmt: skip
    doc = Doc(nlp.vocab, ["S.", "pneumoniae", ",", "anemia", ",", "penicillin", "allergy"])
    doc.ents = [doc.char_span(0, 13, "LIVB"), doc.char_span(16, 22, "PHEN"),
                doc.char_span(25, 35, "CHEM")]  # fmt: skip
    assert found(pipe(Doc(nlp.vocab, ["anemia"], ents=["B-MENTION"]))) == [("anemia", "DISO")]
    assert found(pipe(doc)) == [
        ("S. pneumoniae", "LIVB"), ("anemia", "DISO"), ("penicillin allergy", "DISO")
    ]  # fmt: skip


def test_names_of_other_kinds_that_it_knows_are_no_disorders_either(nlp, monkeypatch):
    pipe = nlp.get_pipe("bergamot_finder")
    pipe.settings = replace(pipe.settings, agreement=0.2)
    says(pipe, {"contrast": "B-DISO", "allergy": "I-DISO", "knee": "B-PROC",
                "scan": "I-PROC"}, monkeypatch)  # fmt: skip
    doc = Doc(nlp.vocab, ["contrast", "allergy", ",", "knee", "scan"])
    doc.ents = [doc.char_span(0, 8, "PROC"), doc.char_span(24, 28, "PROC")]
    doc = pipe(doc)
    assert found(doc) == [("contrast allergy", "DISO"), ("knee scan", "PROC")]
    # What may be linked instead of the mention is of its kind.
    assert [name.text for name in doc.spans[NAMES_INSIDE]] == ["scan"]
    doc = Doc(nlp.vocab, ["knee", "again"], ents=["B-DISO", "O"])  # surely none
    assert found(pipe(doc)) == [("knee", "PROC")]


def test_what_is_unlikely_is_not_marked(nlp, monkeypatch):
    pipe = nlp.get_pipe("bergamot_finder")
    says(pipe, {"cold": "B-DISO"}, monkeypatch)
    pipe.settings = replace(pipe.settings, threshold=0.89)
    assert found(nlp("cold")) == [("cold", "DISO")]
    pipe.settings = replace(pipe.settings, threshold=0.91)
    assert found(nlp("cold")) == []


def test_spans_of_ones_own(folder, monkeypatch):
    nlp = spacy.blank("xx")
    pipe = nlp.add_pipe("bergamot_finder", config={"spans_key": "found"})
    pipe.set_files(FileBundle(folder))
    says(pipe, {"cold": "B-DISO"}, monkeypatch)
    doc = nlp("cold")
    assert [(span.text, span.label_) for span in doc.spans["found"]] == [("cold", "DISO")]
    assert not doc.ents


def test_it_is_kept_on_disk_in_bytes_and_by_pickle(nlp, tmp_path):
    text = "heart attack and a common cold, fever or MRI again " * 5
    expected = found(nlp(text))
    assert expected
    nlp.to_disk(tmp_path / "p")
    assert found(spacy.load(tmp_path / "p")(text)) == expected
    other = spacy.blank("xx")
    other.add_pipe("bergamot_finder", config={"threshold": 0.0})
    assert found(other.from_bytes(nlp.to_bytes())(text)) == expected
    pipe = pickle.loads(pickle.dumps(nlp.get_pipe("bergamot_finder")))
    assert found(pipe(nlp.make_doc(text))) == expected
    for doc in nlp.pipe([text, "", text], n_process=2, batch_size=1):
        assert found(doc) == (expected if doc.text else [])


def test_a_document_that_fails_takes_no_other_with_it(nlp, monkeypatch):
    pipe, failed = nlp.get_pipe("bergamot_finder"), []
    nlp.set_error_handler(lambda name, pipe, docs, error: failed.extend(docs))
    marked = pipe._mark

    def doomed(docs):
        if any(doc.text == "doom" for doc in docs):
            raise ValueError("doom")
        return marked(docs)

    monkeypatch.setattr(pipe, "_mark", doomed)
    assert [doc.text for doc in nlp.pipe(["a", "doom", "b"])] == ["a", "b"]
    assert [doc.text for doc in failed] == ["doom"]


def test_a_changed_file_is_refused(nlp, folder, tmp_path):
    nlp.to_disk(tmp_path / "p")
    path = tmp_path / "p/bergamot_finder/head.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(BergamotError, match="B00"):
        spacy.load(tmp_path / "p")
    with pytest.raises(BergamotError, match="B030"):
        spacy.blank("xx").add_pipe("bergamot_finder")(nlp.make_doc("fever"))
    half = spacy.blank("xx").add_pipe("bergamot_finder", config={"precision": "fp16"})
    with pytest.raises(BergamotError, match="B014"):
        half.set_files(FileBundle(folder))
    with pytest.raises(BergamotError, match="B032"):
        spacy.blank("xx").add_pipe("bergamot_finder").initialize(lambda: [])
