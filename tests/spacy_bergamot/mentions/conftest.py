"""Pipelines that mark mentions by a dictionary."""

from collections.abc import Callable
from pathlib import Path

import pytest
from spacy.language import Language

from tests.spacy_bergamot.conftest import CONCEPTS, write_concepts
from tests.spacy_bergamot.factories import matcher_of


@pytest.fixture(scope="module")
def matcher(concepts: Path) -> Callable[..., Language]:
    """Make a pipeline of a dictionary of the invented knowledge base, with given settings."""

    def make(lang: str = "xx", **config: object) -> Language:
        return matcher_of(concepts, lang, **config)

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
        return matcher_of(path, lang, **config)

    return make
