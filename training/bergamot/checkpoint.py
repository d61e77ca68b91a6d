"""Checkpoints of everything: weights, optimiser, scaler, step. No pickle.

Batches and random numbers follow from the seed and the step, so the step stands for them. What was
logged until then is in it too, since it decides when a run stops.

A checkpoint is a folder `step-00000100` with safetensors and a manifest, renamed into place when
it is whole; the newest whole one counts.
"""

import json
import logging
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from spacy_bergamot.storage.files import atomic_folder
from spacy_bergamot.storage.manifest import read_manifest, write_manifest
from training.errors import BergamotError, Errors

KIND = "training-checkpoint"
VERSION = 3
HISTORY = "history.json"
RATE = "pairs_per_s"
_FIELDS = {"step": int, "config": str, "scaler": dict}

logger = logging.getLogger(__name__)


def save_checkpoint(
    root: Path,
    *,
    step: int,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scaler: Any,
    config_id: str,
    history: Sequence[Mapping[str, float]] = (),
    keep: int = 2,
) -> Path:
    """Write the checkpoint of `step` under `root` and delete all but the newest `keep`."""
    path = root / f"step-{step:08d}"
    with atomic_folder(path) as folder:
        save_file(_own_copies(_trained_state(model)), folder / "model.safetensors")
        save_file(_optimizer_tensors(model, optimizer), folder / "optimizer.safetensors")
        # Rates are not the same in every run; a checkpoint is.
        entries = [{k: v for k, v in entry.items() if k != RATE} for entry in history]
        (folder / HISTORY).write_text(json.dumps(entries, indent=0), encoding="utf8")
        write_manifest(
            folder,
            kind=KIND,
            version=VERSION,
            step=step,
            config=config_id,
            scaler=scaler.state_dict(),
        )
    for old in sorted(root.glob("step-*"))[:-keep]:
        shutil.rmtree(old, ignore_errors=True)
    return path


def newest_checkpoint(root: Path) -> Path | None:
    """Return the newest checkpoint whose files are whole; a broken one is skipped and named."""
    for path in sorted(root.glob("step-*"), reverse=True):
        try:
            read_manifest(path, kind=KIND, version=VERSION, fields=_FIELDS)
        except BergamotError as reason:
            logger.warning("Skipping a broken checkpoint: %s", reason)
            continue
        return path
    return None


def load_checkpoint(
    path: Path,
    *,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scaler: Any,
    config_id: str,
) -> tuple[int, list[dict[str, float]]]:
    """Restore everything from a checkpoint; return its step and what was logged until then.

    RAISES (BergamotError): T207 if it was made under another config.
    """
    manifest = read_manifest(path, kind=KIND, version=VERSION, fields=_FIELDS)
    if manifest["config"] != config_id:
        raise BergamotError(Errors.T207, path=path)
    model.load_state_dict(model.state_dict() | load_file(path / "model.safetensors"))
    _restore_optimizer(model, optimizer, load_file(path / "optimizer.safetensors"))
    scaler.load_state_dict(manifest["scaler"])
    history = json.loads((path / HISTORY).read_text(encoding="utf8"))
    return int(manifest["step"]), history


def with_rates(entries: list[dict[str, float]], path: Path) -> list[dict[str, float]]:
    """Return a checkpoint's entries with the rates that the history beside it has of them."""
    try:
        logged = json.loads(path.read_text(encoding="utf8"))
        rates = {entry["step"]: float(entry[RATE]) for entry in logged if RATE in entry}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as reason:
        logger.warning("The rates of before are lost: %s: %r", path, reason)
        return entries
    return [
        {**entry, RATE: rates[entry["step"]]}
        if "total" in entry and entry["step"] in rates
        else entry
        for entry in entries
    ]


def _trained_state(model: nn.Module) -> dict[str, Tensor]:
    """Return weights and buffers but frozen weights, which stay as the base has them."""
    frozen = {name for name, part in model.named_parameters() if not part.requires_grad}
    return {name: value for name, value in model.state_dict().items() if name not in frozen}


def _own_copies(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Give tied weights memory of their own, which safetensors asks for."""
    return {name: tensor.detach().cpu().clone() for name, tensor in tensors.items()}


def _names(model: nn.Module) -> dict[int, str]:
    return {id(parameter): name for name, parameter in model.named_parameters()}


def _optimizer_tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    names = _names(model)
    tensors = {
        f"{names[id(parameter)]}/{key}": torch.as_tensor(value)
        for parameter, state in optimizer.state.items()
        for key, value in state.items()
    }
    return _own_copies(tensors)


def _restore_optimizer(
    model: nn.Module, optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]
) -> None:
    """Put every moment back at its parameter.

    Fused AdamW keeps its step counts on the device, SparseAdam as integers.
    """
    states: dict[str, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        name, _, field = key.rpartition("/")
        states.setdefault(name, {})[field] = tensor
    for name, parameter in model.named_parameters():
        if name in states:
            optimizer.state[parameter] = {
                field: tensor.to(parameter.device) if tensor.is_floating_point() else int(tensor)
                for field, tensor in states[name].items()
            }
