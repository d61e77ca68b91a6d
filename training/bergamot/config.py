"""A training config: read, checked, made into parts, and told apart from others."""

import hashlib
import json
from pathlib import Path
from typing import Any

from catalogue import RegistryError
from confection import Config, ConfigValidationError

import training.bergamot.adapters
import training.bergamot.draws.graded
import training.bergamot.draws.groups
import training.bergamot.draws.pairs
import training.bergamot.draws.triples
import training.bergamot.graph_encoders
import training.bergamot.loggers
import training.bergamot.multilingual
import training.bergamot.objectives.dgi
import training.bergamot.objectives.graded
import training.bergamot.objectives.intermodal
import training.bergamot.objectives.node
import training.bergamot.objectives.relation
import training.bergamot.objectives.text
import training.bergamot.optimizers
import training.bergamot.text_encoders
import training.bergamot.trainer_settings
import training.bergamot.validation  # noqa: F401
from spacy_bergamot.storage.files import sha256
from training.configs import check_names, load_config
from training.errors import BergamotError, Errors
from training.preprocess.training_set import TrainingSet
from training.registry import registry

SECTIONS = (
    "paths",
    "system",
    "text_encoder",
    "graph_encoder",
    "objectives",
    "batches",
    "optimizer",
    "training",
)
OPTIONAL = ("adapter", "loggers", "validation")


def read_config(path: Path, overrides: dict[str, Any]) -> Config:
    """Read a training config and check its sections.

    path (Path): The config.
    overrides (dict[str, Any]): Values by "section.key".
    RAISES (BergamotError): T210 for an unreadable file, T211 for a wrong section.
    """
    config = load_config(path, overrides)
    missing = set(SECTIONS) - set(config)
    unknown = set(config) - {*SECTIONS, *OPTIONAL}
    unknown |= set(config.get("paths", {})) ^ {"training_set", "output"}
    unknown |= set(config.get("system", {})) ^ {"seed"}
    example = "configs/train/bergamot_gat.cfg"
    check_names(path, missing=missing, unknown=unknown, example=example)
    return config


def config_id(config: Config, data: TrainingSet) -> str:
    """Return a hash of what decides the weights: the config but its paths and length, the data.

    config (Config): Training config.
    data (TrainingSet): What is trained on.
    """
    aside = {"paths", "loggers", "validation"}
    decisive = {name: section for name, section in config.items() if name not in aside}
    free = {"checkpoint_every", "log_every", "explosion"}
    decisive["training"] = {k: v for k, v in config["training"].items() if k not in free}
    decisive["batches"] = {k: v for k, v in config["batches"].items() if k != "workers"}
    decisive["data"] = sha256(data.path / "manifest.json")
    text = json.dumps(decisive, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def resolve(config: Config) -> dict[str, Any]:
    """Return what the sections of a config name, by section, without [paths] and [system].

    config (Config): Training config.
    RAISES (BergamotError): T212 for a name or setting that nothing has, T213 for the weights of
        objectives.
    """
    try:
        parts = registry.resolve(
            {name: part for name, part in config.items() if name not in ("paths", "system")}
        )
    except (ConfigValidationError, RegistryError) as error:
        raise BergamotError(Errors.T212, reason=error) from None
    weights = [section.get("weight", 1) for section in config["objectives"].values()]
    if not any(weight > 0 for weight in weights) or any(weight < 0 for weight in weights):
        raise BergamotError(Errors.T213, weights=weights)
    return parts
