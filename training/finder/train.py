"""Trains a mention finder."""

import hashlib
import json
import logging
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import spacy
import torch
from spacy.tokens import Doc
from tqdm import tqdm

from spacy_bergamot.finder.decode import decode
from spacy_bergamot.finder.pieces import read_pieces
from spacy_bergamot.finder.tagger import Tagger, check_precision
from spacy_bergamot.kb.concept_table import ConceptTable
from training.errors import BergamotError, Errors
from training.evaluate.spans import Link, score_documents
from training.finder.examples import UNKNOWN, Swaps, example_of, outside_tags, recased
from training.finder.recipe import Recipe
from training.tuning import Tuning, autocast, run_id

logger = logging.getLogger(__name__)

_SIZE, _CONTEXT = 192, 16  # pieces of a window in training; shorter ones cost less attention
_WARM_UP = 0.1


def train_finder(
    train: Sequence[Sequence[Doc]],
    dev: Sequence[Doc],
    lm: Path,
    output: Path,
    recipe: Recipe,
    *,
    concepts: ConceptTable | None = None,
    device: str = "cpu",
) -> dict[str, Any]:
    """Train a finder into `output`, with a checkpoint after every epoch; return its scores.

    Corpora that mark different things teach one finder all of them: see `outside_tags`.

    An interrupted run goes on behind its last whole epoch; one with other settings or documents is
    refused until the interrupted one is removed.

    train (Sequence[Sequence[Doc]]): Corpora of documents with entities.
    dev (Sequence[Doc]): Others to measure it on, by the labels that they have; may be empty.
    lm (Path): A language model's folder. concepts (ConceptTable | None): For swaps.
    RAISES (BergamotError): B014 for an unknown precision, T312 without an entity to learn from,
        T207 if an interrupted run is another.
    """
    check_precision(recipe.precision)
    torch.manual_seed(recipe.seed)
    marked = [sorted({ent.label_ for doc in corpus for ent in doc.ents}) for corpus in train]
    labels = sorted({label for of in marked for label in of})
    if not labels:
        raise BergamotError(Errors.T312, count=sum(map(len, train)))
    model = Tagger.begin(lm, labels).to(device)
    model.lm.embeddings.requires_grad_(False)
    reader = _Reader(train, marked, model, recipe, concepts)
    run = run_id(
        lm,
        recipe=asdict(recipe),
        labels=labels,
        documents=[_digest(corpus) for corpus in train],
        concepts=None if concepts is None else concepts.fingerprint,
    )
    tuning = Tuning(
        model, learn_rate=recipe.learn_rate, output=output, run=run, average=recipe.average
    )
    done, history = tuning.resume()
    for epoch in range(done, recipe.epochs):
        batches = reader.batches(epoch)
        torch.manual_seed(recipe.seed + 1 + epoch)
        model.train()
        losses, start = [], time.perf_counter()
        shown = tqdm(batches, desc=f"Epoch {epoch + 1} of {recipe.epochs}", unit=" steps")
        for number, batch in enumerate(shown):
            loss = _loss(model, batch, recipe, device)
            loss.backward()
            tuning.step(_share((epoch + number / len(batches)) / recipe.epochs))
            losses.append(loss.item())
        with tuning.averaged():
            entry = {"epoch": epoch + 1, "loss": float(np.mean(losses)), **_scores(model, dev)}
        entry["seconds"] = round(time.perf_counter() - start, 1)
        history.append(entry)
        logger.info(json.dumps(entry))
        tuning.save(epoch + 1, history)
    model.eval()
    with tuning.averaged():
        model.save(output / "finder", recipe=asdict(recipe), history=history)
    tuning.end()
    return history[-1]


def _share(progress: float) -> float:
    """Return the share of the highest learning rate at a time of a run, from 0 to 1."""
    return min((progress + 1e-3) / _WARM_UP, (1 - progress) / (1 - _WARM_UP))


def _digest(docs: Sequence[Doc]) -> str:
    """Hash the texts, languages and entities of documents."""
    digest = hashlib.sha256()
    for doc in docs:
        entities = doc.to_array(["ENT_IOB", "ENT_TYPE", "ENT_KB_ID"]).tobytes()
        language = str(doc.user_data.get("language", ""))
        digest.update(b"\0".join((doc.text.encode(), language.encode(), entities)))
    return digest.hexdigest()


