"""Semantic groups from frozen embeddings by a linear classifier (CODER)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacy_bergamot.encoder.text_encoder import TextEncoder
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.text import normalize
from training.errors import BergamotError, Errors
from training.preprocess.training_set import TrainingSet
from training.tasks.scores import AVERAGES, scores

FOLDS = 5
_BATCH = 256


@dataclass(frozen=True)
class GroupNames:
    """Names with the semantic group and the concept of each.

    groups (list[str]): What `labels` (int64 (n,)) number. concepts (int64 (n,)): Rows.
    """

    names: list[str]
    labels: np.ndarray
    concepts: np.ndarray
    groups: list[str]


def choose(
    table: ConceptTable, *, groups: list[str] | None = None, count: int = 10_000, seed: int = 0
) -> GroupNames:
    """Draw names that name one concept alone, which belongs to one semantic group alone.

    table (ConceptTable), count (int), seed (int): Whose names, how many at most, and of the draw.
    groups (list[str] | None): Semantic groups; None: the four with most such concepts.
    RAISES (BergamotError): T150 if fewer than two groups have names.
    """
    data = _of_one_group(table, groups)
    return _drawn(data, np.arange(len(data.names)), count, seed)


def choose_by_training(
    table: ConceptTable,
    training_set: TrainingSet,
    *,
    groups: list[str] | None = None,
    count: int = 10_000,
    seed: int = 0,
) -> dict[str, GroupNames]:
    """Draw names that a language model was trained on, "seen", and as many "unseen" ones.

    A seen name is in a pair of the training set; an unseen one is no name of it at all. What is a
    name of it and in no pair is neither: some objectives learn from it and others do not.

    table (ConceptTable), groups (list[str] | None), seed (int): As `choose` takes them.
    training_set (TrainingSet): What the language model was trained on.
    count (int): Names of either kind, at most.
    RAISES (BergamotError): T150 as `choose`; T159 if a kind has names of fewer than two groups.
    """
    data = _of_one_group(table, groups)
    known = np.array([normalize(name) for name in training_set.names.to_pylist()], dtype=object)
    paired = [training_set.pairs[:, 1:]]
    if training_set.graded_pairs is not None:
        paired.append(training_set.graded_pairs[:, 1::2])
    trained = set(known[np.unique(np.concatenate([part.ravel() for part in paired]))])
    others = set(known)
    rows = {
        "seen": np.flatnonzero([name in trained for name in data.names]),
        "unseen": np.flatnonzero([name not in others for name in data.names]),
    }
    for kind, found in rows.items():
        if len(np.unique(data.labels[found])) < 2:
            listed = ", ".join(data.groups)
            raise BergamotError(Errors.T159, path=training_set.path, kind=kind, groups=listed)
    count = min(count, *map(len, rows.values()))
    return {kind: _drawn(data, found, count, seed) for kind, found in rows.items()}


def folds(keys: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return the fold of every entry, int64 (n,); equal keys share one.

    keys (np.ndarray), seed (int): Of every entry its key; of the order that makes folds.
    """
    distinct, which = np.unique(keys, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(distinct))
    return (order % FOLDS)[which]


def classify(
    encoder: TextEncoder, data: GroupNames, *, epochs: int = 10, rate: float = 5e-2, seed: int = 0
) -> dict[str, Any]:
    """Return figures in percent over five folds, see `scores`: mean and spread.

    by_name: names are folded at random, as in the papers; a scored name's concept may have another
    one among those that the classifier is trained on. by_concept: concepts are folded, so that it
    has none.

    encoder (TextEncoder), data (GroupNames): What is measured, and by which names.
    epochs (int), rate (float), seed (int): Of the linear classifier and of the folds.
    """
    vectors = encoder.encode(data.names)
    result: dict[str, Any] = {
        "names": len(data.names),
        "groups": {g: int((data.labels == n).sum()) for n, g in enumerate(data.groups)},
    }
    for kind, keys in (("by_name", np.arange(len(data.names))), ("by_concept", data.concepts)):
        fold, runs = folds(keys, seed), []
        for number in range(FOLDS):
            test = fold == number
            if not test.any() or test.all():
                continue
            train = (vectors[~test], data.labels[~test])
            guessed = _fit(*train, vectors[test], len(data.groups), epochs, rate, seed)
            sides = (data.labels[test].tolist(), guessed.tolist())
            runs.append(scores(*([data.groups[label] for label in side] for side in sides)))
        result[kind] = {"folds": len(runs)}
        for figure in (*AVERAGES, "majority") if runs else ():
            values = [run[figure] for run in runs]
            result[kind] |= {
                figure: float(np.mean(values)),
                f"{figure}_spread": float(np.std(values)),
            }
    return result


def _of_one_group(table: ConceptTable, groups: list[str] | None) -> GroupNames:
    """Return what `choose` draws from, sorted."""
    found: dict[int, set[str]] = {}
    rows = zip(table.keys("types").tolist(), table.types["group"].to_pylist(), strict=True)
    for concept, group in rows:
        found.setdefault(concept, set()).add(group)
    alone = {concept: next(iter(names)) for concept, names in found.items() if len(names) == 1}
    if groups is None:
        sizes = dict.fromkeys(sorted(set(alone.values())), 0)
        for group in alone.values():
            sizes[group] += 1
        groups = sorted(sorted(sizes, key=lambda group: (-sizes[group], group))[:4])
    number = {group: label for label, group in enumerate(groups)}
    named: dict[str, set[int]] = {}
    aliases = zip(table.keys("aliases").tolist(), table.aliases["alias"].to_pylist(), strict=True)
    for concept, alias in aliases:
        named.setdefault(normalize(alias), set()).add(concept)
    single = ((name, min(ids)) for name, ids in named.items() if len(ids) == 1)
    entries = sorted(entry for entry in single if alone.get(entry[1]) in number)
    if len({alone[concept] for _, concept in entries}) < 2:
        raise BergamotError(Errors.T150, groups=", ".join(groups), path=table.path)
    labels = np.array([number[alone[concept]] for _, concept in entries], dtype=np.int64)
    concepts = np.array([concept for _, concept in entries], dtype=np.int64)
    return GroupNames([name for name, _ in entries], labels, concepts, groups)


def _drawn(data: GroupNames, rows: np.ndarray, count: int, seed: int) -> GroupNames:
    """Return some of the rows (int64 (n,)), in their order."""
    order = np.random.default_rng(seed).permutation(len(rows))[:count]
    kept = rows[np.sort(order)]
    names = [data.names[row] for row in kept.tolist()]
    return GroupNames(names, data.labels[kept], data.concepts[kept], data.groups)


def _fit(
    vectors: np.ndarray,
    labels: np.ndarray,
    scored: np.ndarray,
    classes: int,
    epochs: int,
    rate: float,
    seed: int,
) -> np.ndarray:
    """Train a linear layer with Adam and cross-entropy; return the classes of `scored`."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    inputs, targets = torch.from_numpy(vectors.copy()), torch.from_numpy(labels)
    weight = torch.zeros(classes, inputs.shape[1], requires_grad=True)
    bias = torch.zeros(classes, requires_grad=True)
    optimizer = torch.optim.Adam([weight, bias], lr=rate)
    for _ in range(epochs):
        for rows in torch.randperm(len(inputs), generator=generator).split(_BATCH):
            optimizer.zero_grad()
            logits = inputs[rows] @ weight.T + bias
            torch.nn.functional.cross_entropy(logits, targets[rows]).backward()
            optimizer.step()
    with torch.no_grad():
        return (torch.from_numpy(scored.copy()) @ weight.T + bias).argmax(1).numpy()
