"""From a training config to a language model on disk."""

import fcntl
import hashlib
import json
import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from catalogue import RegistryError
from confection import Config, ConfigValidationError

import training.bergamot.graph_encoders
import training.bergamot.objectives.dgi
import training.bergamot.objectives.intermodal
import training.bergamot.objectives.node
import training.bergamot.objectives.text
import training.bergamot.optimizers
import training.bergamot.text_encoders  # noqa: F401
from spacy_bergamot.files import atomic_file, sha256
from spacy_bergamot.text_encoder import EncoderSettings, resolve_device
from training.bergamot.batches import BatchMaker, BatchSettings
from training.bergamot.export import export_lm
from training.bergamot.graph_encoders import GraphEncoder
from training.bergamot.model import BergamotModel
from training.bergamot.objectives import Objective
from training.bergamot.token_store import TokenStore
from training.bergamot.trainer import Trainer, TrainerSettings
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

logger = logging.getLogger(__name__)


def read_config(path: Path, overrides: dict[str, Any]) -> Config:
    """Read a training config and check its sections.

    RAISES (BergamotError): T210 for an unreadable file, T211 for a wrong section.
    """
    try:
        config = Config().from_disk(path, overrides=overrides)
    except (OSError, ValueError) as reason:
        raise BergamotError(Errors.T210.format(path=path, reason=reason)) from None
    missing = [section for section in SECTIONS if section not in config]
    unknown = [section for section in config if section not in SECTIONS]
    wrong_paths = sorted(set(config.get("paths", {})) ^ {"training_set", "output"})
    wrong_system = sorted(set(config.get("system", {})) ^ {"seed"})
    if missing or unknown or wrong_paths or wrong_system:
        raise BergamotError(
            Errors.T211.format(
                path=path,
                missing=", ".join(missing) or "none",
                unknown=", ".join(unknown + wrong_paths + wrong_system) or "none",
            )
        )
    return config


def train(config: Config, *, device: str = "cpu") -> Path:
    """Train the language model that a config describes and export it.

    The folder paths.output gets `base/` (the LM at the start), `tokens/`, `checkpoints/`,
    `history.json`, and at the end `lm/`: a Hugging Face folder.

    RETURNS (Path): The exported LM folder.
    """
    device = resolve_device(device)
    output = Path(config["paths"]["output"])
    output.mkdir(parents=True, exist_ok=True)
    with sole_use(output):
        data = TrainingSet.open(Path(config["paths"]["training_set"]))
        parts = _resolve(config)
        seed = config["system"]["seed"]
        identity = config_id(config, data)
        base, settings = prepare_base(parts["text_encoder"], data, output, identity, seed=seed)
        torch.manual_seed(seed)
        trainer = _make_trainer(
            parts, data, base, settings, output=output, device=device, identity=identity, seed=seed
        )
        history = trainer.train()
        with atomic_file(output / "history.json") as path:
            path.write_text(json.dumps(history), encoding="utf8")
        export_lm(output / "lm", trainer.model.lm, base, settings)
    return output / "lm"


def config_id(config: Config, data: TrainingSet) -> str:
    """Return a hash of what decides the weights: the config but its paths and length, the data."""
    decisive = {name: section for name, section in config.items() if name != "paths"}
    free = {"checkpoint_every", "log_every"}
    decisive["training"] = {k: v for k, v in config["training"].items() if k not in free}
    decisive["batches"] = {k: v for k, v in config["batches"].items() if k != "workers"}
    decisive["data"] = sha256(data.path / "manifest.json")
    text = json.dumps(decisive, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def prepare_base(
    prepare: Any, data: TrainingSet, output: Path, identity: str, *, seed: int
) -> tuple[Path, EncoderSettings]:
    """Put the base LM at output/base, once a run; a run that is resumed finds it there."""
    base, stamp = output / "base", output / "base" / "run.json"
    if stamp.is_file():
        if json.loads(stamp.read_text(encoding="utf8"))["config"] != identity:
            raise BergamotError(Errors.T207.format(path=output))
        return base, EncoderSettings.read(base)
    shutil.rmtree(base, ignore_errors=True)
    base.mkdir()
    settings = prepare(base, data.names, seed)
    with atomic_file(stamp) as path:
        path.write_text(json.dumps({"config": identity}), encoding="utf8")
    return base, settings


def _resolve(config: Config) -> dict[str, Any]:
    try:
        parts = registry.resolve(
            {name: config[name] for name in SECTIONS if name not in ("paths", "system")}
        )
    except (ConfigValidationError, RegistryError) as error:
        raise BergamotError(Errors.T212.format(reason=error)) from None
    weights = [section.get("weight", 1) for section in config["objectives"].values()]
    if not any(weight > 0 for weight in weights) or any(weight < 0 for weight in weights):
        raise BergamotError(Errors.T213.format(weights=weights))
    return parts


def _make_trainer(
    parts: dict[str, Any],
    data: TrainingSet,
    base: Path,
    settings: EncoderSettings,
    *,
    output: Path,
    device: str,
    identity: str,
    seed: int,
) -> Trainer:
    from transformers import AutoModel

    lm = AutoModel.from_pretrained(base, local_files_only=True)
    training: TrainerSettings = parts["training"]
    model = make_model(lm, parts, n_relations=len(data.relation_labels), pooling=settings.pooling)
    model.detach_neighbours = training.detach_neighbours
    tokens = TokenStore.open_or_build(
        output / "tokens",
        data.names,
        lm=base,
        settings=settings,
        names_id=sha256(data.path / "manifest.json"),
    )
    batch_settings: BatchSettings = parts["batches"]
    batches = BatchMaker(
        data,
        tokens,
        batch_settings,
        seed=seed,
        graph=model.graph_encoder is not None,
        pad=lm.config.pad_token_id or 0,
    )
    model = model.to(device)
    return Trainer(
        model,
        parts["optimizer"](model),
        batches,
        training,
        checkpoints=output / "checkpoints",
        device=device,
        config_id=identity,
    )


def make_model(lm: Any, parts: dict[str, Any], *, n_relations: int, pooling: str) -> BergamotModel:
    """Build the model from resolved config parts; what no objective needs is left out."""
    dim = lm.config.hidden_size
    made = {name: make(dim) for name, make in parts["objectives"].items()}
    objectives: dict[str, Objective] = {n: o for n, o in made.items() if o.weight > 0}
    graph_encoder: GraphEncoder | None = None
    if any(objective.needs_graph for objective in objectives.values()):
        graph_encoder = parts["graph_encoder"](dim, n_relations)
    return BergamotModel(lm, graph_encoder, objectives, pooling=pooling)


@contextmanager
def sole_use(folder: Path) -> Iterator[None]:
    """Hold a lock on a folder. RAISES (BergamotError): T214 if another run holds it."""
    with (folder / ".lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BergamotError(Errors.T214.format(path=folder)) from None
        yield
