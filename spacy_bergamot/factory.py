"""The factory `bergamot_linker` and its settings."""

import weakref
from collections.abc import Callable
from typing import Any

from spacy.language import Language

from spacy_bergamot.filters import CandidateFilter
from spacy_bergamot.languages import lat
from spacy_bergamot.linker import BergamotLinker
from spacy_bergamot.settings import NEVER_CLINICAL, LinkerSettings

MIXED_GENERATOR: dict[str, Any] = {
    "@misc": "spacy_bergamot.EnsembleGenerator.v1",
    "combine": "rescored",
    "agreement": 0.08,
    "stop_at_exact": True,
    "weights": {"lexical": 0.1, "dense": 0.9},
    "generators": {
        "exact": {"@misc": "spacy_bergamot.ExactGenerator.v1"},
        "lexical": {"@misc": "spacy_bergamot.LexicalGenerator.v1"},
        "dense": {"@misc": "spacy_bergamot.DenseGenerator.v1"},
    },
}
"""An alias that is the mention comes first; the others by 3-grams and language model together."""

DEFAULT_CONFIG: dict[str, Any] = {
    "k": 10,
    "threshold": None,
    "min_probability": None,
    "filter_for_definitions": False,
    "no_definition_threshold": 0.95,
    "max_entities_per_mention": 5,
    "spans_key": None,
    "labels_discard": list(NEVER_CLINICAL),
    "overwrite": True,
    "generator": {
        "@misc": "spacy_bergamot.EnsembleGenerator.v1",
        "generators": {
            "exact": {"@misc": "spacy_bergamot.ExactGenerator.v1"},
            "dense": {"@misc": "spacy_bergamot.DenseGenerator.v1"},
        },
    },
    "rerank": None,
    "resolve_abbreviations": True,
    "abbreviations": {},
    "semantic_types": [],
    "semantic_groups": [],
    "languages": [],
    "sources": [],
    "types_by_label": {},
    "concepts": [],
    "descendants_of": [],
    "ef_search": 100,
    "cache_size": 10_000,
    "device": "cpu",
    "precision": "fp32",
    "verify": True,
    "scorer": {"@scorers": "spacy_bergamot.linker_scorer.v1"},
}


@Language.factory(
    "bergamot_linker",
    assigns=["token.ent_kb_id", "span._.kb_ents", "span._.candidates", "doc._.bergamot"],
    default_config=DEFAULT_CONFIG,
    default_score_weights={
        "link_end_to_end_f": 1.0,
        "link_end_to_end_p": None,
        "link_end_to_end_r": None,
        "link_accuracy": None,
        "link_mrr": None,
        "nel_micro_f": None,
        "nel_micro_r": None,
        "nel_micro_p": None,
    },
)
def make_linker(
    nlp: Language,
    name: str,
    k: int,
    threshold: float | None,
    min_probability: float | None,
    filter_for_definitions: bool,
    no_definition_threshold: float,
    max_entities_per_mention: int,
    spans_key: str | None,
    labels_discard: list[str],
    overwrite: bool,
    generator: Any,
    rerank: Callable | None,
    resolve_abbreviations: bool,
    abbreviations: dict[str, str | dict[str, str]],
    semantic_types: list[str],
    semantic_groups: list[str],
    languages: list[str],
    sources: list[str],
    types_by_label: dict[str, list[str]],
    concepts: list[str],
    descendants_of: list[str],
    ef_search: int,
    cache_size: int,
    device: str,
    precision: str,
    verify: bool,
    scorer: Callable | None,
) -> BergamotLinker:
    """Make a linker; see `LinkerSettings`."""
    allowed = CandidateFilter(
        tuple(semantic_types),
        tuple(semantic_groups),
        tuple(map(lat, languages)),
        tuple(sources),
        types_by_label,
        tuple(concepts),
        tuple(descendants_of),
    )
    settings = LinkerSettings(
        k=k,
        threshold=threshold,
        min_probability=min_probability,
        filter_for_definitions=filter_for_definitions,
        no_definition_threshold=no_definition_threshold,
        max_entities_per_mention=max_entities_per_mention,
        spans_key=spans_key,
        labels_discard=frozenset(labels_discard),
        overwrite=overwrite,
        generator=generator,
        rerank=rerank,
        resolve_abbreviations=resolve_abbreviations,
        abbreviations=abbreviations,
        allowed=allowed,
        ef_search=ef_search,
        cache_size=cache_size,
        device=device,
        precision=precision,
        verify=verify,
        scorer=scorer,
    )
    linker = BergamotLinker(nlp.vocab, name, settings=settings)
    linker.home = weakref.ref(nlp)
    return linker
