"""The invented knowledge base and language model of the package's tests."""

from tests.spacy_bergamot.conftest import concepts, lm

__all__ = ["concepts", "lm"]
