"""Trains a cross-encoder."""

import json
import logging
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from tqdm import tqdm

from spacy_bergamot.finder.tagger import check_precision
from spacy_bergamot.linking.cross_encoder.files import Trained
from spacy_bergamot.linking.cross_encoder.model import PairModel
from spacy_bergamot.linking.cross_encoder.texts import Reader
from spacy_bergamot.linking.learned_mix import LearnedMix
from spacy_bergamot.linking.profiles import Profiles
from training.cross_encoder.batches import Batches, logits_of
from training.cross_encoder.examples import examples_of, mixed_of, once_a_document, rows_of
from training.cross_encoder.loss import ranking_loss
from training.cross_encoder.measure import Judged, fit_blend, measure
from training.cross_encoder.recipe import Recipe
from training.errors import BergamotError, Errors
from training.rerank.candidates import Asked
from training.rerank.fit import fit, named
from training.rerank.run import generators_of, observe, parts_of, tried_strengths
from training.tuning import Tuning, autocast, run_id

if TYPE_CHECKING:
    from spacy_bergamot.pipeline.linker import BergamotLinker

logger = logging.getLogger(__name__)

FOLDER = "cross-encoder"


def train_cross_encoder(
    linker: "BergamotLinker",
    asked: Sequence[Asked],
    lm: Path,
    output: Path,
    recipe: Recipe,
    *,
    device: str = "cpu",
) -> dict[str, Any]:
    """Train a cross-encoder into `output`/cross-encoder; return what its best epoch measured.

    A learned mix is fitted first; the cross-encoder learns from what that is in doubt of. An
    interrupted run goes on behind its last checkpoint; one with another recipe, corpus or language
    model is refused until the interrupted one is removed.

    asked (Sequence[Asked]): Candidates of a corpus; then, if NIL is to be taught, of the same one
        with concepts hidden, of which the mentions of these concepts are taken.
    lm (Path): A language model's folder.
    RAISES (BergamotError): B014 for an unknown precision, B037 for a share, T271 if the mix is in
        no doubt, B037 for a size, T372 with too little to learn from, T207 if an interrupted run
        is another.
    """
    check_precision(recipe.precision)
    torch.manual_seed(recipe.seed)
    model = PairModel.begin(lm).to(device)
    if not 16 <= recipe.size <= model.longest:
        rule = f"from 16 to {model.longest} tokens with this language model"
        raise BergamotError(Errors.B037, setting="--size", value=recipe.size, rule=rule)
    run = _Run(linker, asked, model, recipe, device)
    model.lm.get_input_embeddings().requires_grad_(False)
    decisive = asdict(replace(recipe, checkpoint_steps=0))
    whole = run_id(lm, recipe=decisive, asked=[one.facts for one in asked])
    tuning = Tuning(model, learn_rate=recipe.learn_rate, output=output, run=whole)
    done, history = tuning.resume()
    per_epoch = run.batches.per_epoch
    steps = recipe.epochs * per_epoch
    losses: list[float] = []
    for step in tqdm(range(done, steps), initial=done, total=steps, unit=" steps"):
        torch.manual_seed(recipe.seed + 1 + step)
        model.train()
        losses.append(run.backward(step))
        share = min((step + 1) / recipe.warm_up, (steps - step) / max(1, steps - recipe.warm_up))
        tuning.step(min(1.0, share))
        is_end = (step + 1) % per_epoch == 0
        if is_end or (step + 1) % recipe.checkpoint_steps == 0:
            history.append({"step": step + 1, "loss": float(np.mean(losses))})
            losses = []
            if is_end:
                _end_of_epoch(run, history, output / FOLDER)
            logger.info(json.dumps(history[-1]))
            tuning.save(step + 1, history)
    tuning.end()
    best = max((one for one in history if "acc@1" in one), key=lambda one: one["acc@1"])
    return {"counts": dict(run.counts), "history": history, "best": best}


