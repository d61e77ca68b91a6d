"""Variants of a training config: objectives left out, graph encoders exchanged."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from confection import Config

from training.errors import BergamotError, Errors, check_choice

FULL, BEFORE = "all", "before"
"""The config as it stands, and the language model before training."""

_GRAPH_ENCODERS: dict[str, dict[str, Any]] = {
    "gatv2": {"@graph_encoders": "gatv2.v1", "heads": 2, "edge_features": "none"},
    "graphsage": {"@graph_encoders": "graphsage.v1"},
    "rgcn": {"@graph_encoders": "rgcn.v1", "decomposition": "bases", "size": 8},
}


def _without(*objectives: str) -> Callable[[Config], None]:
    def change(config: Config) -> None:
        for name in objectives:
            config["objectives"].pop(name, None)

    return change


def _text_only(config: Config) -> None:
    config["objectives"] = {"text": config["objectives"]["text"]}


def _graph_encoder(name: str) -> Callable[[Config], None]:
    def change(config: Config) -> None:
        kept = {key: config["graph_encoder"][key] for key in ("layers", "dropout")}
        config["graph_encoder"] = {**_GRAPH_ENCODERS[name], **kept}

    return change


VARIANTS: dict[str, Callable[[Config], None]] = {
    FULL: _without(),
    "text only": _text_only,
    "without text": _without("text"),
    "without node": _without("node"),
    "without intermodal": _without("intermodal"),
    "without dgi": _without("dgi"),
    **{name: _graph_encoder(name) for name in _GRAPH_ENCODERS},
}


def variant(config: Config, name: str) -> Config:
    """Return a copy of a config as a variant. RAISES (BergamotError): B014 for an unknown name."""
    check_choice("variant", name, VARIANTS)
    changed = config.copy()
    VARIANTS[name](changed)
    return changed


def chosen(
    config: Config, names: Sequence[str], training_sets: Mapping[str, Path]
) -> dict[str, Config]:
    """Return the variants to train, the config itself first; one that equals another is left out.

    names (Sequence[str]): All where empty, but for other training sets.
    training_sets (Mapping[str, Path]): The config with other training sets, by the name to give.
    RAISES (BergamotError): B014 for an unknown variant, T173 for a training set with a variant's
        name.
    """
    wanted = names or ([] if training_sets else list(VARIANTS))
    made = {name: variant(config, name) for name in dict.fromkeys([FULL, *wanted])}
    for name, path in training_sets.items():
        if name in VARIANTS or name == BEFORE:
            raise BergamotError(Errors.T173, name=name, path=path)
        made[name] = config.copy()
        made[name]["paths"]["training_set"] = str(path)
    kept: dict[str, Config] = {}
    for name, other in made.items():
        if other not in kept.values():
            kept[name] = other
    return kept
