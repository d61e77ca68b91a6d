"""A knowledge base in hand, and one that was changed."""

import pytest

from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.pipeline.linker import BergamotLinker
from tests.spacy_bergamot.factories import NEW, add, remove


@pytest.fixture(scope="module")
def kb(index: AliasIndex) -> KnowledgeBase:
    return KnowledgeBase(index)


@pytest.fixture
def linker(make_nlp) -> BergamotLinker:
    return make_nlp(mentions=False).get_pipe("bergamot_linker")


@pytest.fixture
def changed(linker: BergamotLinker) -> KnowledgeBase:
    linker.update_index(
        [add("X1", "Cold", **NEW), add("C03", "widowmaker", language="GER"), remove("C04", "cold"),
         remove("C07"), add("C08", "INSULIN")]
    )  # fmt: skip
    return linker.kb
