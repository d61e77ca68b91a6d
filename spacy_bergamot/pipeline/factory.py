"""The factory `bergamot_linker`: its settings are those of `LinkerSettings`, and nowhere else."""

import inspect
import typing
import weakref
from dataclasses import MISSING, Field, fields
from typing import Any

from spacy.language import Language

from spacy_bergamot.languages import lat
from spacy_bergamot.linking.filters import CandidateFilter
from spacy_bergamot.linking.settings import LinkerSettings
from spacy_bergamot.pipeline.linker import BergamotLinker

_EXACT: dict[str, Any] = {"@misc": "spacy_bergamot.ExactGenerator.v1"}
_FOLDED: dict[str, Any] = {"@misc": "spacy_bergamot.FoldedGenerator.v1"}
_LEXICAL: dict[str, Any] = {"@misc": "spacy_bergamot.LexicalGenerator.v1"}
_DENSE: dict[str, Any] = {"@misc": "spacy_bergamot.DenseGenerator.v1"}

MIXED_GENERATOR: dict[str, Any] = {
    "@misc": "spacy_bergamot.EnsembleGenerator.v1",
    "combine": "rescored",
    "agreement": 0.08,
    "stop_at_exact": True,
    "weights": {"lexical": 0.1, "dense": 0.9},
    "generators": {"exact": _EXACT, "folded": _FOLDED, "lexical": _LEXICAL, "dense": _DENSE},
}
"""An alias that is the mention comes first, then one that is so but for its ending; the others by
3-grams and language model together."""

_MADE: dict[str, Any] = {
    "generator": {
        "@misc": "spacy_bergamot.EnsembleGenerator.v1",
        "generators": {"exact": _EXACT, "dense": _DENSE},
    },
    "scorer": {"@scorers": "spacy_bergamot.linker_scorer.v1"},
}
"""Defaults that a config says by the registered functions that make them."""

_FILTER = [field.name for field in fields(CandidateFilter)]
_FIELDS = [f for f in fields(LinkerSettings) if f.name != "allowed"] + [*fields(CandidateFilter)]


def _default(field: Field) -> Any:
    """Return a setting's default as a config writes it."""
    if field.name in _MADE:
        return _MADE[field.name]
    value = field.default if field.default_factory is MISSING else field.default_factory()
    return list(value) if isinstance(value, tuple) else value


def _signature() -> inspect.Signature:
    """Return the settings as arguments, by which spaCy checks the names and types of a config."""
    types = typing.get_type_hints(LinkerSettings) | typing.get_type_hints(CandidateFilter)
    types |= dict.fromkeys([*_MADE, "rerank"], Any)
    types |= {name: list[str] for name, value in DEFAULT_CONFIG.items() if isinstance(value, list)}
    either, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    return inspect.Signature(
        [inspect.Parameter(name, either) for name in ("nlp", "name")]
        + [inspect.Parameter(f.name, keyword, annotation=types[f.name]) for f in _FIELDS]
    )


def make_linker(nlp: Language, name: str, **settings: Any) -> BergamotLinker:
    """Make a linker.

    nlp (Language): The pipeline.
    name (str): Of the component.
    settings: See `LinkerSettings`; what it has as `allowed` stands beside the others here.
    """
    allowed = {key: _frozen(settings.pop(key)) for key in _FILTER}
    allowed["languages"] = tuple(map(lat, allowed["languages"]))
    settings["labels_discard"] = tuple(settings["labels_discard"])
    linker = BergamotLinker(
        nlp.vocab, name, settings=LinkerSettings(allowed=CandidateFilter(**allowed), **settings)
    )
    linker.home = weakref.ref(nlp)
    return linker


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


DEFAULT_CONFIG: dict[str, Any] = {field.name: _default(field) for field in _FIELDS}
make_linker.__signature__ = _signature()  # type: ignore[attr-defined]

Language.factory(
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
    func=make_linker,
)
