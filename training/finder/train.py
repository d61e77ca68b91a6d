"""Trains a mention finder."""

import json
import logging
import random
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import spacy
import torch
from spacy.tokens import Doc
from torch.nn.functional import cross_entropy
from tqdm import tqdm

from spacy_bergamot.concepts import ConceptTable
from spacy_bergamot.finder.decode import decode
from spacy_bergamot.finder.tagger import Tagger, check_precision
from training.bergamot.checkpoint import load_checkpoint, newest_checkpoint, save_checkpoint
from training.errors import BergamotError, Errors
from training.evaluate.spans import Link, score_documents
from training.finder.examples import UNKNOWN, Swaps, example_of, recased

logger = logging.getLogger(__name__)

_SIZE, _CONTEXT = 192, 16  # pieces of a window in training; shorter ones cost less attention
_CHECKPOINTS = "checkpoints"
_HEAD_RATE = 5.0  # the head begins at random and learns faster than the language model
_WARM_UP = 0.1


@dataclass(frozen=True)
class Recipe:
    """How a finder is trained.

    epochs (int): Passes over the documents. batch_pieces (int): Pieces of words per step.
    learn_rate (float): Of the language model, at its highest; the head's is five times that.
    frozen_layers (int): Lowest layers that stay as they are, besides the word embeddings.
    swap_share (float): Of gold mentions whose concept is in the knowledge base, those that get
        another name of it, in any language.
    recase_share (float): Of documents that are read in capitals or in small letters.
    precision (str): "fp32" or "bf16". seed (int): Of order, swaps, dropout and the head.
    """

    epochs: int = 3
    batch_pieces: int = 2048
    learn_rate: float = 2e-4
    frozen_layers: int = 0
    swap_share: float = 0.3
    recase_share: float = 0.1
    precision: str = "fp32"
    seed: int = 0


def train_finder(
    train: Sequence[Doc],
    dev: Sequence[Doc],
    lm: Path,
    output: Path,
    recipe: Recipe,
    *,
    concepts: ConceptTable | None = None,
    device: str = "cpu",
) -> dict[str, Any]:
    """Train a finder into `output`, with a checkpoint after every epoch; return its scores.

    An interrupted run goes on behind its last whole epoch; one with other settings or documents is
    refused until the interrupted one is removed.

    train, dev (Sequence[Doc]): Documents with entities; `dev` may be empty.
    lm (Path): A language model's folder. concepts (ConceptTable | None): For swaps.
    RAISES (BergamotError): B014 for an unknown precision, T312 without an entity to learn from,
        T207 if an interrupted run is another.
    """
    check_precision(recipe.precision)
    torch.manual_seed(recipe.seed)
    labels = sorted({ent.label_ for doc in train for ent in doc.ents})
    if not labels:
        raise BergamotError(Errors.T312.format(count=len(train)))
    model = Tagger.begin(lm, labels).to(device)
    model.lm.embeddings.requires_grad_(False)
    model.lm.encoder.layer[: recipe.frozen_layers].requires_grad_(False)
    read = _Reader(train, model, recipe, concepts)
    steps = recipe.epochs * len(read.batches(0))
    optimizer = _optimizer(model, recipe)
    rates = [group["lr"] for group in optimizer.param_groups]
    scaler = torch.amp.GradScaler(device, enabled=False)
    facts = {"recipe": asdict(recipe), "labels": labels, "documents": len(train), "lm": str(lm)}
    config_id = json.dumps(facts, sort_keys=True)
    done = 0
    history: list[dict[str, Any]] = []
    root = output / _CHECKPOINTS
    if (found := newest_checkpoint(root)) is not None:
        done, history = load_checkpoint(
            found, model=model, optimizer=optimizer, scaler=scaler, config_id=config_id
        )
        logger.info("Going on behind epoch %d", done)
    step = 0
    for epoch in range(recipe.epochs):
        batches = read.batches(epoch)
        if epoch < done:
            step += len(batches)
            continue
        torch.manual_seed(recipe.seed + 1 + epoch)
        model.train()
        loss_sum, start = 0.0, time.perf_counter()
        for batch in tqdm(batches, desc=f"Epoch {epoch + 1} of {recipe.epochs}", unit=" steps"):
            share = min((step + 1) / (_WARM_UP * steps), max(0.0, 1 - step / steps))
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * share
            loss = _loss(model, batch, recipe, device)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            loss_sum += loss.item()
            step += 1
        entry = {"epoch": epoch + 1, "loss": loss_sum / max(1, len(batches))}
        entry |= _scores(model, dev)
        entry["seconds"] = round(time.perf_counter() - start, 1)
        history.append(entry)
        logger.info(json.dumps(entry))
        save_checkpoint(
            root, step=epoch + 1, model=model, optimizer=optimizer, scaler=scaler,
            config_id=config_id, history=history, keep=1,
        )  # fmt: skip
    model.eval()
    model.save(output / "finder", recipe=asdict(recipe), history=history)
    shutil.rmtree(root)
    return history[-1]