class Read(NamedTuple):
    """A window: ids of its pieces, and of the units that count their first pieces and tags.

    outside (bool (tags,)): Tags that a unit outside of mentions may have, see `outside_tags`.
    """

    ids: list[int]
    firsts: np.ndarray
    tags: np.ndarray
    outside: np.ndarray


class _Reader:
    """Batches of windows, anew for every epoch."""

    def __init__(
        self,
        corpora: Sequence[Sequence[Doc]],
        marked: Sequence[Sequence[str]],
        model: Tagger,
        recipe: Recipe,
        concepts: ConceptTable | None,
    ) -> None:
        self.corpora, self.model, self.recipe = corpora, model, recipe
        self.outside = [outside_tags(model.labels, of) for of in marked]
        self.nlp = spacy.blank("xx")
        wanted = (ent.kb_id_ for docs in corpora for doc in docs for ent in doc.ents)
        self.swaps = Swaps(concepts, wanted) if concepts is not None else None

    def batches(self, epoch: int) -> list[list[Read]]:
        draw = random.Random(f"{self.recipe.seed} {epoch}")
        windows = [
            window
            for docs, outside in zip(self.corpora, self.outside, strict=True)
            for doc in docs
            for window in self._windows(doc, outside, draw)
        ]
        draw.shuffle(windows)
        made: list[list[Read]] = [[]]
        taken = 0
        for window in windows:
            taken += len(window.ids)
            if taken > self.recipe.batch_pieces:
                made.append([])
                taken = len(window.ids)
            made[-1].append(window)
        return [sorted(batch, key=lambda window: len(window.ids)) for batch in made if batch]

    def _windows(self, doc: Doc, outside: np.ndarray, draw: random.Random) -> Iterator[Read]:
        if self.swaps is not None:
            doc = self.swaps.swapped(self.nlp, doc, self.recipe.swap_share, draw)
        if draw.random() < self.recipe.recase_share:
            doc = recased(doc, draw)
        pieces, tags = example_of(doc, self.model.tokenizer, self.model.labels)
        for window in self.model.windows(pieces, size=_SIZE, context=_CONTEXT):
            if (tags[window.units] != UNKNOWN).any():
                firsts = pieces.firsts[window.units] - window.pieces.start
                yield Read(pieces.ids[window.pieces].tolist(), firsts, tags[window.units], outside)


def _loss(model: Tagger, batch: list[Read], recipe: Recipe, device: str) -> torch.Tensor:
    """Return the mean negative log probability that a unit has one of the tags it may have."""
    with autocast(recipe.precision, device):
        scores = model([window.ids for window in batch])
    first = [of[torch.from_numpy(read.firsts)] for of, read in zip(scores, batch, strict=True)]
    tags = np.concatenate([read.tags for read in batch])
    outside = np.repeat(
        [read.outside for read in batch], [len(read.tags) for read in batch], axis=0
    )
    known = tags != UNKNOWN
    tags, outside = tags[known], outside[known]
    its_own = np.eye(outside.shape[1], dtype=bool)[tags]
    allowed = torch.from_numpy(np.where((tags == 0)[:, None], outside, its_own)).to(device)
    log_p = torch.cat(first)[torch.from_numpy(known).to(device)].log_softmax(-1)
    return -log_p.masked_fill(~allowed, -torch.inf).logsumexp(-1).mean()


def _scores(model: Tagger, docs: Sequence[Doc]) -> dict[str, float]:
    """Return the F1 of mentions of the documents' labels in percent; labels are not compared."""
    if not docs:
        return {}
    model.eval()
    pieces = [read_pieces(doc, model.tokenizer) for doc in docs]
    asked = {ent.label_ for doc in docs for ent in doc.ents}
    found = [
        [
            Link(*read.characters(m.first, m.stop), "NIL")
            for m in decode(of)
            if model.labels[m.label] in asked
        ]
        for read, of in zip(pieces, model.log_probabilities(pieces), strict=True)
    ]
    gold = [[Link(ent.start_char, ent.end_char, "NIL") for ent in doc.ents] for doc in docs]
    measured = score_documents(found, gold)
    return {
        f"{name}_{key}": round(measured[f"{name}_mention"][key], 1)
        for name in ("strict", "partial")
        for key in "prf"
    }
