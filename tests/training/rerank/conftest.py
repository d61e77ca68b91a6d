"""A knowledge base of homonyms that their definitions tell apart, and documents that mean them."""

from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb.schemas import tables_of
from spacy_bergamot.pipeline.loaders import alias_index, language_model
from tests.spacy_bergamot.conftest import write_lm

NAMES = [
    "cold", "depression", "discharge", "culture", "tic", "stroke", "growth", "crisis",
    "labour", "mole", "shock", "cast", "tear", "wound", "strain", "plaque",
    "shunt", "relapse", "lesion", "spasm", "crown", "graft", "drain", "seizure",
]  # fmt: skip
SENSES = {"A": "nurse ward hospital", "B": "river winter mountain"}
CONCEPTS = {
    f"{sense}{number:02}": (name, f"A {name} of {words}.")
    for sense, words in SENSES.items()
    for number, name in enumerate(NAMES)
}


def write_homonyms(path: Path) -> Path:
    ids = sorted(CONCEPTS)
    names = [CONCEPTS[one][0] for one in ids]
    rows = {
        "concepts": [(one, CONCEPTS[one][0], CONCEPTS[one][1]) for one in ids],
        "aliases": [(row, name, "ENG", "SRC", "PT") for row, name in enumerate(names)],
        "types": [(row, "T047", "DISO") for row in range(len(ids))],
    }
    ConceptTable.write(path, tables_of(rows), release=[{"source": "SRC", "version": "1"}])
    return path


def document(nlp: Language, number: int, sense: str) -> Doc:
    """Return a document with one homonym, and a word of what it means in its context."""
    at = number % len(NAMES)
    word = SENSES[sense].split()[number % 3]
    doc = nlp.make_doc(f"Seen by the {word} : {NAMES[at]} , number {number} .")
    doc.user_data |= {"document": f"d{number}{sense}", "language": "ENG"}
    span = doc.char_span(doc.text.index(" : ") + 3, doc.text.index(" , "), label="DISO")
    span.kb_id_ = f"{sense}{at:02}"
    doc.set_ents([span])
    doc.ents[0].kb_id_ = span.kb_id_
    return doc


def documents(nlp: Language, numbers: range) -> list[Doc]:
    return [document(nlp, number, sense) for number in numbers for sense in SENSES]


@pytest.fixture(scope="session")
def make_pipeline(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Write a pipeline that links exactly and by 3-grams."""
    folder = tmp_path_factory.mktemp("homonyms")
    lm, concepts = write_lm(folder / "lm"), write_homonyms(folder / "kb")

    def make(path: Path, **settings: object) -> Path:
        nlp = spacy.blank("en")
        generators = {
            name.lower(): {"@misc": f"spacy_bergamot.{name}Generator.v1"}
            for name in ("Exact", "Lexical", "Dense")
        }
        mixed = {"@misc": "spacy_bergamot.EnsembleGenerator.v1", "combine": "rescored"}
        config = {"generator": {**mixed, "generators": generators}, "k": 4, **settings}
        nlp.add_pipe("bergamot_linker", config=config).initialize(
            lambda: [],
            nlp=nlp,
            encoder=language_model(str(lm)),
            index=alias_index(str(concepts), engine="exact"),
        )
        nlp.to_disk(path)
        return path

    return make


@pytest.fixture(scope="session")
def pipeline(make_pipeline: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_pipeline(tmp_path_factory.mktemp("pipeline") / "plain")


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents to learn from."""
    nlp = spacy.blank("en")
    path = tmp_path_factory.mktemp("corpus") / "train.spacy"
    DocBin(docs=documents(nlp, range(96)), store_user_data=True).to_disk(path)
    return path
