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


def write_homonyms(path: Path, said: dict[str, str] = SENSES) -> Path:
    """Write the concepts; said: words of their definitions, by sense."""
    concepts = {
        f"{sense}{number:02}": (name, f"A {name} of {words}.")
        for sense, words in said.items()
        for number, name in enumerate(NAMES)
    }
    ids = sorted(concepts)
    names = [concepts[one][0] for one in ids]
    rows = {
        "concepts": [(one, *concepts[one]) for one in ids],
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


def links(nlp: Language, numbers: range = range(200, 248)) -> list[tuple[str, list]]:
    """Return the gold concept of every new document, and its candidates with scores."""
    docs = documents(nlp, numbers)
    golds = [doc.ents[0].kb_id_ for doc in docs]
    for doc in docs:
        for token in doc:
            token.ent_kb_id_ = ""
    linked = nlp.get_pipe("bergamot_linker").pipe(docs)
    found = [[(c["concept_id"], c["score"]) for c in doc.ents[0]._.candidates] for doc in linked]
    return list(zip(golds, found, strict=True))


def accuracy(found: list[tuple[str, list]]) -> float:
    return sum(candidates[0][0] == gold for gold, candidates in found) / len(found)


def write_pipeline(path: Path, lm: Path, concepts: Path, **settings: object) -> Path:
    """Write a pipeline that links exactly, by 3-grams and by a language model."""
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


@pytest.fixture(scope="session")
def make_pipeline(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Write a pipeline that knows the homonyms."""
    folder = tmp_path_factory.mktemp("homonyms")
    lm, concepts = write_lm(folder / "lm"), write_homonyms(folder / "kb")
    return lambda path, **settings: write_pipeline(path, lm, concepts, **settings)


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
