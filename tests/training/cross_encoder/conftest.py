"""Homonyms whose definitions share no word with the documents that mean them: a mix cannot tell
them apart, and a tiny language model must learn which words go together."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_bergamot.pipeline.linker import BergamotLinker
from spacy_bergamot.pipeline.pipelines import linker_of, load_pipeline
from tests.spacy_bergamot.conftest import write_lm
from tests.training.rerank.conftest import NAMES, SENSES, documents, write_homonyms, write_pipeline
from training.cross_encoder.recipe import Recipe
from training.cross_encoder.train import train_cross_encoder
from training.rerank.ask import ask, read_documents
from training.rerank.candidates import Asked

SAID = {"A": "medicine", "B": "weather"}
WORDS = [*NAMES, *" ".join([*SENSES.values(), *SAID.values()]).split(), "T047", "by", "the", "of"]
RECIPE = Recipe(
    epochs=5, size=40, context=15, learn_rate=2e-3, warm_up=20, batch_mentions=16, margin=2.0
)


class Learned(NamedTuple):
    """Where a cross-encoder is, and what training returned."""

    folder: Path
    report: dict[str, Any]


@pytest.fixture(scope="session")
def words_lm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A language model that has a token for every word of the documents."""
    return write_lm(
        tmp_path_factory.mktemp("lm") / "lm",
        words=WORDS,
        initializer_range=0.5,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )


@pytest.fixture(scope="session")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Concept table of the homonyms."""
    return write_homonyms(tmp_path_factory.mktemp("kb") / "kb", SAID)


@pytest.fixture(scope="session")
def doubtful(words_lm: Path, knowledge: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline of the homonyms."""
    return write_pipeline(tmp_path_factory.mktemp("doubtful") / "pipeline", words_lm, knowledge)


@pytest.fixture(scope="session")
def linker(doubtful: Path) -> BergamotLinker:
    return linker_of(load_pipeline(str(doubtful)))[0]


@pytest.fixture(scope="session")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents to learn from."""
    path = tmp_path_factory.mktemp("gold") / "gold.spacy"
    docs = documents(spacy.blank("en"), range(288))
    DocBin(docs=docs, store_user_data=True).to_disk(path)
    return path


@pytest.fixture(scope="session")
def asked(linker: BergamotLinker, gold: Path) -> list[Asked]:
    """Candidates of the documents, then of the same with concepts hidden."""
    corpus = read_documents(gold)
    return [ask(linker, corpus, k=4), ask(linker, corpus, k=4, remove=0.2)]


@pytest.fixture(scope="session")
def learned(
    linker: BergamotLinker,
    asked: list[Asked],
    words_lm: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Learned:
    output = tmp_path_factory.mktemp("learned")
    report = train_cross_encoder(linker, asked[:1], words_lm, output, RECIPE)
    return Learned(output / "cross-encoder", report)