def _end_of_epoch(run: "_Run", history: list[dict[str, Any]], folder: Path) -> None:
    """Measure the model, and keep it if it is the best so far."""
    start = time.perf_counter()
    judged = run.judged()
    blend = fit_blend(judged)
    report = measure(run.observed, run.documents, run.mixed, judged, blend)
    best = max((one["acc@1"] for one in history if "acc@1" in one), default=-1.0)
    history[-1] |= {**report, "seconds": round(time.perf_counter() - start, 1)}
    if history[-1]["acc@1"] > best:
        trained = Trained(run.model, run.weights, blend, run.recipe.size, run.recipe.context,
                          run.facts["index"], run.facts["generator"])  # fmt: skip
        trained.save(folder, recipe=asdict(run.recipe), history=history,
                     counts=dict(run.counts))  # fmt: skip


class _Run:
    """What a run learns from and is measured on."""

    def __init__(
        self,
        linker: "BergamotLinker",
        asked: Sequence[Asked],
        model: PairModel,
        recipe: Recipe,
        device: str,
    ) -> None:
        self.model, self.recipe, self.device = model, recipe, device
        self.facts = asked[0].facts
        whole = asked[0].documents
        others = (document for one in asked[1:] for document in one.documents)
        hidden = [of for of in others if any(gold.is_hidden for gold in of.golds)]
        self.documents = [*whole, *hidden]
        self.counts = Counter(asked[0].facts["counts"])
        generators = generators_of(self.documents)
        self.observed = observe(self.documents, Profiles(linker.kb), generators)
        rows = rows_of(self.observed, self.documents, len(whole))
        train_rows, dev_rows = parts_of(self.observed, self.documents, recipe.dev, rows=rows)
        tried = tried_strengths(self.observed, train_rows)
        dev_part = self.observed.choices(dev_rows)
        best = min(tried, key=lambda strength: dev_part.loss(tried[strength]))
        self.weights = named(fit(self.observed.choices(rows), best), generators)
        # Of the development part the mix must not know the answers, as later it will not.
        mix = LearnedMix(weights=named(tried[best], generators))
        train_mixed, self.mixed = (
            mixed_of(self.observed, self.documents, of, mix) for of in (train_rows, dev_rows)
        )
        examples = [
            examples_of(self.observed, self.documents, of, recipe, self.counts)
            for of in (train_mixed, self.mixed)
        ]
        train, self.dev = once_a_document(examples[0], self.observed), examples[1]
        self.counts["learned from"] = len(train)
        if not train or not self.dev:
            raise BergamotError(Errors.T271, count=len(rows), margin=recipe.margin)
        reader = Reader(model.tokenizer, linker.kb, size=recipe.size, context=recipe.context)
        self.batches = Batches(train, reader, size=recipe.batch_mentions, seed=recipe.seed)
        logger.info("%s; %d steps per epoch", json.dumps(self.counts), self.batches.per_epoch)

    def backward(self, step: int) -> float:
        """Add the gradients of a step; return its loss, the mean over mentions."""
        recipe, batch = self.recipe, self.batches.at(step)
        total = 0.0
        for examples, lines in self.batches.passes(batch, recipe.batch_tokens):
            with autocast(recipe.precision, self.device):
                logits = logits_of(self.model, lines)
            losses = [
                ranking_loss(
                    of,
                    torch.from_numpy(one.right).to(of.device),
                    torch.from_numpy(one.scores).to(of.device),
                    rank_weight=recipe.rank_weight,
                )
                for of, one in zip(logits, examples, strict=True)
            ]
            loss = torch.stack(losses).sum() / len(batch)
            loss.backward()
            total += loss.item()
        return total

    def judged(self) -> Judged:
        """Return the logits of the development part's mentions."""
        self.model.eval()
        found: list[np.ndarray] = []
        with torch.inference_mode(), autocast(self.recipe.precision, self.device):
            for _, lines in self.batches.passes(self.dev, self.recipe.batch_tokens):
                found += [one.double().cpu().numpy() for one in logits_of(self.model, lines)]
        return Judged(self.dev, found)
