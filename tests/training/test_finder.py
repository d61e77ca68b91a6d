"""A finder trained on invented sentences: found, saved, resumed, silver."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span
from typer.testing import CliRunner

from spacy_bergamot.encoder.text_encoder import open_tokenizer
from spacy_bergamot.finder import BergamotFinder
from spacy_bergamot.finder.pieces import read_pieces
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.mentions import Place, exact_spans
from spacy_bergamot.pipeline.build import build_pipeline, write_names
from spacy_bergamot.storage.bundle import FileBundle
from tests.spacy_bergamot.conftest import CONCEPTS, write_concepts, write_lm
from training.__main__ import app
from training.errors import BergamotError
from training.finder.examples import UNKNOWN, Swaps, example_of, outside_tags, recased
from training.finder.recipe import Recipe
from training.finder.silver import SPANS, Marker
from training.finder.train import train_finder

RECIPE = Recipe(epochs=8, batch_pieces=64, learn_rate=5e-3, swap_share=0.0, recase_share=0.0)
SENTENCES = ["the heart has {} .", "{} and {} .", "no {} .", "aspirin , {} ."]
NAMES = [
    name for _, (kind, by) in CONCEPTS.items() if kind in ("T047", "T184") for name in by["ENG"]
]


def gold(count: int = 200, seed: int = 0) -> list[Doc]:
    """Return sentences with the disorders of the invented knowledge base."""
    nlp, draw = spacy.blank("xx"), random.Random(seed)
    docs = []
    for _ in range(count):
        text, places = "", []
        before, *parts = draw.choice(SENTENCES).split("{}")
        text = before
        for part in parts:
            name = draw.choice(NAMES)
            places.append((len(text), len(text) + len(name)))
            text += name + part
        doc = nlp(text)
        doc.set_ents([doc.char_span(*place, label="DISO") for place in places])
        docs.append(doc)
    return docs


@pytest.fixture(scope="module")
def lm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lm(tmp_path_factory.mktemp("finder") / "lm")


@pytest.fixture(scope="module")
def trained(lm: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    output = tmp_path_factory.mktemp("trained")
    return output, train_finder([gold()], gold(20, seed=1), lm, output, RECIPE)


def test_it_learns(trained):
    _, scores = trained
    assert scores["strict_f"] > 90
    assert scores["partial_f"] >= scores["strict_f"]


def test_an_interrupted_run_ends_as_one_that_was_not(trained, lm, tmp_path, monkeypatch):
    from training import tuning as module

    kept = module.save_checkpoint

    def killed(root: Path, *, step: int, **rest: Any) -> Path:
        path = kept(root, step=step, **rest)
        if step == 3:
            raise KeyboardInterrupt
        return path

    monkeypatch.setattr(module, "save_checkpoint", killed)
    with pytest.raises(KeyboardInterrupt):
        train_finder([gold()], gold(20, seed=1), lm, tmp_path, RECIPE)
    assert not (tmp_path / "finder").exists()
    monkeypatch.undo()
    with pytest.raises(BergamotError, match="T207"):
        train_finder([gold()], [], lm, tmp_path, Recipe(epochs=9))
    with pytest.raises(BergamotError, match="T207"):  # as many documents, but others
        train_finder([gold(seed=5)], [], lm, tmp_path, RECIPE)
    train_finder([gold()], gold(20, seed=1), lm, tmp_path, RECIPE)
    whole = (trained[0] / "finder/model.safetensors").read_bytes()
    assert (tmp_path / "finder/model.safetensors").read_bytes() == whole
    assert not (tmp_path / "checkpoints").exists()


def test_a_corpus_says_nothing_of_labels_that_it_lacks(lm, tmp_path):
    """Two corpora mark two kinds of the same sentences; the finder learns both of them."""
    disorders, drugs = gold(), gold(seed=2)
    for doc in drugs:
        found = [token for token in doc if token.text == "aspirin"]
        doc.ents = [Span(doc, token.i, token.i + 1, label="CHEM") for token in found]
    scores = train_finder([disorders, drugs], gold(20, seed=1), lm, tmp_path, RECIPE)
    assert scores["strict_f"] > 85
    finder = BergamotFinder(spacy.blank("xx").vocab).set_files(FileBundle(tmp_path / "finder"))
    doc = finder(spacy.blank("xx")("aspirin , heart attack ."))
    assert [(ent.text, ent.label_) for ent in doc.ents] == [
        ("aspirin", "CHEM"), ("heart attack", "DISO")
    ]  # fmt: skip


def test_what_is_outside_of_a_corpus_without_a_label_may_be_of_it():
    labels = ["CHEM", "DISO"]
    assert outside_tags(labels, ["DISO"]).tolist() == [True, True, True, False, False]
    assert outside_tags(labels, labels).tolist() == [True] + 4 * [False]
    assert outside_tags(labels, []).tolist() == [True] + 4 * [False]  # texts without a mention


def test_silver_takes_the_finders_mentions_of_its_label_alone(lm, tmp_path):
    nlp = build_pipeline(lm=lm, concepts=write_concepts(tmp_path / "kb"))

    def finder(doc: Doc) -> Doc:
        doc.spans[SPANS] = [Span(doc, 1, 3, label="PROC"), Span(doc, 5, 7, label="DISO")]
        return doc

    (doc,) = Marker(nlp, finder, "DISO").mark([("en", "the fever again , a bad cold")])
    assert [ent.text for ent in doc.ents] == ["fever", "bad cold"]


def test_what_cannot_be_trained_on_is_refused(lm, tmp_path):
    with pytest.raises(BergamotError, match="T312"):
        train_finder([[spacy.blank("xx")("nothing")]], [], lm, tmp_path, RECIPE)
    with pytest.raises(BergamotError, match="B014"):
        train_finder([gold(1)], [], lm, tmp_path, Recipe(precision="fp8"))
    assert not list(tmp_path.iterdir())


def test_tags_of_units(lm):
    tokenizer = open_tokenizer(lm, 1 << 31)
    nlp = spacy.blank("xx")
    doc = nlp("the common cold again")
    doc.set_ents([doc.char_span(4, 15, label="DISO")], missing=[doc[3:4]], default="outside")
    assert example_of(doc, tokenizer, ["DISO"]).tags.tolist() == [0, 1, 2, UNKNOWN]
    doc = nlp("心肌梗死、糖尿病")
    assert len(read_pieces(doc, tokenizer).firsts) == 3  # two words are a piece each


def test_names_of_other_languages_take_the_place_of_mentions(tmp_path):
    table = ConceptTable.open(write_concepts(tmp_path / "kb"))
    nlp = spacy.blank("xx")
    doc = nlp("no heart attack .")
    doc.set_ents([doc.char_span(3, 15, label="DISO", kb_id="C03")])
    swaps = Swaps(table, ["C03", "unknown"])
    draw = random.Random(0)
    texts = {swaps.swapped(nlp, doc, 1.0, draw).text for _ in range(100)}
    names = [name for by in CONCEPTS["C03"][1].values() for name in by]
    assert texts == {f"no {name} ." for name in names}
    for _ in range(20):
        made = swaps.swapped(nlp, doc, 1.0, draw)
        assert [(ent.text, ent.label_, ent.kb_id_) for ent in made.ents] == [
            (made.text[3:-2], "DISO", "C03")
        ]
    assert swaps.swapped(nlp, doc, 0.0, draw).text == doc.text


def test_a_document_in_another_language_keeps_it(tmp_path):
    table = ConceptTable.open(write_concepts(tmp_path / "kb"))
    nlp = spacy.blank("xx")
    language, names = next((k, v) for k, v in CONCEPTS["C03"][1].items() if k != "ENG")
    doc = nlp("no heart attack .")
    doc.set_ents([doc.char_span(3, 15, label="DISO", kb_id="unknown|C03")])
    doc.user_data["language"] = language
    swaps, draw = Swaps(table, ["unknown|C03"]), random.Random(0)
    texts = {swaps.swapped(nlp, doc, 1.0, draw).text for _ in range(50)}
    assert texts == {f"no {name} ." for name in names}


def test_mentions_side_by_side_that_share_a_token_then_are_one(tmp_path):
    write_names(tmp_path / "kb", {"C1": ["rash"], "C2": ["lump"]}, language="ENG")
    nlp = spacy.blank("xx")
    doc, spans = exact_spans(nlp("红肿硬结"), [Place(0, 2, "X", "C1"), Place(2, 4, "X", "C2")])
    doc.set_ents(spans)
    made = Swaps(ConceptTable.open(tmp_path / "kb"), ["C1", "C2"]).swapped(
        nlp, doc, 1.0, random.Random(0)
    )
    assert (made.text, [ent.text for ent in made.ents]) == ("rashlump", ["rashlump"])


def test_a_text_in_capitals_keeps_its_mentions():
    nlp = spacy.blank("xx")
    doc = nlp("No heart attack.")
    doc.set_ents([doc.char_span(3, 15, label="DISO")])
    texts = {recased(doc, random.Random(seed)).text for seed in range(9)}
    assert texts == {"NO HEART ATTACK.", "no heart attack."}
    made = recased(doc, random.Random(0))
    assert [ent.text.lower() for ent in made.ents] == ["heart attack"]


def test_silver_and_training_by_command(trained, lm, tmp_path):
    build_pipeline(lm=lm, concepts=write_concepts(tmp_path / "kb")).to_disk(tmp_path / "p")
    lines = [{"text": "Fieber, no cold", "language": "de"}, {"text": "the heart"}, {"text": " "}]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def run(*arguments: Any, status: int = 0) -> str:
        result = CliRunner().invoke(app, [*map(str, arguments)])
        if status and isinstance(result.exception, BergamotError):
            return str(result.exception)
        assert result.exit_code == status, result.output
        return result.output

    silver = tmp_path / "silver.spacy"
    command = ("silver", tmp_path / "p", tmp_path / "texts.jsonl", "--output", silver)
    output = run(*command)
    assert "1 mentions, 2 texts, 1 texts that are empty or unreadable" in output
    nlp = spacy.blank("xx")
    docs = list(DocBin().from_disk(silver).get_docs(nlp.vocab))
    assert [(ent.text, ent.label_) for ent in docs[0].ents] == [("Fieber", "DISO")]
    assert not docs[1].ents  # "heart" is a name, but of anatomy
    run(*command, "--finder", trained[0] / "finder")
    doc, *_ = DocBin().from_disk(silver).get_docs(nlp.vocab)
    assert {"Fieber", "cold"} <= {ent.text for ent in doc.ents}
    assert "T310" in run(*command, "--label", "PROC", status=1)
    without = spacy.blank("xx")
    without.add_pipe("sentencizer")
    without.to_disk(tmp_path / "without")
    command = ("silver", tmp_path / "without", tmp_path / "texts.jsonl", "--output", silver)
    assert "B047" in run(*command, status=1)

    DocBin(docs=gold()).to_disk(tmp_path / "gold.spacy")
    output = run(
        "finder", tmp_path / "gold.spacy", silver, "--output", tmp_path / "out", "--lm", lm,
        "--dev", silver, "--concepts", tmp_path / "kb", "--epochs", 1, "--batch-pieces", 256,
    )  # fmt: skip
    assert "strict_f" in output
    assert (tmp_path / "out/finder/manifest.json").is_file()
