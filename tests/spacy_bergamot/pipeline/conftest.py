"""A knowledge base for spaCy's own entity linker."""

import pytest

from spacy_bergamot.pipeline.entity_linker import empty_knowledge_base, knowledge_base
from spacy_bergamot.pipeline.loaders import alias_index, language_model


@pytest.fixture(scope="session")
def loader(concepts, lm):
    return knowledge_base(
        empty_knowledge_base(k=5),
        language_model(str(lm)),
        alias_index(str(concepts), engine="exact"),
    )
