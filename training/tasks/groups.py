"""Semantic groups from frozen embeddings by a linear classifier (CODER)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacy_bergamot.encoder.text_encoder import TextEncoder
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.text import normalize
from training.errors import BergamotError, Errors
from training.tasks.scores import scores

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

    groups (list[str] | None): Semantic groups; None: the four with most such concepts.
    RAISES (BergamotError): T150 if fewer than two groups have names.
    """
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
    order = np.random.default_rng(seed).permutation(len(entries))[:count]
    chosen = [entries[row] for row in sorted(order.tolist())]
    labels = np.array([number[alone[concept]] for _, concept in chosen], dtype=np.int64)
    concepts = np.array([concept for _, concept in chosen], dtype=np.int64)
    return GroupNames([name for name, _ in chosen], labels, concepts, groups)


def folds(keys: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return the fold of every entry, int64 (n,); equal keys share one."""
    distinct, which = np.unique(keys, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(distinct))
    return (order % FOLDS)[which]


def classify(
    encoder: TextEncoder, data: GroupNames, *, epochs: int = 10, rate: float = 5e-2, seed: int = 0
) -> dict[str, Any]:
    """Return accuracy and macro F1 in percent over five folds, on seen and unseen concepts.

    seen: names are folded at random; those are scored whose concept has another name in training.
    unseen: concepts are folded, so that no name of a scored concept was trained on.
    """
    vectors = encoder.encode(data.names)
    result: dict[str, Any] = {
        "names": len(data.names),
        "groups": {g: int((data.labels == n).sum()) for n, g in enumerate(data.groups)},
    }
    for kind, keys in (("seen", np.arange(len(data.names))), ("unseen", data.concepts)):
        fold, runs = folds(keys, seed), []
        for number in range(FOLDS):
            test = fold == number
            known = np.isin(data.concepts, data.concepts[~test])
            scored = test & known if kind == "seen" else test
            if not scored.any() or test.all():
                continue
            train = (vectors[~test], data.labels[~test])
            guessed = _fit(*train, vectors[scored], len(data.groups), epochs, rate, seed)
            sides = (data.labels[scored].tolist(), guessed.tolist())
            runs.append(scores(*([data.groups[label] for label in side] for side in sides)))
        result[kind] = {"folds": len(runs)}
        for figure in ("accuracy", "macro_f1", "majority") if runs else ():
            values = [run[figure] for run in runs]
            result[kind] |= {
                figure: float(np.mean(values)),
                f"{figure}_spread": float(np.std(values)),
            }
    return result


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
