"""Trains OntoEA on two concept tables; an interrupted run goes on behind its last iteration."""

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from tqdm import tqdm

from spacy_bergamot.storage.files import atomic_folder
from spacy_bergamot.storage.manifest import read_manifest, write_manifest
from training.align.ontoea.graphs import Graphs
from training.align.ontoea.measure import figures, ranks
from training.align.ontoea.model import OntoEA
from training.align.ontoea.schedule import Schedule, Settings
from training.errors import BergamotError, Errors

KIND, VERSION = "ontoea-checkpoint", 1
_FIELDS = {"run": str, "iteration": int, "history": list}
_STATE = "state.safetensors"
_FROM_EPOCH = 50  # of triples, from which on it is validated
_PATIENCE = 2  # validations without a rise, after which it stops
_BETA = 0.5  # the weight of entities beside that of their classes in a similarity
_SEED = 0

logger = logging.getLogger(__name__)


class Trained(NamedTuple):
    """What was learned, at the best validation.

    left, right (float32 (n, d)): Vectors of the rows of either side; products are similarities.
    history (list[dict]): Iteration and figures of each validation.
    """

    left: np.ndarray
    right: np.ndarray
    history: list[dict[str, float]]


def train(
    graphs: Graphs,
    seeds: np.ndarray,
    valid: np.ndarray,
    start: np.ndarray,
    folder: Path,
    *,
    settings: Settings | None = None,
    device: str = "cpu",
    progress: bool = False,
) -> Trained:
    """Train until Hits@1 of a validation has not risen twice running.

    seeds, valid (int64 (n, 2)): Left and right rows that are the same, to learn from and to stop
        by.
    start (float32 (entities, d)): What entities begin with, such as vectors of their names.
    folder (Path): Of the checkpoint. It stays; of a run that has ended it is what is returned.
    RAISES (BergamotError): B040 if the folder's checkpoint is of another run, B243 if it is not
        whole.
    """
    settings = settings or Settings()
    torch.manual_seed(_SEED)
    model = OntoEA(graphs, graphs.entities(seeds), torch.from_numpy(start)).to(device)
    schedule = Schedule(model, graphs, graphs.entities(seeds), settings)
    run = _run_id(graphs, (seeds, valid, start), settings)
    done, history, best = _restored(folder, schedule, run)
    numbers = range(done, settings.iterations)
    with tqdm(numbers, initial=done, total=settings.iterations, unit=" iterations",
              desc="OntoEA", disable=not progress) as bar:  # fmt: skip
        for iteration in bar:
            if _is_over(history):
                break
            losses = schedule.run(iteration)
            bar.set_postfix({name: f"{loss:.1f}" for name, loss in losses.items()})
            count = iteration + 1
            often = count * settings.epochs["E"] >= _FROM_EPOCH
            due = often and count % settings.validate_every == 0
            if due or count == settings.iterations:
                vectors = model.vectors(_BETA)
                found = figures(ranks(*vectors, valid, csls=False))
                if not history or found["hits@1"] > max(one["hits@1"] for one in history):
                    left, right = map(torch.from_numpy, vectors)
                    best = {"left": left, "right": right}
                history.append({"iteration": count, **found})
                logger.info("Iteration %d: %s", count, found)
            _save(folder, schedule, best, run=run, iteration=count, history=history)
    return Trained(best["left"].numpy(), best["right"].numpy(), history)


def _is_over(history: Sequence[dict[str, float]]) -> bool:
    hits = [one["hits@1"] for one in history]
    return len(hits) > _PATIENCE and all(
        later <= before
        for before, later in zip(hits[-_PATIENCE - 1 :], hits[-_PATIENCE:], strict=False)
    )


def _save(folder: Path, schedule: Schedule, best: dict[str, Tensor], **facts: object) -> None:
    own = {name: value.detach().cpu() for name, value in schedule.state().items()}
    with atomic_folder(folder) as temporary:
        save_file({**own, **{f"best/{name}": of for name, of in best.items()}}, temporary / _STATE)
        write_manifest(temporary, kind=KIND, version=VERSION, **facts)


def _restored(
    folder: Path, schedule: Schedule, run: str
) -> tuple[int, list[dict[str, float]], dict[str, Tensor]]:
    """Return iterations done, their validations and the best vectors of an interrupted run."""
    if not folder.exists():
        return 0, [], {}
    try:
        manifest = read_manifest(folder, kind=KIND, version=VERSION, fields=_FIELDS)
    except BergamotError as reason:
        raise BergamotError(Errors.B243, path=folder, reason=reason) from None
    if manifest["run"] != run:
        what = "a run with other vocabularies, seeds or language model"
        raise BergamotError(Errors.B040, path=folder, what=what)
    state = load_file(folder / _STATE)
    schedule.restore(state)
    logger.info("Going on behind iteration %d", manifest["iteration"])
    best = {name[5:]: value for name, value in state.items() if name.startswith("best/")}
    return manifest["iteration"], manifest["history"], best


def _run_id(graphs: Graphs, arrays: Sequence[np.ndarray], settings: Settings) -> str:
    """Return what decides a run: an interrupted one goes on only if it is the same."""
    digest = hashlib.sha256(json.dumps([asdict(settings), graphs.classes.ids]).encode())
    for array in (graphs.triples, graphs.members.indptr, graphs.members.indices, *arrays):
        digest.update(repr((array.shape, array.dtype)).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
