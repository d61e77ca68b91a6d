"""The knowledge base that documents are linked to."""

import pytest
from spacy.language import Language

from spacy_bergamot.index.knowledge_base import KnowledgeBase


@pytest.fixture
def kb(nlp: Language) -> KnowledgeBase:
    return nlp.get_pipe("bergamot_linker").kb
