"""NIL for real: a linker is asked for mentions whose concepts were taken from its knowledge base.

A share of the gold concepts is hidden, with all its names, from the mentions that mean them; these,
and those whose concept the knowledge base never had, are to end in NIL. The mentions are the gold
ones, so that it is the decision that is measured, and not what finds mentions.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spacy_bergamot.linking.candidates import NIL, Candidate
from spacy_bergamot.linking.decision import Decision
from spacy_bergamot.linking.rerank import rerank_documents
from spacy_bergamot.pipeline.linker import BergamotLinker
from spacy_bergamot.pipeline.pipelines import find_pipeline, linker_of, load_pipeline
from training.errors import BergamotError, Errors
from training.evaluate.statistics import ratio_interval
from training.rerank.ask import ask, read_documents
from training.rerank.candidates import Document
from training.rerank.run import is_held

COVERAGES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_DEVELOPMENT = 0.5


class Decided(NamedTuple):
    """The mentions of a corpus, a row each.

    document (int64), is_nil (bool): Whether NIL is right. right (bool): Whether the best candidate
    is. sure (float64): Its probability where the linker is calibrated, else its score; -1 without
    one. said_nil (bool): What the pipeline decides by its own settings.
    """

    document: np.ndarray
    is_nil: np.ndarray
    right: np.ndarray
    sure: np.ndarray
    said_nil: np.ndarray

    def of(self, rows: np.ndarray) -> "Decided":
        """Return some of them."""
        return Decided(*(column[rows] for column in self))


def score_removed(pipeline: str, gold: Path, *, share: float, seed: int = 0) -> dict[str, Any]:
    """Score NIL with a share of the concepts hidden.

    Half of the documents, drawn by their names, are the development part, on which the threshold
    with the best F1 of NIL is chosen; the figures are those of the other half.

    RETURNS (dict): "threshold"; "nil", its precision, recall and F1 with that threshold, in percent
        with 95 % intervals over documents; "nil_as_set", the same of what the pipeline decides by
        its settings; "linked", by coverage, the precision of that share of the mentions that the
        linker is surest of; "mentions", "nils" and "counts".
    RAISES (BergamotError): B037 for a share, B047 and B046 for a pipeline, T296 for a corpus, T373
        if one half has no mention that is NIL.
    """
    find_pipeline(pipeline)
    linker, _ = linker_of(load_pipeline(pipeline))
    corpus = read_documents(gold)
    asked = ask(linker, corpus, k=linker.settings.k, remove=share, seed=seed)
    decided = decide(linker, asked.documents)
    names = [document.name for document in asked.documents]
    held = is_held(names, _DEVELOPMENT)[decided.document]
    develop, test = decided.of(np.flatnonzero(held)), decided.of(np.flatnonzero(~held))
    if not (develop.is_nil.any() and test.is_nil.any()):
        raise BergamotError(Errors.T373, path=gold, share=share)
    threshold = best_threshold(develop)
    return {
        "remove_concepts": share,
        "seed": seed,
        "counts": asked.facts["counts"],
        "mentions": len(test.sure),
        "nils": int(test.is_nil.sum()),
        "threshold": round(threshold, 6),
        "nil": _rates(test, test.sure < threshold),
        "nil_as_set": _rates(test, test.said_nil),
        "linked": {f"{cover:g}": _precision(test, cover) for cover in COVERAGES},
    }


def decide(linker: BergamotLinker, documents: Sequence[Document]) -> Decided:
    """Rerank, weigh and decide as the linker does."""
    parts, decision = linker.parts, Decision(linker.settings, linker.kb)
    found = [document.candidates for document in documents]
    if parts.reranker is not None:
        mentions = [document.mentions for document in documents]
        found = rerank_documents(parts.reranker, mentions, found, parts.kb)
    rows = []
    for number, (document, of) in enumerate(zip(documents, found, strict=True)):
        asked = zip(document.mentions, of, document.golds, strict=True)
        for mention, candidates, gold in asked:
            if parts.calibration is not None:
                candidates = parts.calibration(candidates, parts.groups, mention)
            best = next((one for one in candidates if one.concept_id != NIL), None)
            right = best is not None and gold.is_known and best.concept_id in gold.concepts
            said = decision.concept_of(candidates) == NIL
            rows.append((number, not gold.is_known, right, _sure(best), said))
    columns = zip(*rows, strict=True)
    types = (np.int64, bool, bool, np.float64, bool)
    return Decided(*(np.array(of, dtype=kind) for of, kind in zip(columns, types, strict=True)))


def best_threshold(decided: Decided) -> float:
    """Return what a best candidate needs at least, so that F1 of NIL is best."""
    values = np.unique(decided.sure)
    tried = [*values.tolist(), float(np.nextafter(values[-1], np.inf))]
    scores = []
    for threshold in tried:
        said = decided.sure < threshold
        scores.append(2 * (said & decided.is_nil).sum() / (said.sum() + decided.is_nil.sum()))
    return tried[int(np.argmax(scores))]


def render_removed(scores: dict[str, Any]) -> str:
    """Return the figures as lines."""
    counts = scores["counts"]
    lines = [
        f"{scores['remove_concepts']:.0%} of the gold concepts hidden, seed {scores['seed']}: "
        f"{scores['nils']} of {scores['mentions']} mentions are NIL "
        f"({counts['mentions'] - scores['mentions']} more chose the threshold)",
        "In percent, with 95 % intervals over documents",
    ]
    for key, text in (
        ("nil", f"NIL below {scores['threshold']:g}"),
        ("nil_as_set", "NIL as the pipeline is set"),
    ):
        rates = scores[key]
        cells = (f"{name} {rates[name][0]:.1f} ({rates[name][1]:.1f}-{rates[name][2]:.1f})"
                 for name in ("precision", "recall", "f1"))  # fmt: skip
        lines.append(f"{text:28}{', '.join(cells)}; right in all {rates['accuracy']:.1f}")
    for cover, precision in scores["linked"].items():
        lines.append(f"the surest {float(cover):4.0%} linked: {precision:.1f} are right")
    return "\n".join(lines)


def _sure(best: Candidate | None) -> float:
    if best is None:
        return -1.0
    return best.score if best.probability is None else best.probability


def _rates(decided: Decided, said: np.ndarray) -> dict[str, Any]:
    _, owner = np.unique(decided.document, return_inverse=True)
    both, said_sums, golds = (
        np.bincount(owner, mask).astype(float)
        for mask in (said & decided.is_nil, said, decided.is_nil)
    )
    sides = {
        "precision": (both, said_sums),
        "recall": (both, golds),
        "f1": (2 * both, said_sums + golds),
    }
    rates: dict[str, Any] = {}
    for name, (sums, sizes) in sides.items():
        value = sums.sum() / sizes.sum() if sizes.any() else 0.0
        rates[name] = [round(100 * float(one), 2) for one in (value, *ratio_interval(sums, sizes))]
    accuracy = np.where(said, decided.is_nil, decided.right).mean()
    return {**rates, "accuracy": round(100 * float(accuracy), 2)}


def _precision(decided: Decided, coverage: float) -> float:
    """Return how many of the surest mentions are right, in percent."""
    order = np.argsort(-decided.sure, kind="stable")[: max(1, round(coverage * len(decided.sure)))]
    return round(100 * float(decided.right[order].mean()), 2)
