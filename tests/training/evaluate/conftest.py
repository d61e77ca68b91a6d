"""The invented knowledge base, language model and pipeline of the package's tests."""

from tests.spacy_bergamot.conftest import concepts, lm, make_nlp

__all__ = ["concepts", "lm", "make_nlp"]
