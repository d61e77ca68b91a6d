"""Learn to rerank: from candidates of gold mentions to the folder of a learned mix."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spacy_bergamot.hashing import string_keys
from spacy_bergamot.linking.calibration_report import expected_calibration_error
from spacy_bergamot.linking.features import Seen, features_of
from spacy_bergamot.linking.profiles import Profiles
from training.errors import BergamotError, Errors
from training.evaluate.statistics import bootstrap_interval, compare
from training.preprocess.hashing import mix, uniform
from training.rerank.candidates import Asked, Document
from training.rerank.fit import Choices, fit, named

if TYPE_CHECKING:
    from spacy_bergamot.pipeline.linker import BergamotLinker

STRENGTHS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
LEAST = 20
"""Mentions, with several candidates and the gold one among them, below which nothing is learned."""


class Observed(NamedTuple):
    """Mentions that have candidates.

    seen (list[Seen]), right (list of bool (candidates,)): Of every mention.
    documents, places (int64 (n,)): Its document, and which of its mentions it is.
    counted (bool (n,)): Whether the knowledge base shows the gold, so that Acc@1 counts it.
    """

    seen: list[Seen]
    right: list[np.ndarray]
    documents: np.ndarray
    places: np.ndarray
    counted: np.ndarray

    def choices(self, rows: np.ndarray) -> Choices:
        """Return some mentions as alternatives."""
        return Choices.of([self.seen[row] for row in rows], [self.right[row] for row in rows])


def train(linker: "BergamotLinker", asked: Asked, output: Path, *, dev: float) -> dict[str, Any]:
    """Learn weights and write the folder.

    The strength of the penalty is the one with the smallest loss on the development part, which the
    report is of; the weights that are written are then fitted to all documents.

    dev (float): Share of the documents that are the development part, drawn by their names.
    RETURNS (dict): The report, which mix.json has too.
    RAISES (BergamotError): B037 for a share, T372 if there is too little to learn from.
    """
    generators = generators_of(asked.documents)
    observed = observe(asked.documents, Profiles(linker.kb), generators)
    train_rows, dev_rows = parts_of(observed, asked.documents, dev)
    tried = tried_strengths(observed, train_rows)
    dev_part = observed.choices(dev_rows)
    losses = {strength: dev_part.loss(weights) for strength, weights in tried.items()}
    best = min(losses, key=lambda strength: losses[strength])
    report = {
        "counts": asked.facts["counts"],
        "documents": len(asked.documents),
        "strength": best,
        "losses": {str(strength): round(loss, 5) for strength, loss in losses.items()},
        "dev": measure(observed, dev_rows, dev_part, tried[best]),
    }
    every = np.arange(len(observed.seen))
    weights = named(fit(observed.choices(every), best), generators)
    weights.report.update(report)
    weights.save(output, index=asked.facts["index"], generator=asked.facts["generator"])
    return report


def generators_of(documents: Sequence[Document]) -> list[str]:
    """Return the keys of the scores that candidates have."""
    found = (one for of in documents for found in of.candidates for one in found)
    return sorted({key for one in found for key in one.scores})


def parts_of(
    observed: Observed, documents: Sequence[Document], dev: float, *, rows: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the training part and of the development part, drawn by documents' names.

    dev (float): Share of the documents. rows (int64 | None): Mentions that are taken; None for all.
    RAISES (BergamotError): B037 for a share, T372 if there is too little to learn from.
    """
    if not 0 < dev < 1:
        raise BergamotError(Errors.B037, setting="--dev", value=dev, rule="above 0 and below 1")
    rows = np.arange(len(observed.seen)) if rows is None else rows
    names = [documents[of].name for of in observed.documents[rows]]
    held = is_held(names, dev)
    parts = {"train": rows[~held], "dev": rows[held]}
    for name, of in parts.items():
        useful = sum(len(observed.right[row]) > 1 and observed.right[row].any() for row in of)
        if useful < LEAST:
            facts = {"count": useful, "mentions": len(of), "least": LEAST}
            raise BergamotError(Errors.T372, name=f"The {name} part", **facts)
    return parts["train"], parts["dev"]


def is_held(names: Sequence[str], dev: float) -> np.ndarray:
    """Say which documents are of the development part, bool (n,), by their names.

    dev (float): Share of the documents.
    """
    return np.asarray(uniform(mix(string_keys(names))) < dev)


def tried_strengths(observed: Observed, rows: np.ndarray) -> dict[float, np.ndarray]:
    """Return weights that are fitted to some mentions, by the strength of the penalty."""
    choices = observed.choices(rows)
    return {strength: fit(choices, strength) for strength in STRENGTHS}


def observe(
    documents: Sequence[Document], profiles: Profiles, generators: Sequence[str]
) -> Observed:
    """Return what is seen of the mentions that have candidates."""
    seen, right, owners, places, counted = [], [], [], [], []
    for number, document in enumerate(documents):
        features = features_of(document.mentions, document.candidates, profiles, generators)
        both = zip(features, document.candidates, document.golds, strict=True)
        for place, (one, found, gold) in enumerate(both):
            if found:
                seen.append(one)
                among = [c.concept_id in gold.concepts and gold.is_known for c in found]
                right.append(np.array(among, dtype=bool))
                owners.append(number)
                places.append(place)
                counted.append(gold.is_known)
    known = np.array(counted, dtype=bool)
    return Observed(seen, right, np.array(owners), np.array(places), known)


def measure(
    observed: Observed, rows: np.ndarray, choices: Choices, weights: np.ndarray
) -> dict[str, Any]:
    """Return Acc@1 before and after, and the calibration error of the best candidates.

    Acc@1 is in percent, with intervals over documents.
    """
    counted = observed.counted[rows]
    documents = observed.documents[rows][counted]
    probabilities = np.split(choices.probabilities(weights), choices.starts[1:])
    best = [int(p[:-1].argmax()) for p in probabilities]
    after = np.array([observed.right[r][at] for r, at in zip(rows, best, strict=True)])
    before = np.array([observed.right[row][0] for row in rows])
    sure = np.array([p[at] for p, at in zip(probabilities, best, strict=True)])
    nil = np.array([p[-1] > p[at] for p, at in zip(probabilities, best, strict=True)])
    systems = {"before": before, "after": after, "after_with_nil": after & ~nil}
    return {
        "mentions": int(counted.sum()),
        **{f"acc@1_{name}": with_interval(hits[counted], documents)
           for name, hits in systems.items()},
        "gain": rounded(compare(after[counted], before[counted], documents)),
        "ece": round(expected_calibration_error(sure, after.astype(float)), 4),
    }  # fmt: skip


def rounded(facts: Mapping[str, float]) -> dict[str, float]:
    """Return numbers with five digits."""
    return {key: float(f"{value:.5g}") for key, value in facts.items()}


def with_interval(hits: np.ndarray, documents: np.ndarray) -> list[float]:
    """Return the mean of hits in percent, and its interval over documents."""
    low, high = bootstrap_interval(hits, documents)
    return [round(100 * float(value), 2) for value in (hits.mean(), low, high)]
