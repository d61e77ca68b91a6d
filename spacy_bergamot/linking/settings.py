"""Settings of the linker."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.kb.entity_labels import never_clinical
from spacy_bergamot.linking.filters import CandidateFilter
from spacy_bergamot.linking.generators import (
    DenseGenerator,
    EnsembleGenerator,
    ExactGenerator,
    Generator,
)
from spacy_bergamot.linking.rerank import Reranker, TrainedReranker

NEVER_CLINICAL = never_clinical()
"""Labels of general NER pipelines that are left alone by default."""
_COSINE = (-1, 1, "between -1 and 1, as cosines are")
_RANGES: dict[str, tuple[float, float, str]] = {
    "threshold": _COSINE,
    "no_definition_threshold": _COSINE,
    "min_probability": (0, 1, "between 0 and 1, as probabilities are"),
    "k": (1, math.inf, "at least 1"),
    "ef_search": (1, math.inf, "at least 1"),
    "cache_size": (0, math.inf, "at least 0"),
    "max_entities_per_mention": (0, math.inf, "at least 0"),
}


def _exact_then_dense() -> EnsembleGenerator:
    return EnsembleGenerator({"exact": ExactGenerator(), "dense": DenseGenerator()})


@dataclass(frozen=True)
class LinkerSettings:
    """Settings of `bergamot_linker`; they live in the config alone.

    k (int): Candidates kept in `span._.candidates`.
    threshold (float | None): Smallest score of a link; below it a mention is NIL.
    min_probability (float | None): The same for the probability, of a linker that is calibrated.
    filter_for_definitions (bool): Link to a concept without a definition only if its score is at
        least `no_definition_threshold`.
    no_definition_threshold (float): See `filter_for_definitions`.
    max_entities_per_mention (int): Length of `span._.kb_ents`.
    spans_key (str | None): Link `doc.spans[spans_key]`; None links `doc.ents`.
    labels_discard (tuple[str, ...]): Entity labels that are left alone.
    overwrite (bool): Link entities that have a kb id already.
    generator: One generator, or an ensemble of them.
    rerank (Reranker | TrainedReranker | None): Stands between candidates and decision.
    resolve_abbreviations (bool): Look a short form up as the long form that the text defines.
    abbreviations (dict[str, str | dict[str, str]]): Long forms of short forms that texts do not
        define; under a language's code, those of its documents (`doc.user_data["language"]`, else
        `doc.lang_`).
    usual_abbreviations (bool): Look short forms such as "HTN" up as what clinical notes of the
        document's language mean by them: where neither the text nor `abbreviations` says another,
        and the knowledge base has no such name in that language.
    allowed (CandidateFilter): Applied before the top k.
    ef_search (int): Search effort of the index: higher finds more and takes longer.
    cache_size (int): Mentions remembered.
    device (str): Of the language model: "cpu", "auto", "cuda:0".
    precision (str): Of the language model: "fp32", "bf16", "fp16", or "auto": bf16 where the device
        multiplies in it.
    verify (bool): Compare checksums when loading. Sizes, and the links of nmslib's graph, are
        checked in any case; without checksums a changed byte elsewhere gives wrong candidates or
        ends the process, so leave them out only where something else vouches for the files.
    scorer (Callable | None): What `spacy evaluate` and `spacy train` score links with.

    RAISES (BergamotError): B037 for a number out of range.
    """

    k: int = 10
    threshold: float | None = None
    min_probability: float | None = None
    filter_for_definitions: bool = False
    no_definition_threshold: float = 0.95
    max_entities_per_mention: int = 5
    spans_key: str | None = None
    labels_discard: tuple[str, ...] = NEVER_CLINICAL
    overwrite: bool = True
    generator: Generator | EnsembleGenerator = field(default_factory=_exact_then_dense)
    rerank: Reranker | TrainedReranker | None = None
    resolve_abbreviations: bool = True
    abbreviations: Mapping[str, str | Mapping[str, str]] = field(default_factory=dict)
    usual_abbreviations: bool = True
    allowed: CandidateFilter = field(default_factory=CandidateFilter)
    ef_search: int = 100
    cache_size: int = 10_000
    device: str = "cpu"
    precision: str = "fp32"
    verify: bool = True
    scorer: Callable | None = None

    def __post_init__(self) -> None:
        for setting, (least, most, rule) in _RANGES.items():
            value = getattr(self, setting)
            if value is not None and not least <= value <= most:
                raise BergamotError(Errors.B037, setting=setting, value=value, rule=rule)

    @property
    def generation(self) -> str:
        """What candidates come from, in words."""
        return _plain(self.generator)

    @property
    def scoring(self) -> str:
        """What scores depend on, in words: a calibration holds for it alone."""
        return self.scored_by(self.rerank)

    def scored_by(self, reranker: Reranker | TrainedReranker | None) -> str:
        """The same with a reranker that has what it learned."""
        return f"{self.generation}, reranked by {_plain(reranker)}"


def _plain(value: object) -> str:
    """Return a repr without the place in memory that Python's own has."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
