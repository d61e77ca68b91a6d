"""Pipelines that mark mentions by a dictionary."""

from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from spacy.language import Language

from spacy_bergamot.pipeline.loaders import concept_table
from tests.spacy_bergamot.conftest import CONCEPTS, write_concepts


@pytest.fixture(scope="module")
def matcher(concepts: Path) -> Callable[..., Language]:
    """Make a pipeline of a dictionary of the invented knowledge base, with given settings."""

    def make(lang: str = "xx", **config: object) -> Language:
        nlp = spacy.blank(lang)
        pipe = nlp.add_pipe("bergamot_mentions", config=config)
        pipe.initialize(lambda: [], nlp=nlp, concepts=concept_table(str(concepts)))
        return nlp

    return make


@pytest.fixture
def dictionary(tmp_path: Path) -> Callable[..., Language]:
    """Make a pipeline of names by concept id, {language: [name, ...]} each, and of some more."""

    def make(
        names: dict[str, dict[str, list[str]]], lang: str = "xx", **config: object
    ) -> Language:
        known = {key: ("T047", {"ENG": [f"{key} x"], **by}) for key, by in names.items()}
        known |= {key: CONCEPTS[key] for key in ("C01", "C03", "C06")}
        path = write_concepts(tmp_path / "own", known)
        nlp = spacy.blank(lang)
        pipe = nlp.add_pipe("bergamot_mentions", config=config)
        pipe.initialize(lambda: [], nlp=nlp, concepts=concept_table(str(path)))
        return nlp

    return make
