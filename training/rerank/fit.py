"""A conditional logit with an L2 penalty: which of a mention's alternatives is right (McFadden).

Minimised is Σ -log Σ p(right ones) + strength/2 · |w|², over features of unit deviation, by L-BFGS.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from spacy_bergamot.linking.features import FEATURES, OF_NIL, Seen
from spacy_bergamot.linking.learned_mix import Weights


@dataclass(frozen=True)
class Choices:
    """Alternatives of all mentions, one after the other: its candidates, then NIL.

    values (float64 (n, f)): Features of candidates, then of NIL, which are 0 for the others.
    starts (int64 (m,)): Where the alternatives of a mention begin.
    right (bool (n,)): Which are right; one of a mention at least.
    """

    values: np.ndarray
    starts: np.ndarray
    right: np.ndarray

    @classmethod
    def of(cls, seen: Sequence[Seen], right: Sequence[np.ndarray]) -> "Choices":
        """Take mentions with candidates; NIL is right where no candidate is.

        right (list of bool (candidates,)): Of every mention.
        """
        sizes = np.array([len(one) + 1 for one in right])
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        width = seen[0].candidates.shape[1]
        values = np.zeros((int(sizes.sum()), width + len(OF_NIL)))
        is_right = np.zeros(len(values), dtype=bool)
        for start, one, known in zip(starts, seen, right, strict=True):
            end = start + len(known)
            values[start:end, :width] = one.candidates
            values[end, width:] = one.nil
            is_right[start:end] = known
            is_right[end] = not known.any()
        return cls(values, starts, is_right)

    def probabilities(self, weights: np.ndarray) -> np.ndarray:
        """Return the probability of every alternative (n,)."""
        scores = self.values @ weights
        scores = np.exp(scores - np.maximum.reduceat(scores, self.starts)[self.owner])
        return np.asarray(scores / np.add.reduceat(scores, self.starts)[self.owner])

    def loss(self, weights: np.ndarray) -> float:
        """Return the mean of -log p of what is right."""
        shares = np.add.reduceat(self.probabilities(weights) * self.right, self.starts)
        return float(-np.log(np.maximum(shares, 1e-300)).mean())

    @cached_property
    def owner(self) -> np.ndarray:
        """The mention that every alternative is of, int64 (n,)."""
        sizes = np.diff(np.append(self.starts, len(self.right)))
        return np.repeat(np.arange(len(self.starts)), sizes)


def fit(choices: Choices, strength: float) -> np.ndarray:
    """Return the weights (f,) of features as they are. strength (float): Of the penalty."""
    from scipy.optimize import minimize

    # NIL's features are 0 for candidates, and the other way round: no mean is taken off.
    scale = choices.values.std(0)
    scale[scale == 0] = 1
    scaled = replace(choices, values=choices.values / scale)

    def objective(weights: np.ndarray) -> tuple[float, np.ndarray]:
        p = scaled.probabilities(weights)
        shares = np.maximum(np.add.reduceat(p * choices.right, choices.starts), 1e-300)
        among_right = p * choices.right / shares[scaled.owner]
        loss = -np.log(shares).sum() + strength / 2 * weights @ weights
        return float(loss), scaled.values.T @ (p - among_right) + strength * weights

    found = minimize(objective, np.zeros(len(scale)), jac=True, method="L-BFGS-B")
    return np.asarray(found.x / scale)


def named(weights: np.ndarray, generators: Sequence[str]) -> Weights:
    """Return weights by the names of their features."""
    names = [*FEATURES, *generators, *OF_NIL]
    pairs = [(name, round(float(value), 8)) for name, value in zip(names, weights, strict=True)]
    own, end = len(FEATURES), len(FEATURES) + len(generators)
    return Weights(dict(pairs[:own]), dict(pairs[own:end]), dict(pairs[end:]))
