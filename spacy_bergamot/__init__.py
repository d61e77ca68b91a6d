"""Multilingual biomedical concept linking for spaCy with a BERGAMOT language model.

What is named in `__all__` is public; modules may move. Names are imported when they are first used,
so that whoever needs a concept table alone does not wait for spaCy or torch.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

try:
    import pyarrow as _  # noqa: F401
except ImportError as reason:
    # pyarrow 26 needs numpy 2 and does not say so where pip could read it.
    remedy = 'Beside numpy 1, as scispaCy wants it: pip install "pyarrow<26"'
    raise ImportError(f"spacy_bergamot cannot import pyarrow: {reason}. {remedy}") from reason

if TYPE_CHECKING:
    from spacy_bergamot.annotate.batches import AnnotateBatches
    from spacy_bergamot.encoder.text_encoder import TextEncoder
    from spacy_bergamot.errors import BergamotError
    from spacy_bergamot.finder.component import BergamotFinder
    from spacy_bergamot.index.alias_index import AliasIndex
    from spacy_bergamot.index.knowledge_base import KnowledgeBase
    from spacy_bergamot.kb.concept_table import ConceptTable
    from spacy_bergamot.linking.candidates import Candidate
    from spacy_bergamot.linking.filters import CandidateFilter
    from spacy_bergamot.linking.settings import LinkerSettings
    from spacy_bergamot.mentions.component import BergamotMentions
    from spacy_bergamot.output.exporters import to_displacy
    from spacy_bergamot.pipeline.build import build_pipeline
    from spacy_bergamot.pipeline.linker import BergamotLinker

__all__ = [
    "AliasIndex", "AnnotateBatches", "BergamotError", "BergamotFinder", "BergamotLinker",
    "BergamotMentions", "Candidate", "CandidateFilter", "ConceptTable", "KnowledgeBase",
    "LinkerSettings", "TextEncoder", "build_pipeline", "to_displacy",
]  # fmt: skip

_MODULES = {
    "AliasIndex": "index.alias_index",
    "AnnotateBatches": "annotate.batches",
    "BergamotError": "errors",
    "BergamotFinder": "finder.component",
    "BergamotLinker": "pipeline.linker",
    "BergamotMentions": "mentions.component",
    "Candidate": "linking.candidates",
    "CandidateFilter": "linking.filters",
    "ConceptTable": "kb.concept_table",
    "KnowledgeBase": "index.knowledge_base",
    "LinkerSettings": "linking.settings",
    "TextEncoder": "encoder.text_encoder",
    "build_pipeline": "pipeline.build",
    "to_displacy": "output.exporters",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
