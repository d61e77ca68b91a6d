"""What a cross-encoder adds on the development part."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from spacy_bergamot.linking.calibration_report import expected_calibration_error
from spacy_bergamot.linking.candidates import NIL, Candidate
from spacy_bergamot.linking.cross_encoder.reading import Blend
from training.cross_encoder.examples import Example
from training.evaluate.statistics import compare
from training.rerank.candidates import Document
from training.rerank.fit import Choices, fit
from training.rerank.run import Observed, rounded, with_interval

_STRENGTH = 0.1


class Judged(NamedTuple):
    """Mentions that were read, and their logits (float64 (n + 1,) each), NIL's last."""

    examples: Sequence[Example]
    logits: Sequence[np.ndarray]


def fit_blend(judged: Judged) -> Blend:
    """Return how mix and cross-encoder are blended best."""
    sizes = [len(one) for one in judged.logits]
    nil = np.concatenate([np.arange(size) == size - 1 for size in sizes])
    probabilities = np.concatenate([one.probabilities for one in judged.examples])
    values = np.stack(
        [np.log(np.maximum(probabilities, 1e-6)), np.concatenate(judged.logits), nil], axis=1
    )
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    right = np.concatenate([one.right for one in judged.examples])
    return Blend(*(round(float(one), 6) for one in fit(Choices(values, starts, right), _STRENGTH)))


def measure(
    observed: Observed,
    documents: Sequence[Document],
    mixed: Mapping[int, list[Candidate]],
    judged: Judged,
    blend: Blend,
) -> dict[str, Any]:
    """Return what is right before, by the mix, by the cross-encoder and by both.

    Acc@1 is in percent, with intervals over documents; Acc@1 with NIL (all mentions, NIL being
    right where the knowledge base shows no gold), NIL's F1 and calibration error are of both.

    mixed (Mapping[int, list[Candidate]]): Of every mention of the part, by its row.
    """
    rows = list(mixed)
    alone, both = dict(mixed), dict(mixed)
    for one, logits in zip(judged.examples, judged.logits, strict=True):
        alone[one.row] = Blend().blended(one.mixed, one.read, logits.tolist())
        both[one.row] = blend.blended(one.mixed, one.read, logits.tolist())
    counted = observed.counted[rows]
    owners = observed.documents[rows][counted]
    hits = {"before": np.array([observed.right[row][0] for row in rows])}
    for name, found in (("mix", mixed), ("cross_encoder", alone), ("both", both)):
        best = [_best(found[row]) for row in rows]
        golds = [_golds(observed, documents, row) for row in rows]
        hits[name] = np.array([b.concept_id in of for b, of in zip(best, golds, strict=True)])
    nil = np.array([both[row][0].concept_id == NIL for row in rows])
    is_nil = np.array([not observed.right[row].any() for row in rows])
    sure = np.array([_best(both[row]).score for row in rows])
    return {
        "mentions": int(counted.sum()),
        "read": round(len(judged.examples) / len(rows), 4),
        **{f"acc@1_{name}": with_interval(of[counted], owners) for name, of in hits.items()},
        "gain": rounded(compare(hits["both"][counted], hits["before"][counted], owners)),
        "gain_over_mix": rounded(compare(hits["both"][counted], hits["mix"][counted], owners)),
        "acc@1": round(100 * float(np.where(nil, is_nil, hits["both"]).mean()), 2),
        "nil_f1": round(200 * float((nil & is_nil).sum() / max(1, nil.sum() + is_nil.sum())), 2),
        "ece": round(expected_calibration_error(sure, hits["both"].astype(float)), 4),
    }


def _best(found: Sequence[Candidate]) -> Candidate:
    return next(one for one in found if one.concept_id != NIL)


def _golds(observed: Observed, documents: Sequence[Document], row: int) -> frozenset[str]:
    """Return the concepts that are right, none where the knowledge base shows none of them."""
    gold = documents[observed.documents[row]].golds[observed.places[row]]
    return gold.concepts if gold.is_known else frozenset()