def _optimizer(model: Tagger, recipe: Recipe) -> torch.optim.Optimizer:
    groups: dict[tuple[bool, bool], list[torch.nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            groups.setdefault((name.startswith("head"), parameter.ndim > 1), []).append(parameter)
    return torch.optim.AdamW(
        [
            {
                "params": parameters,
                "lr": recipe.learn_rate * (_HEAD_RATE if in_head else 1.0),
                "weight_decay": 0.01 if decays else 0.0,
            }
            for (in_head, decays), parameters in groups.items()
        ],
        fused=True,
    )


class Read(NamedTuple):
    """A window: ids of its pieces, and of the units that count their first pieces and tags."""

    ids: list[int]
    firsts: np.ndarray
    tags: np.ndarray


class _Reader:
    """Batches of windows, anew for every epoch."""

    def __init__(
        self,
        docs: Sequence[Doc],
        model: Tagger,
        recipe: Recipe,
        concepts: ConceptTable | None,
    ) -> None:
        self.docs, self.model, self.recipe = docs, model, recipe
        self.nlp = spacy.blank("xx")
        wanted = (ent.kb_id_ for doc in docs for ent in doc.ents)
        self.swaps = Swaps(concepts, wanted) if concepts is not None else None

    def batches(self, epoch: int) -> list[list[Read]]:
        draw = random.Random(f"{self.recipe.seed} {epoch}")
        windows = [window for doc in self.docs for window in self._windows(doc, draw)]
        draw.shuffle(windows)
        made: list[list[Read]] = [[]]
        for window in windows:
            if sum(len(each.ids) for each in made[-1]) + len(window.ids) > self.recipe.batch_pieces:
                made.append([])
            made[-1].append(window)
        return [sorted(batch, key=lambda window: len(window.ids)) for batch in made if batch]

    def _windows(self, doc: Doc, draw: random.Random) -> Iterator[Read]:
        if self.swaps is not None:
            doc = self.swaps.swapped(self.nlp, doc, self.recipe.swap_share, draw)
        if draw.random() < self.recipe.recase_share:
            doc = recased(doc, draw)
        pieces, tags = example_of(doc, self.model.tokenizer, self.model.labels)
        for window in self.model.windows(pieces, size=_SIZE, context=_CONTEXT):
            if (tags[window.units] != UNKNOWN).any():
                firsts = pieces.firsts[window.units] - window.pieces.start
                yield Read(pieces.ids[window.pieces].tolist(), firsts, tags[window.units])


def _loss(model: Tagger, batch: list[Read], recipe: Recipe, device: str) -> torch.Tensor:
    kind = torch.device(device).type
    half = torch.autocast(kind, torch.bfloat16) if recipe.precision == "bf16" else nullcontext()
    with half:
        scores = model([window.ids for window in batch])
    chosen = [
        of[torch.from_numpy(firsts)] for of, (_, firsts, _) in zip(scores, batch, strict=True)
    ]
    tags = torch.from_numpy(np.concatenate([window.tags for window in batch])).to(device)
    return cross_entropy(torch.cat(chosen), tags, ignore_index=UNKNOWN)


def _scores(model: Tagger, docs: Sequence[Doc]) -> dict[str, float]:
    """Return the F1 of found mentions, strict and overlapping, in percent."""
    if not docs:
        return {}
    model.eval()
    examples = [example_of(doc, model.tokenizer, model.labels) for doc in docs]
    scores = model.log_probabilities([example.pieces for example in examples])
    found = [
        [
            Link(int(e.pieces.starts[m.first]), int(e.pieces.ends[m.stop - 1]), "NIL")
            for m in decode(of)
        ]
        for e, of in zip(examples, scores, strict=True)
    ]
    gold = [[Link(ent.start_char, ent.end_char, "NIL") for ent in doc.ents] for doc in docs]
    measured = score_documents(found, gold)
    return {
        f"{name}_{key}": round(measured[f"{name}_mention"][key], 1)
        for name in ("strict", "partial")
        for key in "prf"
    }
